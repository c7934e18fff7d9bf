// The real cuDNN, where there is one: it plans without a device, and takes every graph of descriptors that we make.
#include <fmt/format.h>
#include <gtest/gtest.h>
#if HEDDLE_SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

#include "ir/kernel/target.h"
#include "runtime/cuda/cudnn_plan.h"
#include "tests/support/cudnn_call.h"
#include "tools/driver/cudnn_device.h"

namespace heddle::runtime {
namespace {

using testing::call_of;
using testing::Geometry;

// cuDNN, and the cuBLASLt that it opens, keep memory of their own to the end of the process. LeakSanitizer does not count
// what is allocated here: tests/cuda looks for our own leaks, with a stand-in for the library.
class CudnnPlanning : public ::testing::Test {
#if HEDDLE_SANITIZED
  __lsan::ScopedDisabler uncounted_;
#endif
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

struct Form {
  ir::Target target;
  const char *dtype, *precision;
};
// Of the cards, and of the types that the library computes in.
std::vector<Form> forms() {
  std::vector<Form> all;
  for (const ir::Target& target : {ir::a100(), ir::h200()})
    for (const auto& [dtype, precision] :
         {std::pair{"f32", "f32"}, std::pair{"f32", "tf32"}, std::pair{"bf16", "f32"}, std::pair{"f16", "f32"}})
      all.push_back({target, dtype, precision});
  return all;
}

TEST_F(CudnnPlanning, TheRealLibraryTakesEachGraph) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  for (const Form& f : forms())
    for (const Geometry& g : geometries())
      for (const auto operation :
           {CudnnOperation::forward, CudnnOperation::data_gradient, CudnnOperation::filter_gradient}) {
        const CudnnNeeds needs =
            cudnn_needs(*api, call_of(g, operation, f.dtype, f.precision), driver::cudnn_device(f.target));
        EXPECT_EQ(needs.refusal, "") << fmt::format("{}, {} by {}, {} for {}", g.name, f.dtype, f.precision,
                                                    static_cast<int>(operation), f.target.name);
        EXPECT_GE(needs.workspace, 0);
        EXPECT_EQ(needs.workspace % 256, 0);
      }
}

// A bias and relu in the same graph, whatever the shape.
TEST_F(CudnnPlanning, TheRealLibraryTakesEachEpilogue) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  for (const Form& f : forms())
    for (const Geometry& g : geometries())
      for (const bool relu : {false, true}) {
        if (!relu && f.dtype != std::string("f32")) continue;  // the others' are the same engines
        const CudnnNeeds needs =
            cudnn_needs(*api, testing::with_epilogue(g, f.dtype, relu, f.precision), driver::cudnn_device(f.target));
        EXPECT_EQ(needs.refusal, "") << fmt::format("{}, {} by {}{} for {}", g.name, f.dtype, f.precision,
                                                    relu ? ", relu" : "", f.target.name);
        EXPECT_GE(needs.workspace, 0);
      }
}

// f32 stays f32 where the model does not say otherwise: another engine than with TF32 where the latter has tensor cores.
TEST_F(CudnnPlanning, TakesTensorCoresForF32OnlyWhereAllowed) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  const auto engine = [&](const char* precision) {
    const codegen::Library call = call_of(geometries()[13], CudnnOperation::forward, "f32", precision);
    const CudnnPlanned planned = plan_cudnn(
        *api, describe_cudnn(call), {.device = driver::cudnn_device(ir::h200()), .workspace = int64_t{1} << 30});
    return planned.plan ? planned.plan->engine : -1;
  };
  EXPECT_GE(engine("f32"), 0);
  EXPECT_GE(engine("tf32"), 0);
  EXPECT_NE(engine("f32"), engine("tf32"));
}

// What is wrong is said in the library's words, not thrown.
TEST_F(CudnnPlanning, ARefusalIsAReason) {
  const std::unique_ptr<CudnnApi> api = open_cudnn();
  if (api == nullptr) GTEST_SKIP() << "no cuDNN";
  CudnnConvolution c = describe_cudnn(call_of(geometries()[3], CudnnOperation::forward, "bf16", "f32"));
  c.y.dims[2] += 7;
  const CudnnPlanned planned = plan_cudnn(*api, c, {.device = driver::cudnn_device(ir::h200()), .workspace = 1 << 20});
  EXPECT_FALSE(planned.plan);
  EXPECT_NE(planned.why.find("cudnnBackendFinalize: CUDNN_STATUS_"), std::string::npos) << planned.why;
}

}  // namespace
}  // namespace heddle::runtime
