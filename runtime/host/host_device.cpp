#include "runtime/host/host_device.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <variant>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/onednn.h"
#include "runtime/host/thread_pool.h"
#include "runtime/host/winograd_call.h"
#include "runtime/process/process_memory.h"

namespace heddle::runtime {
namespace {

// One more thread costs about two microseconds per launch; each should have this much to do.
constexpr double kSecondsPerThread = 4e-6;
// Lower bounds for one thread of generated text: bytes per second from the second-level cache, and operations per
// second.
constexpr double kBytesPerSecond = 1.2e10, kFlopsPerSecond = 6e9;
// The same for row reductions: short rows, of about ten elements, leave most of a vector idle.
constexpr double kRowFlopsPerSecond = 3e9;

// An argument that is `bytes` further on with each turn of a loop.
struct Stride {
  size_t loop = 0, argument = 0;
  int64_t bytes = 0;
};
struct Launch {
  HostKernel kernel = nullptr;
  std::vector<void*> arguments;   // buffers, then the scalars below
  std::vector<uint64_t> scalars;  // their bytes; moved with the launch, never copied
  int blocks = 0;                 // fixed number of blocks; 0: one per thread
  int threads = 1;                // at most
  std::vector<Stride> strides = {};
};
struct Copy {
  void* to;
  const void* from;
  size_t bytes;
  std::vector<int64_t> to_strides = {}, from_strides = {};
};
struct Step;
struct Loop {
  int64_t count = 0;
  size_t depth = 0;  // loops around it
  std::vector<Step> steps;
};
struct Step {
  std::variant<Launch, OnednnCall, WinogradCall, Copy, Loop> what;
  std::string title;
};

int threads_for(const codegen::Kernel& k, int available) {
  const double bytes = static_cast<double>(k.bytes_read + k.bytes_written);
  const double seconds =
      std::max(bytes / kBytesPerSecond, k.flops / (k.schedule == "rows" ? kRowFlopsPerSecond : kFlopsPerSecond));
  const int64_t limit = k.blocks > 0 ? k.blocks : std::max<int64_t>(k.max_blocks, 1);
  const double worth = std::clamp(seconds / kSecondsPerThread, 1.0, static_cast<double>(available));
  return static_cast<int>(std::min<int64_t>(static_cast<int64_t>(worth), limit));
}

void execute(const Launch& l, ThreadPool& pool) {
  constexpr int kItemsPerThread = 4;  // so that a late thread's work can be taken over
  const int blocks = l.blocks > 0 ? l.blocks : l.threads;
  const int items = l.threads == 1 ? 1 : std::min(blocks, l.threads * kItemsPerThread);
  pool.run(items, [&](int64_t item) {
    const Share mine = share(blocks, item, items);
    for (int64_t b = mine.begin; b < mine.end; ++b) l.kernel(l.arguments.data(), static_cast<int>(b), blocks);
  });
}
void execute(OnednnCall& call, ThreadPool& pool) { call.run(pool); }
void execute(WinogradCall& call, ThreadPool& pool) { call.run(pool); }
void execute(const Copy& c, ThreadPool&) { std::memcpy(c.to, c.from, c.bytes); }

// --- loops: what a step touches moves on from turn to turn, and back behind the last one ---

void advance(Step& step, size_t loop, int64_t turns);

void advance(Launch& l, size_t loop, int64_t turns) {
  for (const Stride& s : l.strides)
    if (s.loop == loop) l.arguments[s.argument] = static_cast<char*>(l.arguments[s.argument]) + s.bytes * turns;
}
void advance(OnednnCall& call, size_t loop, int64_t turns) { call.advance(loop, turns); }
void advance(WinogradCall& call, size_t loop, int64_t turns) { call.advance(loop, turns); }
void advance(Copy& c, size_t loop, int64_t turns) {
  if (loop < c.to_strides.size()) c.to = static_cast<char*>(c.to) + c.to_strides[loop] * turns;
  if (loop < c.from_strides.size()) c.from = static_cast<const char*>(c.from) + c.from_strides[loop] * turns;
}
void advance(Loop& inner, size_t loop, int64_t turns) {
  for (Step& step : inner.steps) advance(step, loop, turns);
}
void advance(Step& step, size_t loop, int64_t turns) {
  std::visit([&](auto& what) { advance(what, loop, turns); }, step.what);
}

void execute(Loop& loop, ThreadPool& pool) {
  for (int64_t t = 0; t < loop.count; ++t) {
    for (Step& step : loop.steps) std::visit([&](auto& what) { execute(what, pool); }, step.what);
    advance(loop, loop.depth, 1);
  }
  advance(loop, loop.depth, -loop.count);
}

constexpr size_t kMargin = 4096;  // readable bytes before and behind each allocation
constexpr size_t kHugePage = size_t{1} << 21;

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

struct Mapping {
  void* begin = nullptr;
  size_t bytes = 0;
};

constexpr const char* kSmaller = "a smaller batch takes less";

// Those that are no loops, in their order.
void list_steps(const std::vector<Step>& steps, std::vector<StepTime>& list) {
  for (const Step& step : steps) {
    if (const auto* loop = std::get_if<Loop>(&step.what))
      list_steps(loop->steps, list);
    else
      list.push_back({step.title, 0});
  }
}

// What a run of an entry has taken so far.
struct StepTimer {
  StepProfile profile;
  std::vector<std::vector<ThreadPool::TimeShare>> threads;  // of the step under way
  double last = 0;                                          // when the step before ended
  bool spans = false;

  void step_done(size_t step) {
    const double end = seconds_now();
    profile.steps[step].seconds += end - last;
    if (spans) profile.spans.push_back({step, 0, last, end});
    for (size_t t = 0; t < threads.size(); ++t) {
      for (const ThreadPool::TimeShare& s : threads[t])
        if (t > 0) profile.spans.push_back({step, static_cast<int>(t), s.begin, s.end});
      threads[t].clear();
    }
    last = spans ? seconds_now() : end;
  }
};

}  // namespace

struct HostDevice::Impl {
  HostOptions options;
  ThreadPool pool;
  HostLibrary library;
  Segments segments{};
  uint64_t submissions = 0;
  std::vector<std::vector<Step>> entries;
  std::map<void*, Mapping> allocations;

  explicit Impl(HostOptions o)
      : options(std::move(o)), pool(options.threads > 0 ? options.threads : available_processors()) {}

  // The system may grant more memory than it has, and end the process when it is used. So check first.
  void require_room(int64_t bytes) const {
    int64_t all = bytes;
    for (const auto& [memory, mapping] : allocations) all += static_cast<int64_t>(mapping.bytes);
    if (const int64_t most = machine_memory_bytes(); all > most || all < bytes)
      throw UserError(ExitCode::limit, fmt::format("{} bytes of memory are needed, and this machine has {}", all, most),
                      kSmaller);
  }

  void* locate(const codegen::Address& a) const {
    return static_cast<char*>(segments[static_cast<size_t>(a.segment)]) + a.offset;
  }
  std::vector<void*> locate(const std::vector<codegen::Argument>& list) const {
    std::vector<void*> out;
    out.reserve(list.size());
    for (const auto& a : list) out.push_back(locate(a.at));
    return out;
  }

  Step bind(const codegen::Program& program, const codegen::Step& step, size_t depth) const {
    if (const auto* loop = std::get_if<codegen::Loop>(&step.what)) {
      Loop bound{.count = loop->count, .depth = depth, .steps = {}};
      for (const codegen::Step& inner : loop->steps) bound.steps.push_back(bind(program, inner, depth + 1));
      return {std::move(bound), loop->title};
    }
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) return bind(program, *launch);
    if (const auto* call = std::get_if<codegen::Library>(&step.what)) return bind(*call, depth);
    return bind(std::get<codegen::Copy>(step.what));
  }

  Step bind(const codegen::Program& program, const codegen::Launch& l) const {
    const codegen::Kernel& k = program.kernels[static_cast<size_t>(l.kernel)];
    HostKernel function = library.find(k.name);
    HEDDLE_CHECK(function != nullptr, fmt::format("kernel '{}' has no host entry in its program's text", k.name));
    HEDDLE_CHECK(std::ssize(l.arguments) == k.arguments, fmt::format("kernel '{}' takes {} arguments, a launch has {}",
                                                                     k.name, k.arguments, l.arguments.size()));
    HEDDLE_CHECK(l.scalars.size() == k.scalars.size(), fmt::format("kernel '{}' takes {} scalars, a launch has {}",
                                                                   k.name, k.scalars.size(), l.scalars.size()));
    Launch launch{.kernel = function,
                  .arguments = locate(l.arguments),
                  .scalars = {},
                  .blocks = static_cast<int>(k.blocks),
                  .threads = threads_for(k, pool.threads())};
    for (size_t i = 0; i < l.arguments.size(); ++i)
      for (size_t loop = 0; loop < l.arguments[i].at.strides.size(); ++loop)
        if (const int64_t bytes = l.arguments[i].at.strides[loop]; bytes != 0)
          launch.strides.push_back({loop, i, bytes});
    for (const codegen::ScalarArgument& s : l.scalars) launch.scalars.push_back(s.bits);
    for (uint64_t& bits : launch.scalars) launch.arguments.push_back(&bits);
    return {std::move(launch), k.title};
  }
  Step bind(const codegen::Library& call, size_t depth) const {
    const bool in_tiles = call.impl == "winograd";
    if (call.impl != "onednn" && !in_tiles) {
      throw UserError(ExitCode::missing,
                      fmt::format("'{}' calls {}, which the host device does not have", call.title, call.impl),
                      "compile the program for the target 'host'");
    }
    std::vector<std::vector<void*>> next;
    for (size_t loop = 0; loop < depth; ++loop) next.push_back(one_turn_later(call, loop));
    if (in_tiles) return {WinogradCall(call, locate(call.arguments), locate(call.workspace.at), next), call.title};
    return {OnednnCall(call, locate(call.arguments), locate(call.workspace.at), next), call.title};
  }
  // The arguments one turn of the loop later; none where they stay.
  std::vector<void*> one_turn_later(const codegen::Library& call, size_t loop) const {
    std::vector<void*> arguments = locate(call.arguments);
    bool moves = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::vector<int64_t>& strides = call.arguments[i].at.strides;
      if (loop >= strides.size() || strides[loop] == 0) continue;
      arguments[i] = static_cast<char*>(arguments[i]) + strides[loop];
      moves = true;
    }
    return moves ? arguments : std::vector<void*>{};
  }
  Step bind(const codegen::Copy& c) const {
    return {Copy{locate(c.to), locate(c.from), static_cast<size_t>(c.bytes), c.to.strides, c.from.strides}, "copy"};
  }

  void execute_step(Step& step) {
    std::visit([&](auto& what) { execute(what, pool); }, step.what);
  }
  // The first of these steps that is no loop has number `first`. Returns the number behind the last.
  size_t execute_timed(std::vector<Step>& steps, size_t first, StepTimer& timer) {
    for (Step& step : steps) {
      if (auto* loop = std::get_if<Loop>(&step.what)) {
        size_t behind = first;
        for (int64_t t = 0; t < loop->count; ++t) {
          behind = execute_timed(loop->steps, first, timer);
          for (Step& inner : loop->steps) advance(inner, loop->depth, 1);
        }
        for (Step& inner : loop->steps) advance(inner, loop->depth, -loop->count);
        first = behind;
      } else {
        execute_step(step);
        timer.step_done(first++);
      }
    }
    return first;
  }
};

HostDevice::HostDevice(HostOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

HostDevice::~HostDevice() {
  for (const auto& [memory, mapping] : impl_->allocations) munmap(mapping.begin, mapping.bytes);
}

std::string HostDevice::description() const {
  const char* plain = impl_->library.check.wrong.empty() ? "" : " without vectorisation (see heddle doctor)";
  const std::optional<PackedCode>& packed = impl_->options.packed;
  return fmt::format("host: {} thread{}, {}{}, oneDNN {}", threads(), threads() == 1 ? "" : "s",
                     packed ? "code by " + packed->maker : find_host_compiler().version, plain, onednn_version());
}

// Pages come zeroed. One more lies before and behind: where a guard holds for some elements of a
// vector only, GCC 12 may load the whole vector and choose afterwards, so up to 63 bytes beside an
// array are read, and its first and last array must not end at a page that is not there. From half
// a huge page on, memory is made of huge pages where the system has them: mnist_mlp's step takes
// 0.95 of the time.
void* HostDevice::allocate(int64_t bytes, Memory) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  const size_t page = size >= kHugePage / 2 ? kHugePage : kMargin;
  impl_->require_room(bytes);
  const size_t length = round_up(size, page) + page + 2 * kMargin;
  void* begin = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    throw UserError(ExitCode::limit, fmt::format("the system does not give {} bytes of memory", bytes), kSmaller);
  if (page == kHugePage) madvise(begin, length, MADV_HUGEPAGE);
  const auto first = reinterpret_cast<uintptr_t>(begin) + kMargin;
  void* inside = static_cast<char*>(begin) + (round_up(first, page) - reinterpret_cast<uintptr_t>(begin));
  impl_->allocations.emplace(inside, Mapping{begin, length});
  return inside;
}

void HostDevice::release(void* memory) {
  const auto it = impl_->allocations.find(memory);
  HEDDLE_CHECK(it != impl_->allocations.end(), "release of memory that was not allocated here");
  munmap(it->second.begin, it->second.bytes);
  impl_->allocations.erase(it);
}

// Copies in several threads, because one core cannot use the full memory bandwidth.
void HostDevice::write(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kPiece = int64_t{1} << 15;
  const int64_t pieces = std::min<int64_t>((bytes + kPiece - 1) / kPiece, ThreadPool::kMostItems);
  impl_->pool.run(pieces, [&](int64_t i) {
    const Share mine = share(bytes, i, pieces);
    std::memcpy(static_cast<char*>(to) + mine.begin, static_cast<const char*>(from) + mine.begin,
                static_cast<size_t>(mine.size()));
  });
}
void HostDevice::read(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }

void HostDevice::load(const codegen::Program& program, const Segments& segments) {
  Impl& d = *impl_;
  if (d.options.packed) d.options.packed->require(program);
  d.segments = segments;
  d.library = {};
  if (!program.kernels.empty()) {
    d.library = d.options.packed
                    ? load_for_host(program.source, *d.options.packed)
                    : compile_for_host(
                          program.source,
                          KernelCache(d.options.kernel_cache.empty() ? kernel_cache_folder() : d.options.kernel_cache));
  }
  d.pool.run_on_each_thread([&d] {
    d.library.prepare_thread();
    onednn_prepare_thread();
  });
  d.entries.clear();
  for (const codegen::Entry& entry : program.entries) {
    std::vector<Step>& steps = d.entries.emplace_back();
    steps.reserve(entry.steps.size());
    for (const codegen::Step& step : entry.steps) steps.push_back(d.bind(program, step, 0));
  }
}

uint64_t HostDevice::submit(size_t entry, int64_t repeats) {
  std::vector<Step>& steps = impl_->entries.at(entry);
  for (int64_t i = 0; i < repeats; ++i)
    for (Step& step : steps) impl_->execute_step(step);
  return ++impl_->submissions;
}
uint64_t HostDevice::poll() { return impl_->submissions; }
void HostDevice::wait(uint64_t submission) {
  HEDDLE_CHECK(submission <= impl_->submissions, "wait for a submission that was made");
}

int HostDevice::threads() const { return impl_->pool.threads(); }
bool HostDevice::loaded_from_cache() const { return impl_->library.cached; }

// A step's time runs from the end of the step before to its own end, so the times add up to the whole run.
StepProfile HostDevice::profile(size_t entry, int64_t repeats, bool spans) {
  std::vector<Step>& steps = impl_->entries.at(entry);
  StepTimer timer{.profile = {}, .threads = {}, .last = 0, .spans = spans};
  list_steps(steps, timer.profile.steps);
  struct Noted {  // until this function ends, by an exception too
    ThreadPool& pool;
    ~Noted() { pool.note_shares(nullptr); }
  } const noted{impl_->pool};
  if (spans) timer.threads.resize(static_cast<size_t>(threads()));
  if (spans) impl_->pool.note_shares(&timer.threads);
  timer.last = seconds_now();
  for (int64_t r = 0; r < repeats; ++r) {
    timer.profile.spans.clear();
    impl_->execute_timed(steps, 0, timer);
  }
  for (StepTime& t : timer.profile.steps) t.seconds /= static_cast<double>(repeats);
  return std::move(timer.profile);
}

}  // namespace heddle::runtime
