// Depth adds launches, not kernels: equal layers run the same text, though each draws random numbers of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/host_run.h"
#include "tests/unit/built_model.h"

namespace heddle {
namespace {

// Residual layers with dropout.
codegen::Program residual(int layers) {
  const std::string text = fmt::format(R"({{
    "format": "heddle-model/1", "name": "residual",
    "inputs": {{"x": {{"shape": ["N", 24], "dtype": "f32"}}, "label": {{"shape": ["N"], "dtype": "i32"}}}},
    "blocks": {{"layer": {{"inputs": ["h"], "nodes": [
      {{"name": "ln", "op": "layer_norm", "in": "h"}},
      {{"name": "fc", "op": "dense", "units": 24, "activation": "gelu"}},
      {{"name": "drop", "op": "dropout", "rate": 0.1}},
      {{"name": "out", "op": "add", "in": ["h", "drop"]}}], "output": "out"}}}},
    "nodes": [{{"name": "body", "op": "block:layer", "in": "x", "repeat": {}}},
              {{"name": "logits", "op": "dense", "units": 10}}],
    "train": {{"batch": {{"N": 8}}, "steps": 1, "loss": {{"op": "cross_entropy", "in": ["logits", "label"]}},
              "optimizer": {{"op": "adam", "lr": 0.001}}}}}})",
                                       layers);
  return testing::host_program(frontend::build(text)->module, "residual");
}

// Kernels that the entry launches, and how often in all.
struct Use {
  std::set<int64_t> kernels;
  size_t launches = 0;
};
Use use_of(const codegen::Program& p, const std::string& entry) {
  Use use;
  for (const codegen::Step& step : p.find_entry(ir::entry_kind(entry))->steps)
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) {
      use.kernels.insert(launch->kernel);
      ++use.launches;
    }
  return use;
}

TEST(Share, MakesAsManyKernelsOfManyLayersAsOfFew) {
  const codegen::Program few = residual(3), more = residual(12), many = residual(40);
  // A kernel draws the few tensors of three layers together; of more each shape has its own.
  const Use drawn = use_of(more, "init"), drawn_many = use_of(many, "init");
  EXPECT_EQ(drawn.kernels.size(), drawn_many.kernels.size());
  EXPECT_LT(drawn.launches, drawn_many.launches);
  for (const char* entry : {"train", "eval"}) {
    const Use a = use_of(few, entry), b = use_of(more, entry), c = use_of(many, entry);
    EXPECT_EQ(a.kernels.size(), b.kernels.size()) << entry;
    EXPECT_EQ(a.kernels.size(), c.kernels.size()) << entry;
    EXPECT_LT(a.launches, b.launches);
    EXPECT_LT(b.launches, c.launches);
  }
}

}  // namespace
}  // namespace heddle
