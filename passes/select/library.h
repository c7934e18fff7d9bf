// A library as select sees it: what it takes, and how its calls are executed. Each library is a file of its own here;
// the list of those to ask, in order of preference, comes with the options.
//
//   Library{.name = "onednn", ...}: %m: f64[4,4] = matmul(%x, %w)   -> refused: "used for f32 only, not f64"
//                                   %m: f32[128,128] = matmul(%x, %w) -> {.slices = 4}
//
// These functions look at types and attributes alone. What only the real library knows, whether it has such a primitive
// and how much scratch it takes, is asked through `AvailableLibrary::ask`.
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
  int64_t slices = 1;  // parts that are executed independently; a function of the shapes alone
  ir::ProductPrecision precision = ir::ProductPrecision::f32;
};

// Adds a vector along the last axis.
struct Bias {};
// An operator of one operand: whether the library applies it.
struct Activation {
  bool (*takes)(const ir::OpDef& op);
  bool behind_bias = false;  // only where the step before it, a bias, is there
};
using EpilogueStep = std::variant<Bias, Activation>;

struct Library {
  std::string name;  // the `impl` of the forms it gets
  // Whether it has anything to do with the node: else it is no candidate, and no remark names it.
  bool (*concerns)(const ir::Node& n) = nullptr;
  // Why it does not take the node, or "" where it may.
  std::string (*refusal)(const ir::Graph& g, const ir::Node& n, const ir::Target& target);
  // What it can compute of the node's operands on their way in, or nullptr: a node that its call takes with it.
  bool (*prologue)(const ir::Graph& g, const ir::Node& operand) = nullptr;
  // What it can apply to the node's result on its way out, in this order, each or none. Where the real library has no
  // primitive with all of it, the last ones stay generated.
  std::vector<EpilogueStep> (*epilogue)(const ir::Node& n);
  // How the call is executed; `kernel` holds the node and its epilogue.
  LibraryPlan (*plan)(const ir::Graph& kernel, const ir::Target& target);
  // How long it takes, where the library has figures of its own, as of a table; else it is
  // estimated (ir/kernel/cost.h).
  Figure (*figure)(const ir::Graph& kernel, const ir::Target& target) = nullptr;
  // Whoever lists it has asked for it: what it takes it gets, whatever the figures of others.
  bool asked_for = false;
};

// A kernel's contraction or composite: what the call is about.
const ir::Node& head_of(const ir::Graph& kernel);

}  // namespace heddle::passes
