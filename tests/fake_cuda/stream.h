// Streams as queues that are worked off as late as a driver may: when somebody waits.
#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "tests/fake_cuda/world.h"

namespace heddle::fake_cuda {

// Something to be done in its turn; it may be done more than once, as a node of a graph.
struct Operation {
  std::function<void()> execute;
  std::string what;            // "kernel k_feed"
  const void* uses = nullptr;  // an executable graph or a module that must live until then
  uint64_t nodes = 1;          // of a graph: what it takes, in the fake's milliseconds
};

struct Graph {
  std::vector<Operation> nodes;
};

// A place in a stream's queue.
struct Event {
  Stream* stream = nullptr;  // of the last record; nullptr: none yet
  uint64_t after = 0;        // operations of the stream
  uint64_t work = 0;         // their nodes
  bool timed = false;
  int64_t queries = 0;  // in a row that found it not ready
};

struct Stream {
  std::deque<Operation> queue;
  uint64_t pushed = 0, executed = 0;
  uint64_t work = 0;             // nodes of what was pushed
  std::optional<Graph> capture;  // what is being recorded
  bool capture_broken = false;
  bool runs_kernels = false;

  // Queues the operation, or records it.
  void push(Operation op);
  void execute_one();
  void execute_until(uint64_t count);
};

bool is_complete(const Event& e);
void complete(const Event& e);
void complete_all();
// Whether any stream has work to do, or records.
bool busy();
Stream* capturing();
// The stream of a handle; nullptr, and a violation, where there is none.
Stream* find_stream(void* handle, const char* call);

}  // namespace heddle::fake_cuda
