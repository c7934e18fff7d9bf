// lower: turns a planned module (after `assign_buffers`) into a Program: entries, steps with addresses, kernel text.
#pragma once
#include <map>
#include <string>

#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

// When an entry that reads its own batches becomes one persistent kernel on a GPU: if it is predicted to be faster, if
// it is possible (tests), or never.
enum class OneKernel { where_faster, where_possible, nowhere };

// Measured choices by the name of the entry; they override `one_kernel`.
using OneKernels = std::map<std::string, OneKernel>;
Program lower(const ir::Module& m, const std::string& name, const ir::Target& target,
              OneKernel one_kernel = OneKernel::where_faster, const OneKernels& of_entries = {});

// The library call of a kernel that a library executes, without addresses. Libraries are asked about it before memory
// is planned (AvailableLibrary::ask); `lower` adds the addresses.
Library describe_library(const ir::Graph& kernel);

}  // namespace heddle::codegen
