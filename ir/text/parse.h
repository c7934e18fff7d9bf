// parse: reads a module from .hir text. Types in the text are compared with the inferred types; a mismatch is an error
// at line:col.
//
//   module  := group* (kernel | graph)*
//   group   := 'group' '@' name '{' (role '%' name ':' type 'at' int)* '}'
//   graph   := 'graph' '@' name '(' params ')' attrs? '{' node* update* ret '}'
//   node    := results '=' (op | 'call' '@' kernel) '(' operands ')' attrs?
//   results := '%' name ':' type place? (',' ...)*
#pragma once
#include "ir/graph.h"

namespace heddle::ir {

// Throws UserError with every error found, at most 20. `file` must outlive the module's locations.
Module parse(const SourceFile& file);

}  // namespace heddle::ir
