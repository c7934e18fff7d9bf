#include "tests/fake_cuda/stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::fake_cuda {

void Stream::push(Operation op) {
  if (capture) {
    capture->nodes.push_back(std::move(op));
    return;
  }
  work += op.nodes;
  queue.push_back(std::move(op));
  ++pushed;
}

void Stream::execute_one() {
  const Operation op = std::move(queue.front());
  queue.pop_front();
  ++executed;
  op.execute();
}

void Stream::execute_until(uint64_t count) {
  while (executed < count) execute_one();
}

bool is_complete(const Event& e) { return e.stream == nullptr || e.stream->executed >= e.after; }

void complete(const Event& e) {
  if (e.stream != nullptr) e.stream->execute_until(e.after);
}

void complete_all() {
  for (const auto& s : world().streams) s->execute_until(s->pushed);
}

bool busy() {
  return std::any_of(world().streams.begin(), world().streams.end(),
                     [](const auto& s) { return !s->queue.empty() || s->capture; });
}

Stream* capturing() {
  for (const auto& s : world().streams)
    if (s->capture) return s.get();
  return nullptr;
}

Stream* find_stream(void* handle, const char* call) {
  for (const auto& s : world().streams)
    if (s.get() == handle) return s.get();
  world().violate(fmt::format("{} of a stream that is not there", call));
  return nullptr;
}

}  // namespace heddle::fake_cuda
