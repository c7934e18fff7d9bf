// cuDNN's calls on the fake library: it refuses what the real one, or a GPU, would punish, and computes what each form
// of a convolution means.
#include "runtime/cuda/cudnn.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/diagnostic.h"
#include "ir/evaluate/tensor.h"
#include "ir/op_def.h"
#include "tests/cuda/fake_gpu.h"
#include "tests/support/cudnn_call.h"
#include "tests/support/source_dir.h"
#include "tools/driver/compile.h"
#include "tools/driver/cudnn_device.h"
#include "tools/driver/entries.h"
#include "tools/driver/statistics.h"

namespace heddle::runtime {
namespace {

using testing::call_of;
using testing::FakeGpu;
using testing::Geometry;
using testing::Numbers;

class CudnnCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(find_driver(), nullptr) << "LD_LIBRARY_PATH leads to the fake driver";
    ASSERT_NE(dlsym(testing::fake_driver(), "fake_cuda_report"), nullptr)
        << "a real driver: these tests are for the fake";
    std::string reason;
    ASSERT_NE(find_cudnn(&reason), nullptr) << "HEDDLE_CUDNN leads to the fake library: " << reason;
    testing::forget_report();
  }
  static bool has_violations() { return testing::fake_report().find("violation: ") != std::string::npos; }
};

void* pointer(cuda::Address at) { return std::bit_cast<void*>(static_cast<uintptr_t>(at)); }

// --- what is refused ---

using Sizes = std::vector<int64_t>;

// Of a tensor whose channels lie last.
Sizes strides_of(const Sizes& dims) { return {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]}; }

struct TensorArguments {
  Sizes dims;
  Sizes strides = strides_of(dims);
  int64_t id = 0, alignment = 16;
  int type = cudnn::kF32;
  bool finished = true, has_address = true;
};
// All arguments of a convolution of 2 images, in a form that is right.
struct Arguments {
  TensorArguments x{.dims = {2, 16, 8, 8}, .id = 1}, w{.dims = {8, 16, 3, 3}, .id = 2},
      y{.dims = {2, 8, 8, 8}, .id = 3};
  int compute = cudnn::kF32, mode = cudnn::kCrossCorrelation, heuristic = cudnn::kModeA;
  int64_t axes = 2;
  Sizes low = {1, 1}, high = {1, 1}, strides = {1, 1}, dilations = {1, 1};
  cudnn::Element of_dilations = cudnn::kInt64;
  float alpha = 1, beta = 0;
  bool has_handle = true, has_description = false, plans_while_recorded = false, changes_a_finished_one = false;
  bool destroys_too_early = false, has_handle_at_the_call = true, has_stream = true;
  int64_t engine = 66;
  Sizes ids = {1, 2, 3};
  // Behind it, in the forms of with_epilogue().
  std::optional<TensorArguments> bias = {}, sums = {}, added = {};
  int add = cudnn::kAdd, nan = cudnn::kPropagateNan, of_pointwise = cudnn::kF32;
  bool relu_has_bias = false, relu_twice = false;
  std::vector<cuda::Address> arrays;
  cuda::Address workspace = 0;
};

constexpr size_t kScratch = 4096, kX = 2 * 16 * 64 * 4, kW = 8 * 16 * 9 * 4, kY = 2 * 8 * 64 * 4;

Arguments right(FakeGpu& gpu) {
  Arguments a;
  a.arrays = {gpu.allocate(kX), gpu.allocate(kW), gpu.allocate(kY)};
  a.workspace = gpu.allocate(kScratch);
  return a;
}

// The same with a bias and relu in one graph.
Arguments with_epilogue(FakeGpu& gpu) {
  Arguments a = right(gpu);
  a.bias = TensorArguments{.dims = {1, 8, 1, 1}, .id = 4};
  a.sums = TensorArguments{.dims = a.y.dims, .id = 5, .has_address = false};
  a.added = TensorArguments{.dims = a.y.dims, .id = 6, .has_address = false};
  a.ids.push_back(4), a.arrays.push_back(gpu.allocate(32));
  return a;
}

// Calls one after the other, until one fails.
class Chain {
 public:
  explicit Chain(const CudnnApi& api) : api_(api) {}
  ~Chain() {
    for (auto object = objects_.rbegin(); object != objects_.rend(); ++object) api_.ObjectDestroy(*object);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void expect(cudnn::Status status) { first_ = first_ == cudnn::kSuccess ? status : first_; }
  bool ok() const { return first_ == cudnn::kSuccess; }
  cudnn::Status status() const { return first_; }
  cudnn::Object make(cudnn::Kind kind) {
    cudnn::Object object = nullptr;
    expect(api_.ObjectCreate(kind, &object));
    return objects_.emplace_back(object);
  }
  void destroy(cudnn::Object object) {
    api_.ObjectDestroy(object);
    std::erase(objects_, object);
  }
  void set(cudnn::Object to, cudnn::Attribute name, cudnn::Element element, int64_t count, const void* from) {
    if (ok()) expect(api_.Set(to, name, element, count, from));
  }
  void set(cudnn::Object to, cudnn::Attribute name, const Sizes& list) {
    set(to, name, cudnn::kInt64, std::ssize(list), list.data());
  }
  void set(cudnn::Object to, cudnn::Attribute name, cudnn::Element element, const auto& one) {
    set(to, name, element, 1, &one);
  }
  void finish(cudnn::Object object) {
    if (ok()) expect(api_.Finalize(object));
  }

 private:
  const CudnnApi& api_;
  std::vector<cudnn::Object> objects_;
  cudnn::Status first_ = cudnn::kSuccess;
};

cudnn::Object tensor(Chain& c, const TensorArguments& t) {
  const cudnn::Object object = c.make(cudnn::kTensor);
  c.set(object, cudnn::kTensorType, cudnn::kDataType, t.type);
  c.set(object, cudnn::kTensorDims, t.dims), c.set(object, cudnn::kTensorStrides, t.strides);
  c.set(object, cudnn::kTensorId, cudnn::kInt64, t.id);
  c.set(object, cudnn::kTensorAlignment, cudnn::kInt64, t.alignment);
  const bool is_virtual = !t.has_address;
  if (is_virtual) c.set(object, cudnn::kTensorVirtual, cudnn::kBoolean, is_virtual);
  if (t.finished) c.finish(object);
  return object;
}

cudnn::Object operation(Chain& c, const Arguments& a, cudnn::Object y) {
  using namespace cudnn;
  const Object x = tensor(c, a.x), w = tensor(c, a.w);
  const Object geometry = c.make(kConvolution);
  c.set(geometry, kConvolutionComputeType, kDataType, a.compute);
  c.set(geometry, kConvolutionKind, kConvolutionMode, a.mode);
  c.set(geometry, kConvolutionSpatialDims, kInt64, a.axes);
  c.set(geometry, kConvolutionPrePaddings, a.low), c.set(geometry, kConvolutionPostPaddings, a.high);
  c.set(geometry, kConvolutionStrides, a.strides);
  c.set(geometry, kConvolutionDilations, a.of_dilations, std::ssize(a.dilations), a.dilations.data());
  c.finish(geometry);
  if (a.changes_a_finished_one) c.set(geometry, kConvolutionSpatialDims, kInt64, a.axes);
  const Object object = c.make(kForward);
  c.set(object, kForwardConvolution, kDescriptor, geometry);
  c.set(object, kForwardX, kDescriptor, x), c.set(object, kForwardW, kDescriptor, w);
  c.set(object, kForwardY, kDescriptor, y);
  c.set(object, kForwardAlpha, kFloat, a.alpha), c.set(object, kForwardBeta, kFloat, a.beta);
  if (a.destroys_too_early) c.destroy(x);
  c.finish(object);
  return object;
}

cudnn::Object pointwise(Chain& c, const Arguments& a, int mode, cudnn::Object x, cudnn::Object b, cudnn::Object y) {
  using namespace cudnn;
  const Object how = c.make(kPointwise);
  c.set(how, kPointwiseMode, kPointwiseModeType, mode);
  c.set(how, kPointwisePrecision, kDataType, a.of_pointwise);
  if (mode == kRelu) c.set(how, kPointwiseNan, kNanPropagation, a.nan);
  c.finish(how);
  const Object object = c.make(kPointwiseOperation);
  c.set(object, kPointwiseHow, kDescriptor, how);
  c.set(object, kPointwiseX, kDescriptor, x), c.set(object, kPointwiseY, kDescriptor, y);
  if (b != nullptr) c.set(object, kPointwiseB, kDescriptor, b);
  c.finish(object);
  return object;
}

std::vector<cudnn::Object> operations(Chain& c, const Arguments& a) {
  using namespace cudnn;
  const Object y = tensor(c, a.y);
  if (!a.sums) return {operation(c, a, y)};
  const Object sums = tensor(c, *a.sums), added = tensor(c, *a.added), bias = tensor(c, *a.bias);
  std::vector<Object> all = {operation(c, a, sums), pointwise(c, a, a.add, sums, bias, added),
                             pointwise(c, a, kRelu, added, a.relu_has_bias ? bias : nullptr, y)};
  if (a.relu_twice) all[1] = all[2];
  return all;
}

// The configuration of an engine of that number, among those that the heuristic names.
cudnn::Object configuration(Chain& c, const CudnnApi& api, const Arguments& a, cudnn::Object graph,
                            cudnn::Object description) {
  using namespace cudnn;
  const Object heuristic = c.make(kEngineHeuristic);
  c.set(heuristic, kHeuristicGraph, kDescriptor, graph);
  c.set(heuristic, kHeuristicKind, kHeuristicMode, a.heuristic);
  if (a.has_description) c.set(heuristic, kHeuristicDevice, kDescriptor, description);
  c.finish(heuristic);
  std::vector<Object> all;
  for (int i = 0; i < 16; ++i) all.push_back(c.make(kEngineConfig));
  int64_t count = 0;
  if (c.ok()) c.expect(api.Get(heuristic, kHeuristicResults, kDescriptor, std::ssize(all), &count, all.data()));
  for (int64_t i = 0; i < count && c.ok(); ++i) {
    Object engine = c.make(kEngine);
    int64_t found = 0, index = -1;
    c.expect(api.Get(all[static_cast<size_t>(i)], kConfigEngine, kDescriptor, 1, &found, &engine));
    c.expect(api.Get(engine, kEngineIndex, kInt64, 1, &found, &index));
    if (index == a.engine) return all[static_cast<size_t>(i)];
  }
  return nullptr;
}

cudnn::Object plan(Chain& c, const CudnnApi& api, const Arguments& a, cudnn::Handle handle) {
  using namespace cudnn;
  const std::string json = driver::cudnn_device(ir::h200());
  const Object description = c.make(kDeviceProperties);
  c.set(description, kDeviceJson, kChar, std::ssize(json), json.data());
  c.finish(description);
  const std::vector<Object> all = operations(c, a);
  const Object graph = c.make(kOperationGraph);  // parts before what refers to them
  c.set(graph, kGraphOperations, kDescriptor, std::ssize(all), all.data());
  if (a.has_handle) c.set(graph, kGraphHandle, kHandle, handle);
  c.finish(graph);
  const Object config = configuration(c, api, a, graph, description);
  const Object object = c.make(kExecutionPlan);
  if (a.has_handle) c.set(object, kPlanHandle, kHandle, handle);
  if (a.has_description) c.set(object, kPlanDevice, kDescriptor, description);
  c.set(object, kPlanConfig, kDescriptor, config);
  c.finish(object);
  return object;
}

// The first status that is not success, of all calls that lead to the convolution.
cudnn::Status attempt(const FakeGpu& gpu, const Arguments& a) {
  using namespace cudnn;
  const CudnnApi& api = *find_cudnn();
  cudnn::Handle handle = nullptr;
  Status status = kSuccess;
  {
    Chain c(api);
    c.expect(api.Create(&handle));
    c.expect(api.SetStream(handle, a.has_stream ? gpu.stream() : nullptr));
    if (a.plans_while_recorded) gpu.driver.StreamBeginCapture(gpu.stream(), cuda::kCaptureThreadLocal);
    const Object planned = plan(c, api, a, handle);
    if (a.plans_while_recorded) {
      cuda::Graph graph = nullptr;
      gpu.driver.StreamEndCapture(gpu.stream(), &graph);
      gpu.driver.GraphDestroy(graph);
    }
    const Object pack = c.make(kVariantPack);
    std::vector<void*> pointers;
    for (const cuda::Address at : a.arrays) pointers.push_back(pointer(at));
    void* scratch = pointer(a.workspace);
    c.set(pack, kPackIds, a.ids);
    c.set(pack, kPackPointers, kVoidPointer, std::ssize(pointers), pointers.data());
    c.set(pack, kPackWorkspace, kVoidPointer, 1, &scratch);
    c.finish(pack);
    if (c.ok()) c.expect(api.Execute(a.has_handle_at_the_call ? handle : nullptr, planned, pack));
    gpu.driver.StreamSynchronize(gpu.stream());
    status = c.status();
  }
  api.Destroy(handle);
  return status;
}

struct Fault {
  const char* name;
  std::function<void(Arguments&)> plant;
  const char* violation;
};
const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"ChannelsFirst",
       [](auto& a) {
         a.x.strides = {1024, 64, 8, 1};
       },
       "strides [1024, 64, 8, 1] of sizes [2, 16, 8, 8]"},
      {"FilterChannelsFirst",
       [](auto& a) {
         a.w.strides = {144, 9, 3, 1};
       },
       "of sizes [8, 16, 3, 3]: channels lie last"},
      {"PaddedRows", [](auto& a) { a.y.strides[2] += 8; }, "of sizes [2, 8, 8, 8]: channels lie last"},
      {"FewerStrides", [](auto& a) { a.x.strides.pop_back(); }, "4 sizes and 3 strides of a tensor"},
      {"TooFewAxes",
       [](auto& a) {
         a.x.dims = {2, 16};
       },
       "2 elements of attribute 902"},
      {"EmptyTensor", [](auto& a) { a.x.dims[0] = 0; }, "a tensor of size 0"},
      {"Integers", [](auto& a) { a.x.type = 4; }, "a tensor of type 4"},
      {"MixedTypes", [](auto& a) { a.w.type = cudnn::kBf16; }, "tensors of types 0, 9 and 0"},
      {"SumsOfHalves", [](auto& a) { a.compute = cudnn::kF16; }, "sums of type 2"},
      {"MirroredFilter", [](auto& a) { a.mode = 0; }, "convolution mode 0"},
      {"OtherAxes", [](auto& a) { a.axes = 3; }, "2 of attribute 102 for 3 axes"},
      {"NegativePad", [](auto& a) { a.low[0] = -1; }, "-1 in attribute 105"},
      {"NoStride", [](auto& a) { a.strides[1] = 0; }, "0 in attribute 103"},
      {"DilationFromZero",
       [](auto& a) {
         a.dilations = {0, 0};
       },
       "0 in attribute 102"},
      {"ForgottenPad", [](auto& a) { a.high[1] = 0; }, "axis 1 of the result has 8 elements, and 7 are made"},
      {"OtherChannels",
       [](auto& a) {
         a.w.dims = {8, 3, 3, 3}, a.w.strides = strides_of(a.w.dims);
       },
       "16 channels, and filters of 3"},
      {"OtherFilters",
       [](auto& a) {
         a.w.dims = {4, 16, 3, 3}, a.w.strides = strides_of(a.w.dims);
       },
       "4 filters give 8 channels"},
      {"OtherImages",
       [](auto& a) {
         a.y.dims = {1, 8, 8, 8}, a.y.strides = strides_of(a.y.dims);
       },
       "2 images give 1"},
      {"IdTwice", [](auto& a) { a.y.id = 1; }, "ids 1, 2 and 1 are not three"},
      {"Scaled", [](auto& a) { a.alpha = 2; }, "alpha 2 and beta 0"},
      {"Added", [](auto& a) { a.beta = 1; }, "alpha 1 and beta 1"},
      {"OddAlignment", [](auto& a) { a.x.alignment = 24; }, "alignment 24"},
      {"AlignmentOfHalfAnElement", [](auto& a) { a.x.alignment = 2; }, "alignment 2 of elements of 4 bytes"},
      {"AttributeOfAnotherType", [](auto& a) { a.of_dilations = cudnn::kFloat; },
       "attribute 102 of type 4, and it is 3"},
      {"ChangesAFinishedOne", [](auto& a) { a.changes_a_finished_one = true; }, "of a descriptor that is finalized"},
      {"UnfinishedTensor", [](auto& a) { a.w.finished = false; }, "W is not finalized"},
      {"DestroysTooEarly", [](auto& a) { a.destroys_too_early = true; }, "of kind 17, before what refers to it"},
      {"NoDevice", [](auto& a) { a.has_handle = false; }, "no device"},
      {"TwoDevices", [](auto& a) { a.has_description = true; }, "a handle and a description of a device"},
      {"UnknownHeuristic", [](auto& a) { a.heuristic = 7; }, "heuristic mode 7"},
      {"PlansWhileRecorded", [](auto& a) { a.plans_while_recorded = true; }, "while a stream is recorded"},
      {"NoConfiguration", [](auto& a) { a.engine = 12345; }, "a configuration that no heuristic named"},
      {"AddsInNoOrder", [](auto& a) { a.engine = 3; }, "an engine that adds in no fixed order"},
      {"SumsInLess", [](auto& a) { a.engine = 21; }, "an engine that sums in less than f32"},
      {"RoundsToHalves", [](auto& a) { a.engine = 31; }, "an engine that rounds its operands to halves"},
      {"Transforms", [](auto& a) { a.engine = 58; }, "an engine that transforms"},
      {"CompilesAtRunTime", [](auto& a) { a.engine = 11; }, "an engine that compiles at run time"},
      {"PlanWithoutADevice", [](auto& a) { a.has_handle = false, a.has_description = true; },
       "a plan for a device that was described"},
      {"NoHandle", [](auto& a) { a.has_handle_at_the_call = false; },
       "cudnnBackendExecute: a handle that is not there"},
      {"NoStream", [](auto& a) { a.has_stream = false; }, "cudnnSetStream of a stream that is not there"},
      {"OtherId", [](auto& a) { a.ids[2] = 9; }, "no array has the id 3"},
      {"ArrayTwice", [](auto& a) { a.ids[2] = 2; }, "ids [1, 2, 2] twice"},
      {"FewerArrays", [](auto& a) { a.arrays.pop_back(); }, "3 ids and 2 pointers"},
      {"NoResult", [](auto& a) { a.arrays[2] = 0; }, "Y is at no address"},
      {"MisalignedOperand", [](auto& a) { a.arrays[0] += 4; }, "X is not aligned to 16 bytes"},
      {"ArrayBeyondMemory", [](auto& a) { a.arrays[1] += 16; }, "W of 4608 bytes is not in memory"},
      {"ResultOverOperand", [](auto& a) { a.arrays[2] = a.arrays[0]; }, "Y lies over X"},
      {"NoWorkspace", [](auto& a) { a.workspace = 0; }, "the workspace is at no address"},
      {"MisalignedWorkspace", [](auto& a) { a.workspace += 64; }, "the workspace is not aligned to 256 bytes"},
      {"ShortWorkspace", [](auto& a) { a.workspace += 256; }, "the workspace of 4096 bytes is not in memory"},
      {"WorkspaceOverOperand", [](auto& a) { a.workspace = a.arrays[0]; }, "the workspace lies over X"},
  };
  return kFaults;
}

const std::vector<Fault>& faults_of_epilogues() {
  static const std::vector<Fault> kFaults = {
      {"SumsWithAnAddress", [](auto& a) { a.sums->has_address = true; }, "5 has an address, and is between"},
      {"AddedWithAnAddress", [](auto& a) { a.added->has_address = true; }, "6 has an address, and is between"},
      {"ResultWithoutAnAddress", [](auto& a) { a.y.has_address = false; }, "a result without an address"},
      {"SumsOfHalves", [](auto& a) { a.sums->type = cudnn::kF16; }, "sums of type 2 between two operations"},
      {"HalvesAreAdded", [](auto& a) { a.of_pointwise = cudnn::kF16; }, "pointwise numbers of type 2"},
      {"BiasOfAnotherType", [](auto& a) { a.bias->type = cudnn::kBf16; }, "a bias of type 9 for operands of 0"},
      {"BiasOfRows",
       [](auto& a) {
         a.bias->dims = {1, 1, 8, 1}, a.bias->strides = strides_of(a.bias->dims);
       },
       "a bias of sizes [1, 1, 8, 1]"},
      {"BiasOfOtherChannels", [](auto& a) { a.bias->dims[1] = 4, a.bias->strides = strides_of(a.bias->dims); },
       "a bias of sizes [1, 4, 1, 1]"},
      {"OtherSums", [](auto& a) { a.added->dims[2] = 4, a.added->strides = strides_of(a.added->dims); },
       "sizes [2, 8, 8, 8] become [2, 8, 4, 8]"},
      {"OtherMode", [](auto& a) { a.add = 3; }, "pointwise mode 3"},
      {"ReluDropsNan", [](auto& a) { a.nan = 0; }, "relu that is not told to keep nan"},
      {"ReluOfTwo", [](auto& a) { a.relu_has_bias = true; }, "relu with a second operand"},
      {"ReluOfAnother", [](auto& a) { a.relu_twice = true; }, "an operation reads 6, and 5 is made"},
      {"IdOfTheBiasTwice", [](auto& a) { a.bias->id = 3; }, "the id 3 twice"},
      {"NoBias", [](auto& a) { a.ids.pop_back(), a.arrays.pop_back(); }, "3 arrays of a plan of 4"},
      {"BiasAtNoAddress", [](auto& a) { a.arrays[3] = 0; }, "B is at no address"},
      {"MisalignedBias", [](auto& a) { a.arrays[3] += 4; }, "B is not aligned to 16 bytes"},
      {"ResultOverTheBias", [](auto& a) { a.arrays[3] = a.arrays[2]; }, "Y lies over B"},
      {"WorkspaceOverTheBias", [](auto& a) { a.arrays[3] = a.workspace; }, "the workspace lies over B"},
  };
  return kFaults;
}

TEST_F(CudnnCalls, RightArgumentsAreTaken) {
  FakeGpu gpu;
  EXPECT_EQ(attempt(gpu, right(gpu)), cudnn::kSuccess);
  EXPECT_EQ(attempt(gpu, with_epilogue(gpu)), cudnn::kSuccess);
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

TEST_F(CudnnCalls, EachPlantedFaultIsRefused) {
  FakeGpu gpu;
  const auto refused = [&](const Fault& fault, Arguments a) {
    SCOPED_TRACE(fault.name);
    testing::forget_report();
    fault.plant(a);
    EXPECT_NE(attempt(gpu, a), cudnn::kSuccess);
    EXPECT_NE(testing::fake_report().find(fault.violation), std::string::npos) << testing::fake_report();
  };
  for (const Fault& fault : faults()) refused(fault, right(gpu));
  for (const Fault& fault : faults_of_epilogues()) refused(fault, with_epilogue(gpu));
  testing::forget_report();
}

// --- what is computed ---

using codegen::ConvolutionRoles;

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> kAll = {
      {"plain", {2, 5, 5, 3}, {4, 3, 3, 3}},
      {"strided, padded on each side alone", {1, 7, 6, 2}, {3, 3, 2, 2}, {1, 0, 1, 2}, {2, 2}},
      {"dilated", {1, 8, 7, 1}, {5, 3, 3, 1}, {0, 0, 0, 0}, {1, 1}, {2, 1}},
      {"two groups", {2, 4, 4, 6}, {4, 2, 2, 3}},
      {"depthwise", {1, 6, 5, 4}, {4, 3, 3, 1}, {1, 1, 1, 1}, {2, 2}},
      {"one pixel", {3, 1, 1, 7}, {5, 1, 1, 7}},
      {"one row", {2, 1, 16, 8}, {16, 1, 3, 8}, {0, 1, 0, 1}},
      {"one row before alone", {2, 1, 16, 8}, {4, 1, 3, 8}, {0, 2, 0, 0}},
      {"all at once", {1, 9, 8, 2}, {2, 2, 3, 2}, {0, 2, 1, 0}, {2, 3}, {3, 2}},
      {"rows that nothing reads", {2, 6, 6, 1}, {8, 3, 3, 1}, {0, 0, 0, 0}, {3, 3}},
      {"odd channels", {3, 7, 6, 5}, {7, 3, 3, 5}, {1, 1, 1, 1}},
      {"volumes", {1, 5, 4, 3, 2}, {3, 3, 2, 2, 2}, {1, 0, 1, 1, 1, 0}, {2, 2, 2}, {1, 1, 1}}};
  return kAll;
}

int64_t count_of(const codegen::TensorDesc& t) {
  return std::accumulate(t.dims.begin(), t.dims.end(), int64_t{1}, std::multiplies<>());
}

// What the operator means, in doubles.
std::vector<double> meaning(const codegen::Library& call, const std::vector<Numbers>& in) {
  const ir::OpDef* op = ir::find_op(call.op);
  ir::Signature s{.op = op, .attrs = {}, .operands = {}, .results = {{ir::DType::f64, call.results[0].dims}}};
  for (const auto& [name, value] : call.integers)
    s.attrs[name] = name == "groups" ? ir::Attr(value[0]) : ir::Attr(ir::Dims(value));
  std::vector<ir::Tensor> tensors;
  for (size_t i = 0; i < in.size(); ++i) {
    const ir::Type type{ir::DType::f64, call.operands[i].dims};
    if (i < 2) s.operands.push_back(type);
    tensors.emplace_back(type).real = in[i].values;
  }
  const std::vector<const ir::Tensor*> pointers = {&tensors[0], &tensors[1]};
  std::vector<double> made = op->eval(s, pointers)[0].real;
  for (size_t i = 0; i < made.size() && !call.epilogue.empty(); ++i) {
    made[i] += tensors[2].real[i % tensors[2].real.size()];
    if (call.epilogue.size() == 2 && made[i] < 0) made[i] = 0;
  }
  return made;
}

struct Computed {
  std::vector<double> got, expected;
  std::string engine;
};
Computed compute(FakeGpu& gpu, const Cudnn& library, const codegen::Library& call) {
  std::vector<Numbers> in;
  std::vector<CudnnCall::Place> places;
  for (const codegen::TensorDesc& t : call.operands) {
    in.push_back(testing::draw_numbers(t, in.size() + 1));
    places.push_back({gpu.put(in.back().bytes)});
  }
  const std::string& dtype = call.results[0].dtype;
  const size_t width = testing::width_of(dtype), bytes = static_cast<size_t>(count_of(call.results[0])) * width;
  places.push_back({gpu.allocate(bytes)});
  const cuda::Address to = places.back().at;
  const CudnnCall bound(library, call, places, gpu.allocate(static_cast<size_t>(call.workspace.bytes)));
  bound.run();
  const std::vector<std::byte> got = gpu.get(to, bytes);
  Computed c{.got = {}, .expected = meaning(call, in), .engine = bound.engine()};
  for (size_t i = 0; i < got.size(); i += width) c.got.push_back(testing::number(dtype, got.data() + i));
  return c;
}

// The largest difference, of the largest number that is expected.
double error_of(const Computed& c) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < c.expected.size(); ++i) {
    worst = std::max(worst, std::abs(c.got[i] - c.expected[i]));
    largest = std::max(largest, std::abs(c.expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

TEST_F(CudnnCalls, EachFormIsItsMeaning) {
  struct Form {
    const char *dtype, *precision, *engine;
    double tolerance;
  };
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  for (const Form& f : {Form{"f32", "f32", "engine 66", 1e-7},
                        {"f32", "tf32", "engine 47", 2e-3},
                        {"bf16", "f32", "engine 47", 4e-3},
                        {"f16", "f32", "engine 47", 5e-4}})
    for (const Geometry& g : geometries())
      for (const CudnnOperation operation :
           {CudnnOperation::forward, CudnnOperation::data_gradient, CudnnOperation::filter_gradient}) {
        const codegen::Library call = call_of(g, operation, f.dtype, f.precision);
        SCOPED_TRACE(fmt::format("{} {} of {} by {}", g.name, call.op, f.dtype, f.precision));
        const Computed c = compute(gpu, library, call);
        EXPECT_EQ(c.got.size(), c.expected.size());
        EXPECT_LE(error_of(c), f.tolerance);
        EXPECT_EQ(c.engine, f.engine);
        if (f.precision == std::string("tf32")) {
          EXPECT_GT(error_of(c), 1e-6) << "operands are not rounded";
        }
      }
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// A bias, or a bias and relu, in the same graph.
TEST_F(CudnnCalls, EachEpilogueIsItsMeaning) {
  struct Form {
    const char* dtype;
    double tolerance;
  };
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  for (const Form& f : {Form{"f32", 1e-7}, {"bf16", 4e-3}, {"f16", 5e-4}})
    for (const Geometry& g : geometries())
      for (const bool relu : {false, true}) {
        const codegen::Library call = testing::with_epilogue(g, f.dtype, relu);
        SCOPED_TRACE(fmt::format("{} of {}{}", g.name, f.dtype, relu ? ", relu" : ""));
        const Computed c = compute(gpu, library, call);
        EXPECT_LE(error_of(c), f.tolerance);
        EXPECT_EQ(std::ranges::count(c.got, 0.0) > 1, relu) << "no sum is below 0";
      }
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// A nan in the bias is one in the result: an engine that makes a 0 of it is passed over, and the bias is what it was.
TEST_F(CudnnCalls, ReluKeepsNan) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  const auto engine = [&](const char* dtype) {
    const Computed c = compute(gpu, library, testing::with_epilogue(geometries()[0], dtype, /*relu=*/true));
    EXPECT_LE(error_of(c), 4e-3);
    return c.engine;
  };
  EXPECT_EQ(engine("bf16"), "engine 47");
  ASSERT_EQ(setenv("HEDDLE_FAKE_CUDNN_RELU", "drops", 1), 0);
  EXPECT_EQ(engine("bf16"), "engine 66");
  EXPECT_EQ(engine("f16"), "engine 66");
  EXPECT_EQ(engine("f32"), "engine 66");
  unsetenv("HEDDLE_FAKE_CUDNN_RELU");
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// The calls that a small training of a model makes, of different shapes.
std::vector<codegen::Library> calls_of(const std::string& name) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(
      sources, (testing::source_dir() / "models" / (name + ".json")).string(), {.set = {}, .small = true});
  frontend::TrainingPlan plan = frontend::plan_training(model);
  driver::assume_statistics(plan, {});
  const driver::CompileOptions options{.target = ir::h200(), .libraries = {.cudnn = true}};
  ir::Module m = frontend::build_module(model, driver::entry_batches(plan, {.train = plan.batch}, true));
  driver::run_passes(m, options);
  codegen::Program program = driver::lower(m, model.name, options);
  std::vector<codegen::Library> calls;
  std::set<std::string> known;
  for (codegen::Entry& entry : program.entries)
    codegen::for_each_step(entry.steps, [&](const codegen::Step& step, int64_t) {
      const auto* call = std::get_if<codegen::Library>(&step.what);
      if (call == nullptr || !known.insert(call->op + cudnn_shapes(*call)).second) return;
      calls.push_back(*call);
    });
  return calls;
}

// Two of a batch show as much as all.
void take_two_images(codegen::Library& call) {
  const ConvolutionRoles& roles = *call.convolution;
  for (const int role : {roles.image, roles.result})
    (role == ConvolutionRoles::kMade ? call.results[0] : call.operands[static_cast<size_t>(role)]).dims[0] = 2;
  if (call.integers.contains("input")) call.integers["input"][0] = 2;
}

TEST_F(CudnnCalls, EachConvolutionOfModelsIsItsMeaning) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  for (const auto& [model, least] :
       {std::pair{"mnist_cnn", 5}, std::pair{"resnet20", 17}, std::pair{"mobilenet_small", 10}}) {
    std::vector<codegen::Library> calls = calls_of(model);
    EXPECT_GE(std::ssize(calls), least) << model;
    for (codegen::Library& call : calls) {
      SCOPED_TRACE(fmt::format("{}: {} {}", model, call.title, cudnn_shapes(call)));
      ASSERT_EQ(call.impl, "cudnn");
      take_two_images(call);
      EXPECT_LE(error_of(compute(gpu, library, call)), 1e-6);
    }
  }
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// In a loop the arrays move, here by images of 12 bytes a pixel, and so does the alignment that is promised.
TEST_F(CudnnCalls, ArraysMoveWithTheTurnsOfALoop) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  const Geometry g{"moving", {1, 5, 5, 3}, {3, 3, 3, 3}};
  const codegen::Library call = call_of(g, CudnnOperation::forward, "f32", "f32");
  constexpr int64_t kTurns = 3, kImage = 75, kResult = 27;
  codegen::TensorDesc images = call.operands[0];
  images.dims[0] = kTurns;
  const Numbers all = testing::draw_numbers(images, 1), w = testing::draw_numbers(call.operands[1], 2);
  const cuda::Address to = gpu.allocate(kTurns * kResult * 4);
  CudnnCall bound(library, call, {{gpu.put(all.bytes), {kImage * 4}}, {gpu.put(w.bytes)}, {to, {kResult * 4}}},
                  gpu.allocate(static_cast<size_t>(call.workspace.bytes)));
  for (int64_t t = 0; t < kTurns; ++t) bound.run(), bound.advance(0, 1);
  bound.advance(0, -kTurns);
  for (int64_t t = 0; t < kTurns; ++t) {
    SCOPED_TRACE(t);
    const Numbers x{.values = {all.values.begin() + t * kImage, all.values.begin() + (t + 1) * kImage}, .bytes = {}};
    const std::vector<double> expected = meaning(call, {x, w});
    const auto got = gpu.get(to + static_cast<cuda::Address>(t * kResult * 4), kResult * 4);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(testing::number("f32", got.data() + i * 4), expected[i], 1e-5);
  }
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// A recorded call is one node, and is executed as often as its graph is launched.
TEST_F(CudnnCalls, AreRecorded) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  const codegen::Library call = call_of(geometries()[0], CudnnOperation::filter_gradient, "f32", "f32");
  std::vector<CudnnCall::Place> places;
  for (const codegen::TensorDesc& t : {call.operands[0], call.operands[1], call.results[0]})
    places.push_back({gpu.put(testing::draw_numbers(t, 1).bytes)});
  const CudnnCall bound(library, call, places, gpu.allocate(static_cast<size_t>(call.workspace.bytes)));
  GraphHandle graph(gpu.driver);
  GraphExecHandle exec(gpu.driver);
  ASSERT_EQ(gpu.driver.StreamBeginCapture(gpu.stream(), cuda::kCaptureThreadLocal), cuda::kSuccess);
  bound.run();
  ASSERT_EQ(gpu.driver.StreamEndCapture(gpu.stream(), graph.put()), cuda::kSuccess);
  ASSERT_EQ(gpu.driver.GraphInstantiate(exec.put(), graph.get(), 0), cuda::kSuccess);
  EXPECT_EQ(testing::fake_report().find("count: convolutions"), std::string::npos);
  for (int i = 0; i < 2; ++i) gpu.driver.GraphLaunch(exec.get(), gpu.stream());
  gpu.driver.StreamSynchronize(gpu.stream());
  EXPECT_NE(testing::fake_report().find("count: convolutions 2\n"), std::string::npos) << testing::fake_report();
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

// Planned without a device: the scratch of the first engine that is admitted, in lines of 256 bytes.
TEST_F(CudnnCalls, SayWhatScratchTheyNeed) {
  const CudnnApi& api = *find_cudnn();
  const auto needs = [&](const char* dtype, const char* precision) {
    return cudnn_needs(api, call_of(geometries()[0], CudnnOperation::forward, dtype, precision),
                       driver::cudnn_device(ir::a100()));
  };
  EXPECT_EQ(needs("f32", "f32").workspace, 4096);
  EXPECT_EQ(needs("f32", "tf32").workspace, (1 << 20) + 256);
  EXPECT_EQ(needs("bf16", "f32").workspace, (1 << 20) + 256);
  const CudnnNeeds refused = needs("f64", "f32");
  EXPECT_EQ(refused.workspace, -1);
  EXPECT_EQ(refused.refusal, "dtype f64");
}

// Less scratch than was planned for: engines that take more are passed over, to the end of the list.
TEST_F(CudnnCalls, TakeNoMoreScratchThanIsPlanned) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  codegen::Library call = call_of(geometries()[0], CudnnOperation::forward, "f32", "f32");
  call.workspace.bytes = 0;
  const Computed c = compute(gpu, library, call);
  EXPECT_EQ(c.engine, "engine 0");
  EXPECT_LE(error_of(c), 1e-7);
}

TEST_F(CudnnCalls, SayWhyNoEngineIsAdmitted) {
  FakeGpu gpu;
  const Cudnn library(gpu.stream());
  ASSERT_EQ(setenv("HEDDLE_FAKE_CUDNN_ENGINES", "none", 1), 0);
  std::string text;
  try {
    compute(gpu, library, call_of(geometries()[0], CudnnOperation::forward, "f32", "f32"));
  } catch (const UserError& error) {
    text = error.what();
  }
  unsetenv("HEDDLE_FAKE_CUDNN_ENGINES");
  EXPECT_NE(text.find("cuDNN 9.19.0 cannot run 'plain': f32[2,3,3,4] = f32[2,5,5,3], f32[4,3,3,3]: none of its engines "
                      "is admitted: 1 add in no fixed order; 1 sum in less than f32; 1 round their operands to halves; "
                      "1 transform; "),
            std::string::npos)
      << text;
  EXPECT_FALSE(has_violations()) << testing::fake_report();
}

TEST(Cudnn, RefusesWhatItDoesNotTake) {
  const auto refused = [](const std::function<void(codegen::Library&)>& change) {
    codegen::Library call = call_of(geometries()[0], CudnnOperation::forward, "f32", "f32");
    change(call);
    return cudnn_refusal(call);
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_EQ(refused([](auto& c) { c.convolution.reset(), c.op = "matmul"; }), "operator matmul");
  const codegen::EpilogueStep bias{.op = "bias", .bias = true}, relu{.op = "relu", .at_least = 0.0};
  EXPECT_EQ(refused([&](auto& c) { c.epilogue = {relu}; }), "epilogue relu");
  EXPECT_EQ(refused([&](auto& c) { c.epilogue = {bias, bias}; }), "epilogue bias");
  EXPECT_EQ(refused([&](auto& c) { c.epilogue = {bias, {.op = "maximum", .at_least = 1.0}}; }), "epilogue maximum");
  EXPECT_EQ(refused([&](auto& c) { c.convolution->image = ConvolutionRoles::kMade, c.epilogue = {bias}; }),
            "an epilogue on a gradient");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dtype = "i32"; }), "dtype i32");
  EXPECT_EQ(refused([](auto& c) { c.operands[1].dtype = "bf16"; }), "bf16 beside f32");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dims[0] = 0; }), "an empty tensor");
  EXPECT_EQ(refused([](auto& c) { c.operands[0].dims[0] = int64_t{1} << 31; }), "more than 2147483647 elements");
  EXPECT_EQ(refused([](auto& c) { c.results.push_back(c.results[0]); }), "2 results");
}

// A program that calls it was compiled on another machine. In a process of its own: a library is looked for once.
TEST(Cudnn, IsMissedWhereAProgramCallsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto load = [] {
    setenv("HEDDLE_CUDNN", "/none", 1);
    try {
      const Cudnn library(nullptr);
    } catch (const UserError& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(static_cast<int>(error.code()));
    }
  };
  EXPECT_EXIT(load(), ::testing::ExitedWithCode(static_cast<int>(ExitCode::missing)),
              "the program calls cuDNN 9, and there is none: libcudnn.so.9 was not found");
}

}  // namespace
}  // namespace heddle::runtime
