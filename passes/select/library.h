// The rules of a library for select: which nodes it executes, and how. Each library has a file in this folder. The
// options list the available libraries in order of preference.
//
//   Library{.name = "onednn", ...}: %m: f64[4,4] = matmul(%x, %w)   -> refused: "used for f32 only, not f64"
//                                   %m: f32[128,128] = matmul(%x, %w) -> {.slices = 4}
//
// These functions look at types and attributes alone. `AvailableLibrary::ask` asks the installed library whether it has
// the primitive and how much scratch it needs.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel/target.h"
#include "passes/choose.h"

namespace heddle::passes {

struct LibraryPlan {
  int64_t slices = 1;  // parts that run independently; depends on the shapes alone
  ir::ProductPrecision precision = ir::ProductPrecision::f32;
};

// Epilogue steps that multiply by a vector along the last axis, or add one.
struct Scale {};
struct Bias {};
// An epilogue step that applies an operator with one operand.
struct Activation {
  bool (*takes)(const ir::OpDef& op);  // whether the library can apply the operator
  bool behind_bias = false;            // only directly behind a bias
};
using EpilogueStep = std::variant<Scale, Bias, Activation>;

struct Library {
  std::string name;  // also `impl` in the schedules of its calls
  // Whether the library can be a candidate for the node. Otherwise no remark names it. nullptr: always.
  bool (*concerns)(const ir::Node& n) = nullptr;
  // Why the library cannot execute the node, or "".
  std::string (*refusal)(const ir::Graph& g, const ir::Node& n, const ir::Target& target);
  // Whether a call can include a node that computes an operand, or nullptr: no call can.
  bool (*prologue)(const ir::Graph& g, const ir::Node& operand) = nullptr;
  // The steps that a call can apply to its result, in this order. Each may be missing. If the installed library has no
  // primitive with all steps found, the last ones become generated text.
  std::vector<EpilogueStep> (*epilogue)(const ir::Graph& g, const ir::Node& n);
  // How to execute the call. `kernel` holds the node and its epilogue.
  LibraryPlan (*plan)(const ir::Graph& kernel, const ir::Target& target);
  // The time of the call, if the library has figures, such as a table. nullptr: it is estimated (ir/kernel/cost.h).
  Figure (*figure)(const ir::Graph& kernel, const ir::Target& target) = nullptr;
  // Whether the library gets every node that it can execute, without a comparison of times.
  bool asked_for = false;
};

// The contraction or composite of a kernel.
const ir::Node& head_of(const ir::Graph& kernel);

}  // namespace heddle::passes
