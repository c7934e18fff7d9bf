// Streams, events and graphs.
#include <fmt/format.h>

#include "tests/fake_cuda/stream.h"

namespace heddle::fake_cuda {
namespace {

struct ExecutableGraph {
  Graph graph;
};
template <class T>
std::set<std::unique_ptr<T>>& all_of() {
  static std::set<std::unique_ptr<T>> all;
  return all;
}
template <class T>
T* make(const char* kind) {
  ++world().alive[kind];
  return all_of<T>().insert(std::make_unique<T>()).first->get();
}
template <class T>
T* find(void* handle, const char* call) {
  for (const auto& item : all_of<T>())
    if (item.get() == handle) return item.get();
  world().violate(fmt::format("{} of an object that is not there", call));
  return nullptr;
}
template <class T>
Status destroy(void* handle, const char* kind, const char* call) {
  for (auto it = all_of<T>().begin(); it != all_of<T>().end(); ++it) {
    if (it->get() != handle) continue;
    all_of<T>().erase(it);
    --world().alive[kind];
    return kSuccess;
  }
  world().violate(fmt::format("{} of an object that is not there", call));
  return kInvalidHandle;
}

// Waiting is no part of a recording.
Status refuse_wait(const char* call) {
  Stream* s = capturing();
  if (s == nullptr) return kSuccess;
  world().violate(fmt::format("{} while a stream is recorded", call));
  s->capture_broken = true;
  return kCaptureUnsupported;
}

bool is_queued(const void* used) {
  for (const auto& s : world().streams)
    for (const Operation& op : s->queue)
      if (op.uses == used) return true;
  return false;
}

}  // namespace

extern "C" {

Status cuStreamCreate(void** to, unsigned) {
  const Call call("cuStreamCreate");
  if (call.status() != kSuccess) return call.status();
  *to = world().streams.insert(std::make_unique<Stream>()).first->get();
  ++world().alive["stream"];
  return kSuccess;
}

Status cuStreamDestroy_v2(void* stream) {
  const Call call("cuStreamDestroy");
  Stream* s = find_stream(stream, "cuStreamDestroy");
  if (s == nullptr) return kInvalidHandle;
  s->execute_until(s->pushed);
  std::erase_if(world().streams, [&](const auto& item) { return item.get() == s; });
  --world().alive["stream"];
  return call.status();
}

Status cuStreamSynchronize(void* stream) {
  const Call call("cuStreamSynchronize");
  Stream* s = find_stream(stream, "cuStreamSynchronize");
  if (s == nullptr) return kInvalidHandle;
  if (const Status refused = refuse_wait("cuStreamSynchronize"); refused != kSuccess) return refused;
  s->execute_until(s->pushed);
  return call.status() != kSuccess ? call.status() : world().sticky;
}

Status cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const Call call("cuStreamWaitEvent");
  Stream* s = find_stream(stream, "cuStreamWaitEvent");
  const Event* e = find<Event>(event, "cuStreamWaitEvent");
  if (s == nullptr || e == nullptr) return kInvalidHandle;
  s->push({[now = *e] { complete(now); }, "wait"});
  return call.status();
}

Status cuStreamBeginCapture_v2(void* stream, int) {
  const Call call("cuStreamBeginCapture");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuStreamBeginCapture");
  if (s == nullptr) return kInvalidHandle;
  if (s->capture) {
    world().violate("cuStreamBeginCapture of a stream that is recorded");
    return kInvalidValue;
  }
  s->capture.emplace();
  s->capture_broken = false;
  return kSuccess;
}

Status cuStreamEndCapture(void* stream, void** graph) {
  const Call call("cuStreamEndCapture");
  Stream* s = find_stream(stream, "cuStreamEndCapture");
  if (s == nullptr) return kInvalidHandle;
  if (!s->capture) {
    world().violate("cuStreamEndCapture of a stream that is not recorded");
    return kInvalidValue;
  }
  Graph recorded = std::move(*s->capture);
  s->capture.reset();
  if (s->capture_broken) return kCaptureInvalidated;
  Graph* made = make<Graph>("graph");
  *made = std::move(recorded);
  *graph = made;
  return call.status();
}

Status cuEventCreate(void** to, unsigned flags) {
  const Call call("cuEventCreate");
  if (call.status() != kSuccess) return call.status();
  constexpr unsigned kDisableTiming = 2;
  auto* made = make<Event>("event");
  made->timed = (flags & kDisableTiming) == 0;
  *to = made;
  return kSuccess;
}

Status cuEventDestroy_v2(void* event) {
  const Call call("cuEventDestroy");
  return destroy<Event>(event, "event", "cuEventDestroy");
}

Status cuEventRecord(void* event, void* stream) {
  const Call call("cuEventRecord");
  if (call.status() != kSuccess) return call.status();
  Stream* s = find_stream(stream, "cuEventRecord");
  auto* e = find<Event>(event, "cuEventRecord");
  if (s == nullptr || e == nullptr) return kInvalidHandle;
  e->stream = s, e->after = s->pushed, e->work = s->work, e->queries = 0;
  return kSuccess;
}

// Not ready for a while, then a step further: a program that only asks comes to its end.
Status cuEventQuery(void* event) {
  const Call call("cuEventQuery");
  if (call.status() != kSuccess) return call.status();
  auto* e = find<Event>(event, "cuEventQuery");
  if (e == nullptr) return kInvalidHandle;
  if (const Status refused = refuse_wait("cuEventQuery"); refused != kSuccess) return refused;
  if (is_complete(*e)) return kSuccess;
  constexpr int64_t kAsked = 3;
  if (++e->queries % kAsked == 0) e->stream->execute_one();
  return kNotReady;
}

Status cuEventSynchronize(void* event) {
  const Call call("cuEventSynchronize");
  if (call.status() != kSuccess) return call.status();
  const auto* e = find<Event>(event, "cuEventSynchronize");
  if (e == nullptr) return kInvalidHandle;
  if (const Status refused = refuse_wait("cuEventSynchronize"); refused != kSuccess) return refused;
  complete(*e);
  return world().sticky;
}

Status cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const Call call("cuEventElapsedTime");
  const auto *a = find<Event>(begin, "cuEventElapsedTime"), *b = find<Event>(end, "cuEventElapsedTime");
  if (a == nullptr || b == nullptr) return kInvalidHandle;
  if (!a->timed || !b->timed) return kInvalidHandle;
  if (!is_complete(*a) || !is_complete(*b)) return kNotReady;
  *milliseconds = static_cast<float>(b->work - a->work);  // a millisecond for each operation, and each node of a graph
  return call.status();
}

Status cuGraphInstantiateWithFlags(void** to, void* graph, unsigned long long) {
  const Call call("cuGraphInstantiateWithFlags");
  if (call.status() != kSuccess) return call.status();
  const auto* g = find<Graph>(graph, "cuGraphInstantiateWithFlags");
  if (g == nullptr) return kInvalidHandle;
  auto* made = make<ExecutableGraph>("executable graph");
  made->graph = *g;
  *to = made;
  return kSuccess;
}

Status cuGraphUpload(void* exec, void* stream) {
  const Call call("cuGraphUpload");
  Stream* s = find_stream(stream, "cuGraphUpload");
  if (find<ExecutableGraph>(exec, "cuGraphUpload") == nullptr || s == nullptr) return kInvalidHandle;
  s->push({[] { ++world().counts["uploads"]; }, "upload", exec});
  return call.status();
}

Status cuGraphLaunch(void* exec, void* stream) {
  const Call call("cuGraphLaunch");
  if (call.status() != kSuccess) return call.status();
  auto* g = find<ExecutableGraph>(exec, "cuGraphLaunch");
  Stream* s = find_stream(stream, "cuGraphLaunch");
  if (g == nullptr || s == nullptr) return kInvalidHandle;
  s->push({[nodes = &g->graph.nodes] {
             for (const Operation& op : *nodes) op.execute();
           },
           "graph", g, g->graph.nodes.size() + 1});  // one: the launch
  return kSuccess;
}

Status cuGraphExecDestroy(void* exec) {
  const Call call("cuGraphExecDestroy");
  if (is_queued(exec)) {
    world().violate("cuGraphExecDestroy of a graph that is queued");
    complete_all();
  }
  return destroy<ExecutableGraph>(exec, "executable graph", "cuGraphExecDestroy");
}

Status cuGraphDestroy(void* graph) {
  const Call call("cuGraphDestroy");
  return destroy<Graph>(graph, "graph", "cuGraphDestroy");
}

}  // extern "C"

}  // namespace heddle::fake_cuda
