// The real cuDNN, where there is one: it plans without a device, and takes every graph of descriptors that we make.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/kernel/target.h"
#include "runtime/cuda/cudnn_plan.h"
#include "tools/driver/cudnn_device.h"

namespace heddle::runtime {
namespace {

using Sizes = std::vector<int64_t>;

struct Geometry {
  const char* name;
  Sizes image, filter;  // NHWC, OHWI
  Sizes pads = {0, 0, 0, 0}, strides = {1, 1}, dilations = {1, 1};
};
const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> kAll = {
      {"mnist_cnn's first", {128, 28, 28, 1}, {32, 3, 3, 1}},
      {"mnist_cnn's second", {128, 13, 13, 32}, {64, 3, 3, 32}},
      {"resnet20's stem", {128, 32, 32, 3}, {16, 3, 3, 3}, {1, 1, 1, 1}},
      {"resnet20's blocks", {128, 32, 32, 16}, {16, 3, 3, 16}, {1, 1, 1, 1}},
      {"strided", {128, 32, 32, 16}, {32, 3, 3, 16}, {1, 1, 1, 1}, {2, 2}},
      {"a projection", {128, 32, 32, 16}, {32, 1, 1, 16}, {0, 0, 0, 0}, {2, 2}},
      {"dilated", {8, 16, 16, 8}, {8, 3, 3, 8}, {2, 2, 2, 2}, {1, 1}, {2, 2}},
      {"odd channels", {3, 7, 6, 5}, {7, 3, 3, 5}, {1, 1, 1, 1}},
      {"one row", {4, 1, 64, 8}, {16, 1, 3, 8}, {0, 1, 0, 1}},
      {"one row before alone", {4, 1, 64, 8}, {16, 1, 3, 8}, {0, 2, 0, 0}},
      {"two groups", {4, 8, 8, 6}, {4, 2, 2, 3}},
      {"depthwise", {4, 8, 8, 8}, {8, 3, 3, 1}, {1, 1, 1, 1}},
      {"padded on one side", {4, 8, 8, 8}, {8, 3, 3, 8}, {0, 0, 1, 1}, {2, 2}},
      {"resnet50's", {32, 56, 56, 64}, {128, 3, 3, 64}, {1, 1, 1, 1}},
      {"volumes", {2, 8, 8, 8, 8}, {16, 3, 3, 3, 8}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
  return kAll;
}

codegen::Library call_of(const Geometry& g, int operation, const std::string& dtype, const std::string& precision) {
  using codegen::ConvolutionRoles;
  const size_t axes = g.strides.size();
  Sizes result = {g.image[0]};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = g.dilations[i] * (g.filter[i + 1] - 1) + 1;
    result.push_back((g.image[i + 1] + g.pads[i] + g.pads[i + axes] - reach) / g.strides[i] + 1);
  }
  result.push_back(g.filter[0]);
  const std::vector<codegen::TensorDesc> arrays = {{dtype, g.image}, {dtype, g.filter}, {dtype, result}};
  static const std::vector<ConvolutionRoles> kRoles = {
      {.image = 0, .filter = 1}, {.filter = 1, .result = 0}, {.image = 0, .result = 1}};
  static const std::vector<std::array<size_t, 3>> kOrder = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};  // operands, result
  const auto& order = kOrder[static_cast<size_t>(operation)];
  codegen::Library call;
  call.impl = "cudnn", call.op = "convolution", call.title = g.name, call.precision = precision;
  call.convolution = kRoles[static_cast<size_t>(operation)];
  call.operands = {arrays[order[0]], arrays[order[1]]}, call.results = {arrays[order[2]]};
  call.integers = {{"pads", g.pads}, {"strides", g.strides}, {"dilations", g.dilations}};
  return call;
}

TEST(CudnnPlanning, TheRealLibraryTakesEachGraph) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  for (const ir::Target& target : {ir::a100(), ir::h200()})
    for (const auto& [dtype, precision] :
         {std::pair{"f32", "f32"}, std::pair{"f32", "tf32"}, std::pair{"bf16", "f32"}, std::pair{"f16", "f32"}})
      for (const Geometry& g : geometries())
        for (int operation = 0; operation < 3; ++operation) {
          const CudnnNeeds needs =
              cudnn_needs(*api, call_of(g, operation, dtype, precision), driver::cudnn_device(target));
          EXPECT_EQ(needs.refusal, "") << fmt::format("{}, {} by {}, {} for {}", g.name, dtype, precision, operation,
                                                      target.name);
          EXPECT_GE(needs.workspace, 0);
          EXPECT_EQ(needs.workspace % 256, 0);
        }
}

// f32 stays f32 where the model does not say otherwise: another engine than with TF32 where the latter has tensor cores.
TEST(CudnnPlanning, TakesTensorCoresForF32OnlyWhereAllowed) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  const auto engine = [&](const char* precision) {
    const codegen::Library call = call_of(geometries()[13], 0, "f32", precision);
    const CudnnPlanned planned = plan_cudnn(
        *api, describe_cudnn(call), {.device = driver::cudnn_device(ir::h200()), .workspace = int64_t{1} << 30});
    return planned.plan ? planned.plan->engine : -1;
  };
  EXPECT_GE(engine("f32"), 0);
  EXPECT_GE(engine("tf32"), 0);
  EXPECT_NE(engine("f32"), engine("tf32"));
}

// What is wrong is said in the library's words, not thrown.
TEST(CudnnPlanning, ARefusalIsAReason) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  CudnnConvolution c = describe_cudnn(call_of(geometries()[3], 0, "bf16", "f32"));
  c.y.dims[2] += 7;
  const CudnnPlanned planned = plan_cudnn(*api, c, {.device = driver::cudnn_device(ir::h200()), .workspace = 1 << 20});
  EXPECT_FALSE(planned.plan);
  EXPECT_NE(planned.why.find("cudnnBackendFinalize: CUDNN_STATUS_"), std::string::npos) << planned.why;
}

}  // namespace
}  // namespace heddle::runtime
