// Which parameters heddle quantize takes for matrices, filters and tables, and where their outputs lie.
#include "frontend/instantiate/product_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/built_model.h"

namespace heddle::driver {
namespace {

// "fc.weight matrix 0", in the order of their names.
std::vector<std::string> weights_of(const std::string& inputs, const std::string& nodes, const std::string& rest = "") {
  frontend::Sources sources;
  const frontend::Model model =
      frontend::read_model(sources, sources.add("m.json", frontend::model(inputs, nodes, rest)), {});
  frontend::ModelInstances instances(model);
  std::vector<std::string> out;
  for (const frontend::ProductWeight& w : product_weights(instances, 2))
    out.push_back(fmt::format("{} {} {}", w.name,
                              w.use == frontend::WeightUse::matrix   ? "matrix"
                              : w.use == frontend::WeightUse::filter ? "filter"
                                                                     : "table",
                              w.axis));
  std::ranges::sort(out);
  return out;
}

using Found = std::vector<std::string>;

TEST(ProductWeights, OfDenseLayersAndNotOfNorms) {
  EXPECT_EQ(weights_of(R"("x": {"shape": ["N", 4, 6]})",
                       R"({"name": "fc", "op": "dense", "in": "x", "units": 6},
                          {"name": "norm", "op": "layer_norm"},
                          {"name": "out", "op": "dense", "units": 3})"),
            (Found{"fc.weight matrix 0", "out.weight matrix 0"}));
}

TEST(ProductWeights, OfConvolutionsInBothLayouts) {
  for (const std::string layout : {R"(, "layout": "NHWC")", R"(, "layout": "NCHW")"}) {
    const std::string shape = layout.find("NHWC") != std::string::npos ? R"(["N", 8, 8, 4])" : R"(["N", 4, 8, 8])";
    EXPECT_EQ(weights_of(R"("x": {"shape": )" + shape + "}",
                         R"({"name": "down", "op": "conv2d", "in": "x", "filters": 6, "kernel": 3},
                            {"name": "up", "op": "conv2d_transpose", "filters": 5, "kernel": 2})",
                         layout),
              (Found{"down.weight filter 0", "up.weight filter 1"}))
        << layout;
  }
}

TEST(ProductWeights, OfTablesAlsoWhereTheyAreTied) {
  EXPECT_EQ(weights_of(R"("ids": {"shape": ["N", 3], "dtype": "i32"})",
                       R"({"name": "e", "op": "embedding", "in": "ids", "vocab": 9, "units": 5},
                          {"name": "h", "op": "dense", "units": 5},
                          {"name": "logits", "op": "matmul", "in": ["h", "e.weight"], "transpose_b": true})"),
            (Found{"e.weight table 0", "h.weight matrix 0"}));
}

// In the body of a scan, where each turn reads them.
TEST(ProductWeights, OfRecurrentLayers) {
  EXPECT_EQ(weights_of(R"("x": {"shape": ["N", 7, 4]})",
                       R"({"name": "rnn", "op": "gru", "in": "x", "units": 3, "out": ["ys", "h"]})"),
            (Found{"rnn.weight_hh_l0 matrix 0", "rnn.weight_ih_l0 matrix 0"}));
}

}  // namespace
}  // namespace heddle::driver
