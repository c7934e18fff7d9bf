// Lowers a planned module (after `pack`) to a Program: entries, steps with addresses, kernel text.
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/target.h"

namespace heddle::codegen {

Program lower(const ir::Module& m, const std::string& name, const ir::Target& target);

}  // namespace heddle::codegen
