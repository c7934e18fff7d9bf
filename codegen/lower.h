// Lowers a planned module (after `pack`) to a Program: entries, steps with addresses, kernel text.
#pragma once
#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

Program lower(const ir::Module& m, const std::string& name, const ir::Target& target);

// The library call that a kernel of form contract or opaque stands for, without addresses: what a library is asked about
// before memory is planned (AvailableLibrary::ask), and what lower fills in.
Library describe_library(const ir::Graph& kernel);

}  // namespace heddle::codegen
