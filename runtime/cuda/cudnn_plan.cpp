#include "runtime/cuda/cudnn_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "codegen/program.h"

namespace heddle::runtime {

// --- descriptors ---

CudnnObject::CudnnObject(const CudnnApi& api, cudnn::Kind kind) : api_(api) {
  check(api_.ObjectCreate(kind, &object_), "cudnnBackendCreateDescriptor");
}
CudnnObject::~CudnnObject() {
  if (object_ != nullptr) api_.ObjectDestroy(object_);
}
CudnnObject::CudnnObject(CudnnObject&& other) noexcept
    : api_(other.api_), object_(std::exchange(other.object_, nullptr)), parts_(std::move(other.parts_)) {}

void CudnnObject::check(cudnn::Status status, const char* call) const {
  if (status != cudnn::kSuccess) throw CudnnFailure{status, call, fmt::format("{}: {}", call, api_.describe(status))};
}
void CudnnObject::set(cudnn::Attribute attribute, cudnn::Element element, int64_t count, const void* values) {
  check(api_.Set(object_, attribute, element, count, values), "cudnnBackendSetAttribute");
}
void CudnnObject::set(cudnn::Attribute attribute, const std::vector<int64_t>& values) {
  set(attribute, cudnn::kInt64, std::ssize(values), values.data());
}
void CudnnObject::set(cudnn::Attribute attribute, CudnnObject part) {
  const cudnn::Object object = part.get();
  parts_.push_back(std::move(part));
  set(attribute, cudnn::kDescriptor, 1, &object);
}
void CudnnObject::get(cudnn::Attribute attribute, cudnn::Element element, int64_t most, int64_t* count,
                      void* values) const {
  check(api_.Get(object_, attribute, element, most, count, values), "cudnnBackendGetAttribute");
}
void CudnnObject::finish() { check(api_.Finalize(object_), "cudnnBackendFinalize"); }

namespace {

// --- the graph of a convolution and what follows it ---

enum class Stored { yes, no };  // no: it has no address
CudnnObject tensor(const CudnnApi& api, const CudnnTensor& t, int64_t id, int64_t alignment,
                   Stored stored = Stored::yes) {
  constexpr bool kVirtual = true;
  CudnnObject object(api, cudnn::kTensor);
  object.set(cudnn::kTensorType, cudnn::kDataType, t.type);
  object.set(cudnn::kTensorDims, t.dims);
  object.set(cudnn::kTensorStrides, t.strides);
  object.set(cudnn::kTensorId, id);
  object.set(cudnn::kTensorAlignment, alignment);
  if (stored == Stored::no) object.set(cudnn::kTensorVirtual, cudnn::kBoolean, 1, &kVirtual);
  object.finish();
  return object;
}

CudnnObject geometry(const CudnnApi& api, const CudnnConvolution& c) {
  CudnnObject object(api, cudnn::kConvolution);
  object.set(cudnn::kConvolutionComputeType, cudnn::kDataType, cudnn::kF32);
  object.set(cudnn::kConvolutionKind, cudnn::kConvolutionMode, cudnn::kCrossCorrelation);
  object.set(cudnn::kConvolutionSpatialDims, std::ssize(c.strides));
  object.set(cudnn::kConvolutionPrePaddings, c.low);
  object.set(cudnn::kConvolutionPostPaddings, c.high);
  object.set(cudnn::kConvolutionStrides, c.strides);
  object.set(cudnn::kConvolutionDilations, c.dilations);
  object.finish();
  return object;
}

struct OperationWords {
  cudnn::Kind kind;
  cudnn::Attribute geometry, x, w, y, alpha, beta;
};
OperationWords words_of(CudnnOperation operation) {
  using namespace cudnn;
  switch (operation) {
    case CudnnOperation::data_gradient:
      return {kDataGradient,   kDataGradientConvolution, kDataGradientDx,  kDataGradientW,
              kDataGradientDy, kDataGradientAlpha,       kDataGradientBeta};
    case CudnnOperation::filter_gradient:
      return {kFilterGradient,   kFilterGradientConvolution, kFilterGradientX,   kFilterGradientDw,
              kFilterGradientDy, kFilterGradientAlpha,       kFilterGradientBeta};
    case CudnnOperation::forward: break;
  }
  return {kForward, kForwardConvolution, kForwardX, kForwardW, kForwardY, kForwardAlpha, kForwardBeta};
}

CudnnObject convolution(const CudnnApi& api, const CudnnConvolution& c, const CudnnPlanning& planning, CudnnObject y) {
  constexpr float kOne = 1, kZero = 0;
  const OperationWords words = words_of(c.operation);
  CudnnObject object(api, words.kind);
  object.set(words.geometry, geometry(api, c));
  object.set(words.x, tensor(api, c.x, kCudnnIds[0], planning.alignment[0]));
  object.set(words.w, tensor(api, c.w, kCudnnIds[1], planning.alignment[1]));
  object.set(words.y, std::move(y));
  object.set(words.alpha, cudnn::kFloat, 1, &kOne);
  object.set(words.beta, cudnn::kFloat, 1, &kZero);
  object.finish();
  return object;
}

// A virtual f32 tensor between two operations.
CudnnObject between(const CudnnApi& api, CudnnTensor y, int64_t number) {
  constexpr int64_t kAligned = 16;
  y.type = cudnn::kF32;
  return tensor(api, y, kCudnnIds.back() + number, kAligned, Stored::no);
}

CudnnObject pointwise(const CudnnApi& api, int mode, cudnn::Object x, std::optional<CudnnObject> b, CudnnObject y) {
  CudnnObject how(api, cudnn::kPointwise);
  how.set(cudnn::kPointwiseMode, cudnn::kPointwiseModeType, mode);
  how.set(cudnn::kPointwisePrecision, cudnn::kDataType, cudnn::kF32);
  if (mode == cudnn::kRelu) how.set(cudnn::kPointwiseNan, cudnn::kNanPropagation, cudnn::kPropagateNan);
  how.finish();
  CudnnObject object(api, cudnn::kPointwiseOperation);
  object.set(cudnn::kPointwiseHow, std::move(how));
  object.set(cudnn::kPointwiseX, cudnn::kDescriptor, 1, &x);
  if (b) object.set(cudnn::kPointwiseB, std::move(*b));
  object.set(cudnn::kPointwiseY, std::move(y));
  object.finish();
  return object;
}

// The last operation, which keeps those before it; `all` has them in order.
CudnnObject with_bias(const CudnnApi& api, const CudnnConvolution& c, const CudnnPlanning& planning, CudnnObject y,
                      std::vector<cudnn::Object>& all) {
  CudnnObject sums = between(api, c.y, 1);
  const cudnn::Object from = sums.get();
  CudnnObject first = convolution(api, c, planning, std::move(sums));
  CudnnObject bias = tensor(api, *c.bias, kCudnnIds[3], planning.alignment[3]);
  CudnnObject add = pointwise(api, cudnn::kAdd, from, std::move(bias), std::move(y));
  all = {first.get(), add.get()};
  add.keep(std::move(first));
  return add;
}
CudnnObject operations(const CudnnApi& api, const CudnnConvolution& c, const CudnnPlanning& planning,
                       std::vector<cudnn::Object>& all) {
  CudnnObject y = tensor(api, c.y, kCudnnIds[2], planning.alignment[2]);
  if (!c.bias) {
    CudnnObject alone = convolution(api, c, planning, std::move(y));
    all = {alone.get()};
    return alone;
  }
  if (!c.relu) return with_bias(api, c, planning, std::move(y), all);
  CudnnObject added = between(api, c.y, 2);
  const cudnn::Object from = added.get();
  CudnnObject before = with_bias(api, c, planning, std::move(added), all);
  CudnnObject relu = pointwise(api, cudnn::kRelu, from, std::nullopt, std::move(y));
  all.push_back(relu.get());
  relu.keep(std::move(before));
  return relu;
}

// Sets the device of an object: the device of a handle, or a described one.
class ForDevice {
 public:
  ForDevice(const CudnnApi& api, const CudnnPlanning& planning) {
    if (const auto* handle = std::get_if<cudnn::Handle>(&planning.device)) handle_ = *handle;
    if (const auto* json = std::get_if<std::string>(&planning.device)) {
      described_.emplace(api, cudnn::kDeviceProperties);
      described_->set(cudnn::kDeviceJson, cudnn::kChar, std::ssize(*json), json->data());
      described_->finish();
    }
  }
  void set(CudnnObject& object, std::optional<cudnn::Attribute> by_handle,
           std::optional<cudnn::Attribute> by_description) const {
    const cudnn::Object described = described_ ? described_->get() : nullptr;
    if (described == nullptr && by_handle) object.set(*by_handle, cudnn::kHandle, 1, &handle_);
    if (described != nullptr && by_description) object.set(*by_description, cudnn::kDescriptor, 1, &described);
  }

 private:
  cudnn::Handle handle_ = nullptr;
  std::optional<CudnnObject> described_;
};

CudnnObject graph(const CudnnApi& api, const CudnnConvolution& c, const CudnnPlanning& planning,
                  const ForDevice& device) {
  CudnnObject object(api, cudnn::kOperationGraph);
  std::vector<cudnn::Object> all;
  object.keep(operations(api, c, planning, all));
  object.set(cudnn::kGraphOperations, cudnn::kDescriptor, std::ssize(all), all.data());
  device.set(object, cudnn::kGraphHandle, std::nullopt);
  object.finish();
  return object;
}

// --- its engines ---

// The notes that an engine has.
std::vector<int> notes(const CudnnObject& engine, cudnn::Attribute attribute, cudnn::Element element) {
  constexpr size_t kMost = 32;  // of which 9.19 has 10
  std::vector<int> all(kMost);
  int64_t count = 0;
  engine.get(attribute, element, std::ssize(all), &count, all.data());
  all.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, std::ssize(all))));
  return all;
}

// Why an engine with such notes is not admitted, or "".
std::string objection(const std::vector<int>& numerical, const std::vector<int>& behavior, bool exact_f32) {
  using namespace cudnn;
  static const std::array<std::pair<int, const char*>, 8> kNever = {{{kNondeterministic, "add in no fixed order"},
                                                                     {kReducedSums, "sum in less than f32"},
                                                                     {kDownConverts, "round their operands to halves"},
                                                                     {kFft, "transform"},
                                                                     {kWinograd, "transform"},
                                                                     {kWinograd4x4, "transform"},
                                                                     {kWinograd6x6, "transform"},
                                                                     {kWinograd13x13, "transform"}}};
  const auto has = [](const std::vector<int>& all, int note) { return std::ranges::find(all, note) != all.end(); };
  for (const auto& [note, words] : kNever)
    if (has(numerical, note)) return words;
  if (exact_f32 && has(numerical, kTensorCores)) return "round f32 to tf32";
  if (has(behavior, kRuntimeCompilation)) return "compile at run time";
  if (has(behavior, kNeedsCublaslt)) return "need cuBLASLt";
  return {};
}

// The configurations that a heuristic names, best first.
std::vector<CudnnObject> configurations(const CudnnApi& api, const CudnnObject& graph, const ForDevice& device,
                                        int mode) {
  constexpr int64_t kMost = 64;
  CudnnObject heuristic(api, cudnn::kEngineHeuristic);
  const cudnn::Object of = graph.get();
  heuristic.set(cudnn::kHeuristicGraph, cudnn::kDescriptor, 1, &of);
  heuristic.set(cudnn::kHeuristicKind, cudnn::kHeuristicMode, mode);
  device.set(heuristic, std::nullopt, cudnn::kHeuristicDevice);
  heuristic.finish();
  std::vector<CudnnObject> all;
  std::vector<cudnn::Object> objects;
  for (int64_t i = 0; i < kMost; ++i) objects.push_back(all.emplace_back(api, cudnn::kEngineConfig).get());
  int64_t count = 0;
  heuristic.get(cudnn::kHeuristicResults, cudnn::kDescriptor, kMost, &count, objects.data());
  while (std::ssize(all) > std::clamp<int64_t>(count, 0, kMost)) all.pop_back();
  return all;
}

// Takes the first plan that is admitted and fits.
class Chooser {
 public:
  Chooser(const CudnnApi& api, const CudnnConvolution& convolution, const CudnnPlanning& planning)
      : api_(api),
        planning_(planning),
        device_(api, planning),
        graph_(graph(api, convolution, planning, device_)),
        exact_f32_(convolution.x.type == cudnn::kF32 && !convolution.tf32) {}

  std::optional<CudnnPlan> choose() {
    for (const int mode : {cudnn::kModeA, cudnn::kFallback}) {
      std::vector<CudnnObject> list;
      try {
        list = configurations(api_, graph_, device_, mode);
      } catch (const CudnnFailure& failure) {
        count(failure.why);
      }
      for (CudnnObject& configuration : list)
        if (std::optional<CudnnPlan> plan = take(std::move(configuration))) return plan;
    }
    return std::nullopt;
  }

  // "none of its engines is admitted: 12 add in no fixed order; 3 round f32 to tf32".
  std::string why() const {
    if (objections_.empty()) return "it names no engine";
    std::string text;
    for (const auto& [words, number] : objections_)
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", number, words);
    return "none of its engines is admitted: " + text;
  }

 private:
  void count(const std::string& words) {
    const auto known = std::ranges::find(objections_, words, &std::pair<std::string, int>::first);
    if (known != objections_.end()) return void(++known->second);
    objections_.emplace_back(words, 1);
  }

  std::optional<CudnnPlan> take(CudnnObject configuration) {
    using namespace cudnn;
    try {
      CudnnObject engine(api_, kEngine);
      int64_t found = 0, index = -1;
      Object place = engine.get();
      configuration.get(kConfigEngine, kDescriptor, 1, &found, &place);
      engine.get(kEngineIndex, kInt64, 1, &found, &index);
      const std::string words = objection(notes(engine, kEngineNumericalNotes, kNumericalNote),
                                          notes(engine, kEngineBehaviorNotes, kBehaviorNote), exact_f32_);
      if (!words.empty()) return count(words), std::nullopt;
      if (std::ranges::count(planning_.passed_over, index) > 0) return count("drop nan in relu"), std::nullopt;
      return plan(std::move(configuration), index);
    } catch (const CudnnFailure& failure) {
      return count(failure.why), std::nullopt;
    }
  }

  std::optional<CudnnPlan> plan(CudnnObject configuration, int64_t index) {
    CudnnObject object(api_, cudnn::kExecutionPlan);
    device_.set(object, cudnn::kPlanHandle, cudnn::kPlanDevice);
    object.set(cudnn::kPlanConfig, std::move(configuration));
    object.finish();
    int64_t bytes = -1, found = 0;
    object.get(cudnn::kPlanWorkspace, cudnn::kInt64, 1, &found, &bytes);
    if (bytes > planning_.workspace)
      return count(fmt::format("take more than {} bytes of scratch", planning_.workspace)), std::nullopt;
    return CudnnPlan{std::move(object), bytes, index};
  }

  const CudnnApi& api_;
  const CudnnPlanning& planning_;
  ForDevice device_;
  CudnnObject graph_;
  bool exact_f32_;
  std::vector<std::pair<std::string, int>> objections_;
};

}  // namespace

CudnnPlanned plan_cudnn(const CudnnApi& api, const CudnnConvolution& convolution, const CudnnPlanning& planning) {
  try {
    Chooser chooser(api, convolution, planning);
    if (std::optional<CudnnPlan> plan = chooser.choose()) return {std::move(plan), {}};
    return {std::nullopt, chooser.why()};
  } catch (const CudnnFailure& failure) {
    return {std::nullopt, failure.why};
  }
}

CudnnNeeds cudnn_needs(const CudnnApi& api, const codegen::Library& call, const std::string& device) {
  constexpr int64_t kMost = int64_t{64} << 20, kLine = 256;
  if (std::string refusal = cudnn_refusal(call); !refusal.empty()) return {-1, refusal};
  const CudnnPlanned planned = plan_cudnn(api, describe_cudnn(call), {.device = device, .workspace = kMost});
  if (!planned.plan) return {-1, planned.why};
  return {(planned.plan->workspace + kLine - 1) / kLine * kLine, {}};
}

}  // namespace heddle::runtime
