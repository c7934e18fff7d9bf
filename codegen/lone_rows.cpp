#include "codegen/lone_rows.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace heddle::codegen {
namespace {

// The number of slices of the right side: along its matrices if there are several, else along its columns. A product
// with a transposed left side has no lone rows; it keeps its slices, for which its workspace was planned. So does one
// with an int8 weight.
int64_t slices(const Library& call) {
  if (call.operands[1].dtype != "f32") return call.batch_split;
  if (const auto turned = call.integers.find("transpose_a"); turned != call.integers.end() && turned->second[0] != 0)
    return call.batch_split;
  constexpr int64_t kMost = 64, kFloats = int64_t{1} << 16;  // floats of a slice: about 20 us at 10 GB/s
  int64_t floats = 1;
  for (const int64_t size : call.operands[1].dims) floats *= size;
  return std::max(call.batch_split, std::clamp<int64_t>(floats / kFloats, 1, kMost));
}

void ask(std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (auto* loop = std::get_if<Loop>(&step.what)) ask(loop->steps);
    auto* call = std::get_if<Library>(&step.what);
    if (call == nullptr || !call->matrix_product) continue;
    call->integers["lone_rows"] = {1};
    call->batch_split = slices(*call);
  }
}

}  // namespace

void ask_for_lone_rows(Program& program) {
  for (Entry& entry : program.entries) ask(entry.steps);
}

}  // namespace heddle::codegen
