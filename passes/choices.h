// choices: what measurements say of the parts of a graph that several can execute.
//
//   %m = matmul(%x, %w), then + bias   ->   its body: "f32[8,3], f32[4,3], f32[4] | matmul 0 1 transpose_b=true f32[8,4] | .."
//   choices[that body] = {.chosen = "generated text", .seconds = {{"generated text", 4e-7}, {"onednn", 9e-7}}}
//
// A body has operators, types and attributes, and no names: equal parts of all models are one. `select` and `decompose`
// follow a choice where they meet its body; what has none is chosen by predicted time.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

struct MeasuredChoice {
  std::string chosen;                     // a candidate's name
  std::map<std::string, double> seconds;  // of each candidate that was measured
  std::string origin;                     // "table.json:12:5: ", of a table; empty where it was made here
};
using MeasuredChoices = std::map<std::string, MeasuredChoice>;  // by body

std::string choice_body(const ir::Graph& kernel);

// What was decided, for who measures: all candidates that could have been taken.
struct Decision {
  std::string body;
  ir::Graph kernel;  // what the widest call would hold, or what is executed under one of the schedules
  std::vector<std::string> candidates;
  std::string taken;
  std::vector<ir::KernelSchedule> schedules = {};  // of a fused kernel: one for each candidate
  int64_t uses = 1;
};
using Decided = std::function<void(const Decision&)>;

// The names that candidates may have: libraries, generated text, forms of composites, and their parts. Schedules of
// products have names that begin with kTiles, and say the rest.
std::vector<std::string> candidate_names();
inline const std::string kTiles = "tiles ", kLoops = "loops";

}  // namespace heddle::passes
