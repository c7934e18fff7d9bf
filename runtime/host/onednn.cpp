#include "runtime/host/onednn.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/host/keep_above_zero.h"
#include "runtime/host/onednn_builder.h"
#include "runtime/host/onednn_parts.h"
#include "runtime/host/step_memory.h"
#include "runtime/host/wide_sum.h"

// libgomp's, which libdnnl runs on. The header would bring in clang's own OpenMP runtime beside it.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace heddle::runtime {
namespace {

// Primitives are built for, and run on, the calling thread alone; the caller's own setting is restored.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

std::string unsupported(const codegen::Library& call) {
  if (!call.matrix_product && !call.convolution) return fmt::format("operator {}", call.op);
  if (call.results.size() != 1) return fmt::format("{} results", call.results.size());
  if (call.precision != "f32" && call.precision != "bf16") return fmt::format("precision {}", call.precision);
  std::vector<codegen::TensorDesc> all = call.operands;
  all.insert(all.end(), call.results.begin(), call.results.end());
  for (const auto& t : all) {
    if (call.convolution && t.dims.size() > 5) return fmt::format("a convolution of rank {}", t.dims.size());
    const bool weight = onednn::widens_weight(call) && &t == &all[1];
    if (t.dtype != "f32" && !weight && !onednn::multiplies_bytes(call)) return fmt::format("dtype {}", t.dtype);
    if (std::find(t.dims.begin(), t.dims.end(), 0) != t.dims.end()) return "an empty tensor";
  }
  if (onednn::multiplies_bytes(call)) {
    if (!onednn_multiplies_bytes()) return "bytes on a processor without VNNI";
    return call.epilogue.empty() ? "" : fmt::format("epilogue {} on whole numbers", call.epilogue[0].op);
  }
  auto step = call.epilogue.begin();
  if (step != call.epilogue.end() && step->scale && onednn::widens_weight(call)) ++step;
  if (step != call.epilogue.end() && step->bias) ++step;
  if (step != call.epilogue.end() && step->at_least == 0.0) ++step;
  if (step != call.epilogue.end()) return fmt::format("epilogue {}", step->op);
  const bool gradient = call.convolution && call.convolution->result != codegen::ConvolutionRoles::kMade;
  if (!call.epilogue.empty() && gradient) return "an epilogue on a gradient";
  return {};
}

// oneDNN maps memory for its machine code and does not check whether this succeeds; it would crash.
void require_room() {
  constexpr size_t kNeeded = size_t{32} << 20;
  void* const room = mmap(nullptr, kNeeded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, kNeeded);
}

OnednnParts build(const codegen::Library& call, std::span<void* const> arguments, void* workspace) {
  require_room();
  const OneThread guard;
  return build_onednn(call, arguments, workspace);
}

void add_partials(const OnednnParts& p, Share range) {
  constexpr int64_t kAtOnce = 512;
  std::array<double, kAtOnce> total;
  for (int64_t i = range.begin; i < range.end; i += kAtOnce) {
    const int64_t count = std::min(kAtOnce, range.end - i);
    for (size_t s = 0; s < p.partials.size(); ++s) add_wide(total.data(), p.partials[s] + i, count, s == 0);
    round_wide(p.sum + i, total.data(), count);
  }
}

void apply(const Addition& a) {
  for (int64_t i = 0; i < a.parts; ++i) add_wide(a.total, a.from + i * a.length, a.length, a.first && i == 0);
  if (a.parts > 0 && a.last) round_wide(a.to, a.total, a.length);
}

void apply(const ReluRegion& r) {
  for (int64_t row = 0; row < r.rows; ++row) keep_above_zero(r.first + row * r.stride, r.columns);
}

void apply(const RowProducts& all) {
  RowProduct p = all.first;
  for (int64_t i = 0; i < all.count; ++i, p.a += all.a_apart, p.c += all.c_apart) {
    multiply(p);
    if (p.b != nullptr) p.b += all.b_apart;  // int8 weights are one matrix
  }
}

void apply(const Placement& p) {
  for (int64_t row = 0; row < p.rows; ++row) std::copy_n(p.from + row * p.columns, p.columns, p.to + row * p.stride);
}

template <class T, class Move>
void move_to(T*& pointer, Move move) {
  if (pointer != nullptr) pointer = static_cast<T*>(const_cast<void*>(static_cast<const void*>(move(pointer))));
}

// Replaces each pointer into the call's memory by move(pointer), always in the same order.
template <class Move>
void move_pointers(OnednnParts& p, Move move) {
  for (dnnl::memory& m : p.memories)
    if (void* now = m.get_data_handle()) {
      if (void* then = static_cast<char*>(const_cast<void*>(static_cast<const void*>(move(now)))); then != now)
        m.set_data_handle(then);
    }
  const auto of_tasks = [&](OnednnTasks& tasks) {
    for (OnednnTask& t : tasks) {
      move_to(t.addition.total, move), move_to(t.addition.from, move), move_to(t.addition.to, move);
      move_to(t.relu.first, move), move_to(t.placement.from, move), move_to(t.placement.to, move);
      RowProduct& rows = t.rows.first;
      move_to(rows.a, move), move_to(rows.b, move), move_to(rows.wholes, move), move_to(rows.room, move);
      move_to(rows.scale, move), move_to(rows.bias, move), move_to(rows.c, move);
    }
  };
  of_tasks(p.before);
  for (OnednnTasks& tasks : p.slices) of_tasks(tasks);
  of_tasks(p.after);
  for (float*& partial : p.partials) move_to(partial, move);
  move_to(p.sum, move);
}

std::vector<const char*> pointers_of(OnednnParts& p) {
  std::vector<const char*> all;
  move_pointers(p, [&](const void* pointer) {
    all.push_back(static_cast<const char*>(pointer));
    return pointer;
  });
  return all;
}

}  // namespace

struct OnednnCall::Impl {
  std::string title;
  OnednnParts parts;
  std::vector<std::vector<std::ptrdiff_t>> strides = {};  // by loop, of each pointer
  bool ran = false;                                       // once; what a primitive makes in its first run, it may keep

  void run(const OnednnTask& task) {
    if (!ran) return execute(task);
    const StepMemory scope;
    execute(task);
  }
  void execute(const OnednnTask& task) {
    if (task.rows.count > 0)
      apply(task.rows);
    else
      execute_primitive(task);
    apply(task.addition);
    apply(task.relu);
    apply(task.placement);
  }
  void execute_primitive(const OnednnTask& task) const {
    const dnnl_status_t status = dnnl_primitive_execute(task.primitive.get(), parts.stream.get(),
                                                        static_cast<int>(task.arguments.size()), task.arguments.data());
    HEDDLE_CHECK(status == dnnl_success,
                 fmt::format("dnnl_primitive_execute: status {} in '{}'", static_cast<int>(status), title));
  }
};

OnednnNeeds onednn_needs(const codegen::Library& call) {
  if (std::string reason = unsupported(call); !reason.empty()) return {-1, std::move(reason)};
  try {
    return {build(call, {}, nullptr).workspace, {}};
  } catch (const dnnl::error& e) {
    return {-1, e.what()};
  }
}

OnednnCall::OnednnCall(const codegen::Library& call, std::span<void* const> arguments, void* workspace,
                       const std::vector<std::vector<void*>>& next) {
  const OnednnNeeds measured = onednn_needs(call);
  if (!measured.refusal.empty()) {
    throw UserError(ExitCode::failed, fmt::format("oneDNN {} cannot run {} '{}': {}", onednn_version(), call.op,
                                                  call.title, measured.refusal));
  }
  if (measured.workspace > call.workspace.bytes) {
    throw UserError(ExitCode::failed,
                    fmt::format("oneDNN {} needs {} bytes of workspace for '{}', but {} are planned", onednn_version(),
                                measured.workspace, call.title, call.workspace.bytes),
                    "compile the program again with this version of oneDNN");
  }
  impl_ = std::make_unique<Impl>(Impl{call.title, build(call, arguments, workspace)});
  // Building the call with the addresses of one turn later shows which pointers move, and how far. This takes as long
  // as building the call, so it is skipped for calls that do not move.
  const std::vector<const char*> here = pointers_of(impl_->parts);
  for (const std::vector<void*>& later : next) {
    std::vector<std::ptrdiff_t>& strides = impl_->strides.emplace_back();
    if (later.empty()) continue;
    OnednnParts moved = build(call, later, workspace);
    const std::vector<const char*> there = pointers_of(moved);
    HEDDLE_CHECK(there.size() == here.size(), "a call consists of the same parts wherever its arguments are");
    for (size_t i = 0; i < here.size(); ++i) strides.push_back(there[i] - here[i]);
  }
}

void OnednnCall::advance(size_t loop, int64_t turns) {
  if (loop >= impl_->strides.size() || impl_->strides[loop].empty()) return;
  const std::vector<std::ptrdiff_t>& strides = impl_->strides[loop];
  size_t i = 0;
  move_pointers(impl_->parts,
                [&](const void* p) -> const void* { return static_cast<const char*>(p) + strides[i++] * turns; });
}

OnednnCall::~OnednnCall() = default;
OnednnCall::OnednnCall(OnednnCall&&) noexcept = default;

void OnednnCall::run(ThreadPool& pool) {
  const OneThread guard;
  OnednnParts& p = impl_->parts;
  for (const OnednnTask& task : p.before) impl_->run(task);
  pool.run(static_cast<int64_t>(p.slices.size()), [&](int64_t slice) {
    const OneThread one;
    for (const OnednnTask& task : p.slices[static_cast<size_t>(slice)]) impl_->run(task);
  });
  if (p.partials.size() > 1) {
    constexpr int64_t kPerItem = 1 << 13;  // floats
    const int64_t items = (p.length + kPerItem - 1) / kPerItem;
    pool.run(items, [&](int64_t item) { add_partials(p, share(p.length, item, items)); });
  }
  for (const OnednnTask& task : p.after) impl_->run(task);
  impl_->ran = true;
}

void onednn_prepare_thread() { const OneThread guard; }

std::string onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
}

int64_t onednn_code_bytes() { return int64_t{dnnl_version()->major < 3 ? 12 : 28} << 20; }

bool onednn_multiplies_bytes() {
  const unsigned used = dnnl_get_effective_cpu_isa();
  return (used & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni;
}

std::string onednn_instructions() {
  const unsigned used = dnnl_get_effective_cpu_isa();
  const auto among = [&](unsigned isa) { return (used & isa) == isa; };
  if (among(dnnl_cpu_isa_avx512_core)) return "AVX-512";
  if (among(dnnl_cpu_isa_avx2)) return "AVX2";
  return among(dnnl_cpu_isa_avx) ? "AVX" : "no vectors beyond SSE";
}

}  // namespace heddle::runtime
