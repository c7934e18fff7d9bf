// The functions that the library exports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include "tests/fake_cudnn/objects.h"

namespace heddle::fake_cuda {
namespace {

struct CudnnHandle {
  void* stream = nullptr;
};

template <class T>
std::set<std::unique_ptr<T>>& all_of() {
  static std::set<std::unique_ptr<T>> all;
  return all;
}
template <class T>
T* find(const void* object) {
  for (const auto& item : all_of<T>())
    if (item.get() == object) return item.get();
  return nullptr;
}

std::string& last_error() {
  static std::string text;
  return text;
}

CudnnStatus refuse(const char* call, const std::string& why, CudnnStatus status = kCudnnBadParam) {
  world().violate(fmt::format("{}: {}", call, why));
  last_error() = why;
  return status;
}

// What a call without a device must return at once: planning needs none.
CudnnStatus failed(const Call& call) {
  const bool fails = call.status() != kSuccess && call.status() != kNotInitialized;
  if (fails) last_error() = "it was to fail";
  return fails ? kCudnnNotSupported : kCudnnSuccess;
}

const char* setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// --- engines ---

constexpr int kTensorCores = 0, kDownConverts = 1, kReducedSums = 2, kNondeterministic = 4, kWinograd = 5,
              kStrictNan = 9;
constexpr int kRuntimeCompilation = 0, kNeedsCublaslt = 4;

// Best first; the wanted ones come last.
std::vector<EngineOf> engines_of(const Object& graph, int mode) {
  constexpr int64_t kScratch = 4096, kMore = int64_t{1} << 20, kMost = int64_t{1} << 30;
  const bool f32 = graph.operation->x.type == 0;
  std::vector<EngineOf> list = {{3, {kTensorCores, kNondeterministic}, {}, 0, "adds in no fixed order"},
                                {21, {kTensorCores, kReducedSums}, {}, 0, "sums in less than f32"},
                                {31, {kTensorCores, kDownConverts}, {}, 0, "rounds its operands to halves"},
                                {58, {kTensorCores, kWinograd}, {}, kMore, "transforms"},
                                {11, {kTensorCores}, {kRuntimeCompilation}, 0, "compiles at run time"},
                                {13, {kTensorCores}, {kNeedsCublaslt}, 0, "needs cuBLASLt"},
                                {20, {kStrictNan}, {}, kMost, ""},
                                {47, {kTensorCores}, {}, kMore + 3, "", f32},
                                {66, {kStrictNan}, {}, kScratch, ""}};
  const int64_t more = graph.for_handle ? std::atoll(setting("HEDDLE_FAKE_CUDNN_MORE")) : 0;
  if (mode == 2) list = {{0, {}, {}, more, ""}};
  if (std::string(setting("HEDDLE_FAKE_CUDNN_ENGINES")) == "none")
    std::erase_if(list, [](const EngineOf& e) { return e.unwanted.empty(); });
  const bool drops = std::string(setting("HEDDLE_FAKE_CUDNN_RELU")) == "drops";
  for (EngineOf& engine : list) {
    engine.workspace += engine.workspace > 0 ? more : 0;
    engine.drops_nan = drops && std::ranges::count(engine.numerical, kStrictNan) == 0;
  }
  return list;
}

// --- answers ---

template <class T>
CudnnStatus answer(const std::vector<T>& list, int64_t asked, int64_t* count, void* to) {
  const int64_t given = std::min(asked, std::ssize(list));
  *count = asked == 0 ? std::ssize(list) : given;
  if (given > 0) std::memcpy(to, list.data(), static_cast<size_t>(given) * sizeof(T));
  return kCudnnSuccess;
}

// Fills in descriptors that the caller made.
CudnnStatus fill_configurations(const Object& heuristic, int64_t asked, int64_t* count, void** to) {
  constexpr const char* kCall = "cudnnBackendGetAttribute";
  const Object* graph = find_object(value<const void*>(heuristic, 201));
  if (graph == nullptr) return refuse(kCall, "a graph that is gone");
  const std::vector<EngineOf> list = engines_of(*graph, value<int>(heuristic, 200));
  *count = asked == 0 ? std::ssize(list) : std::min(asked, std::ssize(list));
  for (int64_t i = 0; i < *count && asked > 0; ++i) {
    Object* config = find_object(to[i]);
    if (config == nullptr || config->kind != kConfigObject) return refuse(kCall, "results that are no configurations");
    config->engine = list[static_cast<size_t>(i)], config->operation = graph->operation;
    config->for_handle = graph->for_handle, config->finished = true;
  }
  return kCudnnSuccess;
}

CudnnStatus fill_engine(const Object& config, int64_t* count, void** to) {
  Object* engine = find_object(*to);
  if (engine == nullptr || engine->kind != kEngineObject)
    return refuse("cudnnBackendGetAttribute", "an engine that is none");
  engine->engine = config.engine, engine->finished = true, *count = 1;
  return kCudnnSuccess;
}

// What refers to the object and is not done with it: a finished plan needs nothing else.
bool is_used(const Object* object) {
  for (const auto& other : all_of<Object>()) {
    if (other->kind == kPlanObject && other->finished) continue;
    for (const auto& [attribute, held] : other->attributes)
      if (held.element == 15)
        for (const void* part : values<const void*>(*other, attribute))
          if (part == object) return true;
  }
  return false;
}

// The arrays of a pack, by the ids of the plan.
std::string arrays_of(const Object& plan, const Object& pack, ArraysOf& arrays) {
  const ConvolutionOf& c = *plan.operation;
  const std::vector<int64_t> ids = values<int64_t>(pack, 1000);
  const std::vector<uint64_t> pointers = values<uint64_t>(pack, 1001);
  std::vector<int64_t> wanted = {c.x.id, c.w.id, c.y.id};
  if (c.bias) wanted.push_back(c.bias->id);
  if (ids.size() != wanted.size()) return fmt::format("{} arrays of a plan of {}", ids.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::ranges::find(ids, wanted[i]);
    if (found == ids.end()) return fmt::format("no array has the id {}", wanted[i]);
    arrays.at[i] = pointers[static_cast<size_t>(found - ids.begin())];
  }
  arrays.workspace = value<uint64_t>(pack, 1003);
  arrays.workspace_bytes = static_cast<uint64_t>(plan.engine->workspace);
  return wrong_arrays(c, arrays);
}

}  // namespace

Object* find_object(const void* object) { return find<Object>(object); }

extern "C" {

size_t cudnnGetVersion() {
  const char* text = setting("HEDDLE_FAKE_CUDNN_VERSION");
  return *text == '\0' ? 91900 : std::strtoull(text, nullptr, 10);
}

const char* cudnnGetErrorString(CudnnStatus status) {
  switch (status) {
    case kCudnnSuccess: return "CUDNN_STATUS_SUCCESS";
    case kCudnnNotInitialized: return "CUDNN_STATUS_NOT_INITIALIZED";
    case kCudnnBadParam: return "CUDNN_STATUS_BAD_PARAM";
    case kCudnnNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
    case kCudnnExecutionFailed: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_OF_THE_FAKE";
  }
}
void cudnnGetLastErrorString(char* to, size_t bytes) {
  if (bytes > 0) std::snprintf(to, bytes, "%s", last_error().c_str());
  last_error().clear();
}

CudnnStatus cudnnCreate(void** to) {
  constexpr const char* kCall = "cudnnCreate";
  const Call call(kCall);
  if (call.status() != kSuccess) return kCudnnNotInitialized;
  if (capturing() != nullptr) return refuse(kCall, "while a stream is recorded", kCudnnNotInitialized);
  *to = all_of<CudnnHandle>().insert(std::make_unique<CudnnHandle>()).first->get();
  ++world().alive["cuDNN handle"];
  return kCudnnSuccess;
}
CudnnStatus cudnnDestroy(void* handle) {
  const Call call("cudnnDestroy");
  if (find<CudnnHandle>(handle) == nullptr) return refuse("cudnnDestroy", "a handle that is not there");
  std::erase_if(all_of<CudnnHandle>(), [&](const auto& item) { return item.get() == handle; });
  --world().alive["cuDNN handle"];
  return kCudnnSuccess;
}
CudnnStatus cudnnSetStream(void* handle, void* stream) {
  constexpr const char* kCall = "cudnnSetStream";
  const Call call(kCall);
  if (call.status() != kSuccess) return kCudnnExecutionFailed;
  auto* h = find<CudnnHandle>(handle);
  if (h == nullptr) return refuse(kCall, "a handle that is not there");
  if (find_stream(stream, kCall) == nullptr) return kCudnnBadParam;
  h->stream = stream;
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendCreateDescriptor(int kind, void** to) {
  const Call call("cudnnBackendCreateDescriptor");
  if (const CudnnStatus status = failed(call); status != kCudnnSuccess) return status;
  *to = all_of<Object>().insert(std::make_unique<Object>(Object{.kind = static_cast<ObjectKind>(kind)})).first->get();
  ++world().alive["cuDNN descriptor"];
  return kCudnnSuccess;
}
CudnnStatus cudnnBackendDestroyDescriptor(void* object) {
  constexpr const char* kCall = "cudnnBackendDestroyDescriptor";
  const Call call(kCall);
  const Object* o = find_object(object);
  if (o == nullptr) return refuse(kCall, "a descriptor that is not there");
  if (is_used(o)) refuse(kCall, fmt::format("of kind {}, before what refers to it", static_cast<int>(o->kind)));
  std::erase_if(all_of<Object>(), [&](const auto& item) { return item.get() == o; });
  --world().alive["cuDNN descriptor"];
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendSetAttribute(void* object, int attribute, int element, int64_t count, const void* from) {
  constexpr const char* kCall = "cudnnBackendSetAttribute";
  const Call call(kCall);
  if (const CudnnStatus status = failed(call); status != kCudnnSuccess) return status;
  Object* o = find_object(object);
  if (o == nullptr) return refuse(kCall, "of a descriptor that is not there");
  if (std::string wrong = wrong_attribute(*o, attribute, element, count, from); !wrong.empty())
    return refuse(kCall, wrong);
  const auto* bytes = static_cast<const std::byte*>(from);
  o->attributes[attribute] = {element, count, {bytes, bytes + static_cast<size_t>(count) * attribute_bytes(element)}};
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendFinalize(void* object) {
  constexpr const char* kCall = "cudnnBackendFinalize";
  const Call call(kCall);
  if (const CudnnStatus status = failed(call); status != kCudnnSuccess) return status;
  Object* o = find_object(object);
  if (o == nullptr) return refuse(kCall, "of a descriptor that is not there");
  if (capturing() != nullptr && o->kind != kPackObject) return refuse(kCall, "while a stream is recorded");
  for (const int attribute : {400, 800})
    if (o->attributes.contains(attribute) && find<CudnnHandle>(value<void*>(*o, attribute)) == nullptr)
      return refuse(kCall, "a handle that is not there");
  if (std::string wrong = wrong_object(*o); !wrong.empty()) return refuse(kCall, wrong);
  o->finished = true;
  return kCudnnSuccess;
}

CudnnStatus cudnnBackendGetAttribute(void* object, int attribute, int element, int64_t asked, int64_t* count,
                                     void* to) {
  constexpr const char* kCall = "cudnnBackendGetAttribute";
  const Call call(kCall);
  if (const CudnnStatus status = failed(call); status != kCudnnSuccess) return status;
  const Object* o = find_object(object);
  if (o == nullptr || !o->finished) return refuse(kCall, "of a descriptor that is not finalized");
  const auto is = [&](ObjectKind kind, int name, int type) {
    return o->kind == kind && attribute == name && element == type;
  };
  if (is(kHeuristicObject, 202, 15)) return fill_configurations(*o, asked, count, static_cast<void**>(to));
  if (is(kConfigObject, 300, 15)) return fill_engine(*o, count, static_cast<void**>(to));
  if (is(kEngineObject, 1301, 3)) return answer(std::vector<int64_t>{o->engine->index}, asked, count, to);
  if (is(kEngineObject, 1303, 11)) return answer(o->engine->numerical, asked, count, to);
  if (is(kEngineObject, 1305, 19)) return answer(o->engine->behavior, asked, count, to);
  if (is(kPlanObject, 402, 3)) return answer(std::vector<int64_t>{o->engine->workspace}, asked, count, to);
  return refuse(kCall, fmt::format("attribute {} of type {}", attribute, element));
}

CudnnStatus cudnnBackendExecute(void* handle, void* plan, void* pack) {
  constexpr const char* kCall = "cudnnBackendExecute";
  const Call call(kCall);
  if (call.status() != kSuccess) return kCudnnExecutionFailed;
  const auto* h = find<CudnnHandle>(handle);
  const Object *p = find_object(plan), *v = find_object(pack);
  if (h == nullptr) return refuse(kCall, "a handle that is not there");
  if (p == nullptr || p->kind != kPlanObject || !p->finished) return refuse(kCall, "no finalized plan");
  if (v == nullptr || v->kind != kPackObject || !v->finished) return refuse(kCall, "no finalized pack");
  if (!p->for_handle) return refuse(kCall, "a plan for a device that was described");
  if (value<void*>(*p, 400) != handle) return refuse(kCall, "a plan of another handle");
  if (!p->engine->unwanted.empty()) return refuse(kCall, "an engine that " + p->engine->unwanted);
  Stream* s = find_stream(h->stream, kCall);
  if (s == nullptr) return kCudnnBadParam;
  if (Stream* recorded = capturing(); recorded != nullptr && recorded != s)
    return refuse(kCall, "on another stream than the one that is recorded");
  ArraysOf arrays;
  if (std::string wrong = arrays_of(*p, *v, arrays); !wrong.empty()) return refuse(kCall, wrong);
  s->runs_kernels = true;
  s->push({[what = *p->operation, arrays, engine = *p->engine] {
             try {
               convolve(what, arrays, engine);
             } catch (const ptx::MemoryError& e) {
               world().violate(fmt::format("cudnnBackendExecute: {}", e.what()));
             }
           },
           "convolution"});
  return kCudnnSuccess;
}

}  // extern "C"

}  // namespace heddle::fake_cuda
