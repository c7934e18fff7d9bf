// Lowers a planned module (after `assign_buffers`) to a Program: entries, steps with addresses, kernel text.
#pragma once
#include <map>
#include <string>

#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

// Whether a GPU executes an entry that feeds itself as one kernel: where that is predicted to take
// less time, wherever it is possible (tests), or nowhere.
enum class OneKernel { where_faster, where_possible, nowhere };

// `of_entries`: by name, where it was measured.
using OneKernels = std::map<std::string, OneKernel>;
Program lower(const ir::Module& m, const std::string& name, const ir::Target& target,
              OneKernel one_kernel = OneKernel::where_faster, const OneKernels& of_entries = {});

// The library call that a kernel of schedule contract or opaque stands for, without addresses: what a
// library is asked about before memory is planned (AvailableLibrary::ask), and what lower fills in.
Library describe_library(const ir::Graph& kernel);

}  // namespace heddle::codegen
