// choices: measured choices between candidates, such as a library and generated text, for the parts of a graph.
//
//   %m = matmul(%x, %w), then + bias   ->   its body: "f32[8,3], f32[4,3], f32[4] | matmul 0 1 transpose_b=true f32[8,4] | .."
//   choices[that body] = {.chosen = "generated text", .seconds = {{"generated text", 4e-7}, {"onednn", 9e-7}}}
//
// A body lists operators, types and attributes, but no names. So equal parts of different models have the same body.
// `select`, `decompose` and `follow_measured_schedules` follow the choice for a body. Without one, they compare
// predicted times.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

struct MeasuredChoice {
  std::string chosen;                     // a candidate's name
  std::map<std::string, double> seconds;  // measured time of each candidate
  std::string origin;                     // "table.json:12:5: ", for error messages; empty if measured in this run
};
using MeasuredChoices = std::map<std::string, MeasuredChoice>;  // by body

// The body of a kernel, as text.
std::string choice_body(const ir::Graph& kernel);

// A decision that a pass has made, with all candidates that it could have taken. The code that measures receives it.
struct Decision {
  std::string body;
  ir::Graph kernel;  // the widest call that a candidate offers, or the node alone; or a fused kernel
  std::vector<std::string> candidates;
  std::string taken;
  std::vector<ir::KernelSchedule> schedules = {};  // for a fused kernel: one per candidate
  int64_t uses = 1;                                // calls of the fused kernel in the module
};
using Decided = std::function<void(const Decision&)>;

// All names of candidates: libraries, generated text, the decomposition and other forms of composites, and loops. Tiled
// schedules of products have further names: kTiles, followed by their figures.
std::vector<std::string> candidate_names();
inline const std::string kTiles = "tiles ", kLoops = "loops";

}  // namespace heddle::passes
