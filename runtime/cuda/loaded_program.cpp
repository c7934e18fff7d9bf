#include "runtime/cuda/loaded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::runtime {
namespace {

constexpr std::array<int64_t, 3> kGraphSteps = {64, 8, 1};
// A graph of several steps is recorded only where the loops in it make at most so many launches.
constexpr int64_t kMostRecorded = 4096;
constexpr const char *kCublaslt = "cublaslt", *kCudnn = "cudnn";

cuda::Address address(const void* p) { return std::bit_cast<uintptr_t>(p); }

// The number of launches in one run of the entry; 0 where it has no loops.
int64_t launches_of_loops(const codegen::Entry& entry) {
  int64_t launches = 0;
  bool loops = false;
  codegen::for_each_step(entry.steps, [&](const codegen::Step&, int64_t times) {
    launches += times;
    loops = loops || times > 1;
  });
  return loops ? launches : 0;
}

bool calls_library(const codegen::Program& program, const std::string& impl) {
  bool calls = false;
  for (const codegen::Entry& entry : program.entries)
    codegen::for_each_step(entry.steps, [&](const codegen::Step& step, int64_t) {
      const auto* call = std::get_if<codegen::Library>(&step.what);
      calls = calls || (call != nullptr && call->impl == impl);
    });
  return calls;
}

std::vector<std::string> images_of(const std::string& source, const LoadOptions& load) {
  const CudaOptions options{
      .arch = load.arch, .ptx = load.ptx, .parts = load.ptx ? 1 : kCompileParts, .persistent = load.persistent};
  if (load.packed == nullptr) {
    CudaBinary binary = compile_for_cuda(source, options, KernelCache(load.kernel_cache));
    return load.ptx ? std::move(binary.ptx) : std::move(binary.images);
  }
  std::vector<std::string> images;
  for (const std::string& part : cuda_parts(source, options))
    images.emplace_back(load.packed->find(part, load.ptx ? ".ptx" : ".cubin"));
  return images;
}

}  // namespace

LoadedProgram::LoadedProgram(const Driver& driver, const codegen::Program& program, const Segments& segments,
                             LoadOptions options)
    : driver_(driver), segments_(segments), options_(std::move(options)) {
  if (calls_library(program, kCublaslt)) cublaslt_ = std::make_unique<Cublaslt>();
  if (calls_library(program, kCudnn)) cudnn_ = std::make_unique<Cudnn>(options_.stream);
  if (!program.kernels.empty()) load_modules(program);
  for (const codegen::Entry& entry : program.entries) entries_.push_back(load(program, entry));
  upload();
}

// --- loading ---

void LoadedProgram::load_modules(const codegen::Program& program) {
  for (const std::string& image : images_of(program.source, options_))
    check(driver_.ModuleLoadData(modules_.emplace_back(driver_).put(), image.c_str()), "cuModuleLoadData");
}

cuda::Address LoadedProgram::locate(const codegen::Address& a) const {
  return address(segments_[static_cast<size_t>(a.segment)]) + static_cast<cuda::Address>(a.offset);
}

// Finds a kernel by name in any of the modules.
cuda::Function LoadedProgram::find(const std::string& name) const {
  for (const ModuleHandle& m : modules_) {
    cuda::Function f = nullptr;
    const cuda::Status status = driver_.ModuleGetFunction(&f, m.get(), name.c_str());
    if (status == cuda::kNotFound) continue;
    check(status, "cuModuleGetFunction");
    return f;
  }
  HEDDLE_CHECK(false, fmt::format("kernel '{}' is in no module of its program", name));
  return nullptr;
}

// A fixed number of blocks, or as many as run at once.
unsigned LoadedProgram::grid_of(cuda::Function f, const codegen::Kernel& k) const {
  if (k.blocks > 0) return static_cast<unsigned>(k.blocks);
  int resident = 0;
  check(driver_.OccupancyMaxActiveBlocks(&resident, f, static_cast<int>(k.block), static_cast<size_t>(k.shared_bytes)),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const int64_t most = std::max<int64_t>(1, int64_t{resident} * options_.multiprocessors);
  return static_cast<unsigned>(std::clamp<int64_t>(k.max_blocks, 1, most));
}

LoadedProgram::Launch LoadedProgram::bind_kernel(const codegen::Kernel& k) const {
  Launch launch;
  launch.function = find(k.name);
  // A block gets 48 KB without asking for more, less what its kernel declares itself, which is not known here.
  if (k.shared_bytes > 0)
    check(driver_.FuncSetAttribute(launch.function, cuda::kMaxDynamicSharedBytes, static_cast<int>(k.shared_bytes)),
          "cuFuncSetAttribute");
  launch.grid = grid_of(launch.function, k);
  launch.block = static_cast<unsigned>(k.block);
  launch.shared = static_cast<unsigned>(k.shared_bytes);
  return launch;
}

LoadedProgram::Step LoadedProgram::bind(const codegen::Program& program, const codegen::Step& step,
                                        size_t depth) const {
  if (const auto* loop = std::get_if<codegen::Loop>(&step.what)) {
    if (options_.persistent && loop->persistent >= 0)
      return {bind_turns(program.kernels[static_cast<size_t>(loop->persistent)]), loop->title};
    Loop bound{.count = loop->count, .depth = depth, .steps = {}};
    for (const codegen::Step& inner : loop->steps) bound.steps.push_back(bind(program, inner, depth + 1));
    return {std::move(bound), loop->title};
  }
  if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) return bind(program, *launch);
  if (const auto* call = std::get_if<codegen::Library>(&step.what)) return bind(program, *call);
  return bind(std::get<codegen::Copy>(step.what));
}
LoadedProgram::Step LoadedProgram::bind(const codegen::Program& program, const codegen::Launch& l) const {
  const codegen::Kernel& k = program.kernels[static_cast<size_t>(l.kernel)];
  HEDDLE_CHECK(std::ssize(l.arguments) == k.arguments && l.scalars.size() == k.scalars.size(),
               fmt::format("a launch has the arguments of its kernel '{}'", k.name));
  Launch launch = bind_kernel(k);
  for (const codegen::Argument& a : l.arguments) {
    launch.values.push_back(locate(a.at));
    launch.strides.push_back(a.at.strides);
  }
  for (const codegen::ScalarArgument& s : l.scalars) launch.values.push_back(s.bits);
  for (uint64_t& v : launch.values) launch.parameters.push_back(&v);
  return {std::move(launch), k.title};
}
LoadedProgram::Step LoadedProgram::bind(const codegen::Copy& c) const {
  return {Copy{locate(c.to), locate(c.from), static_cast<size_t>(c.bytes), c.to.strides, c.from.strides}, "copy"};
}
template <class Call, class Library>
LoadedProgram::Step LoadedProgram::bind_call(const Library& library, const codegen::Library& call) const {
  std::vector<typename Call::Place> places;
  for (const codegen::Argument& a : call.arguments) places.push_back({locate(a.at), a.at.strides});
  Call bound(library, call, std::move(places), locate(call.workspace.at));
  // Runs the call once before it is recorded: the library loads its kernel at the first use, which stream capture might
  // not allow. All memory is zero when a program is loaded, so the result is zero, too.
  launch(bound);
  check(driver_.StreamSynchronize(options_.stream), "cuStreamSynchronize");
  return {std::move(bound), call.title};
}
LoadedProgram::Step LoadedProgram::bind(const codegen::Program& program, const codegen::Library& call) const {
  if (call.impl == kCublaslt) return bind_call<CublasltCall>(*cublaslt_, call);
  if (call.impl == kCudnn) return bind_call<CudnnCall>(*cudnn_, call);
  throw UserError(ExitCode::missing,
                  fmt::format("'{}' calls {}, which the CUDA device does not have", call.title, call.impl),
                  fmt::format("compile the program for a GPU: it was made for '{}'", program.target));
}

// The segments' addresses; the number of steps comes with each launch.
LoadedProgram::Launch LoadedProgram::bind_persistent(const codegen::Kernel& k) const {
  Launch launch = bind_kernel(k);
  for (void* segment : segments_) launch.values.push_back(address(segment));
  return launch;
}

// One launch for all turns of a loop.
LoadedProgram::Launch LoadedProgram::bind_turns(const codegen::Kernel& k) const {
  Launch launch = bind_persistent(k);
  launch.cooperative = true;
  launch.values.push_back(1);
  for (uint64_t& v : launch.values) launch.parameters.push_back(&v);
  return launch;
}

LoadedProgram::Entry LoadedProgram::load(const codegen::Program& program, const codegen::Entry& entry) const {
  Entry loaded;
  for (const codegen::Step& step : entry.steps) loaded.steps.push_back(bind(program, step, 0));
  if (options_.persistent && entry.persistent >= 0)
    loaded.persistent = bind_persistent(program.kernels[static_cast<size_t>(entry.persistent)]);
  if (loaded.steps.empty() || loaded.persistent) return loaded;
  for (const int64_t steps : kGraphSteps)
    if (steps == 1 || (entry.fed_rows > 0 && steps * launches_of_loops(entry) <= kMostRecorded))
      loaded.graphs.emplace(steps, record(loaded.steps, steps));
  return loaded;
}

GraphExecHandle LoadedProgram::record_step(size_t entry, size_t step, int64_t copies) {
  return record({single_steps(entry).at(step).step, 1}, copies);
}

std::vector<LoadedProgram::SingleStep> LoadedProgram::single_steps(size_t entry) {
  std::vector<SingleStep> list;
  const auto add = [&](const auto& self, std::vector<Step>& steps, int64_t times) -> void {
    for (Step& s : steps) {
      if (auto* loop = std::get_if<Loop>(&s.what))
        self(self, loop->steps, times * loop->count);
      else
        list.push_back({&s, times});
    }
  };
  add(add, entries_.at(entry).steps, 1);
  return list;
}

GraphExecHandle LoadedProgram::record(std::span<Step> steps, int64_t repeats) const {
  GraphHandle graph(driver_);
  GraphExecHandle exec(driver_);
  check(driver_.StreamBeginCapture(options_.stream, cuda::kCaptureThreadLocal), "cuStreamBeginCapture");
  try {
    for (int64_t i = 0; i < repeats; ++i)
      for (Step& s : steps) launch(s);
  } catch (...) {
    driver_.StreamEndCapture(options_.stream, graph.put());  // the stream is of use again
    throw;
  }
  check(driver_.StreamEndCapture(options_.stream, graph.put()), "cuStreamEndCapture");
  check(driver_.GraphInstantiate(exec.put(), graph.get(), 0), "cuGraphInstantiateWithFlags");
  return exec;
}

// Once nothing else can fail: a graph must not be destroyed while its upload is queued.
void LoadedProgram::upload() const {
  try {
    for (const Entry& entry : entries_)
      for (const auto& [steps, graph] : entry.graphs)
        check(driver_.GraphUpload(graph.get(), options_.stream), "cuGraphUpload");
  } catch (...) {
    driver_.StreamSynchronize(options_.stream);
    throw;
  }
}

// --- execution ---

void LoadedProgram::launch(const Launch& l) const {
  if (l.cooperative) {
    check(driver_.LaunchCooperativeKernel(l.function, l.grid, 1, 1, l.block, 1, 1, l.shared, options_.stream,
                                          const_cast<void**>(l.parameters.data())),  // NOLINT
          "cuLaunchCooperativeKernel");
    return;
  }
  // The driver only reads the parameters.
  check(driver_.LaunchKernel(l.function, l.grid, 1, 1, l.block, 1, 1, l.shared, options_.stream,
                             const_cast<void**>(l.parameters.data()), nullptr),  // NOLINT
        "cuLaunchKernel");
}
void LoadedProgram::launch(const Copy& c) const {
  check(driver_.MemcpyDtoDAsync(c.to, c.from, c.bytes, options_.stream), "cuMemcpyDtoDAsync");
}
void LoadedProgram::launch(const CublasltCall& c) const { c.run(options_.stream); }
void LoadedProgram::launch(const CudnnCall& c) { c.run(); }
void LoadedProgram::launch(Loop& l) const {
  for (int64_t t = 0; t < l.count; ++t)
    for (Step& s : l.steps) {
      launch(s);
      advance(s, l.depth, 1);
    }
  for (Step& s : l.steps) advance(s, l.depth, -l.count);
}
void LoadedProgram::launch(Step& s) const {
  std::visit([&](auto& what) { launch(what); }, s.what);
}

void LoadedProgram::advance(Step& s, size_t loop, int64_t turns) {
  const auto further = [&](auto& address, const std::vector<int64_t>& strides) {
    if (loop < strides.size()) address += static_cast<cuda::Address>(strides[loop] * turns);
  };
  if (auto* launch = std::get_if<Launch>(&s.what)) {
    for (size_t i = 0; i < launch->strides.size(); ++i) further(launch->values[i], launch->strides[i]);
  } else if (auto* copy = std::get_if<Copy>(&s.what)) {
    further(copy->to, copy->to_strides);
    further(copy->from, copy->from_strides);
  } else if (auto* call = std::get_if<CublasltCall>(&s.what)) {
    call->advance(loop, turns);
  } else if (auto* convolution = std::get_if<CudnnCall>(&s.what)) {
    convolution->advance(loop, turns);
  } else {
    for (Step& inner : std::get<Loop>(s.what).steps) advance(inner, loop, turns);
  }
}

void LoadedProgram::launch_persistent(const Launch& l, int64_t steps) const {
  std::array<uint64_t, codegen::kSegments> segments{};
  std::ranges::copy(l.values, segments.begin());
  int count = static_cast<int>(steps);
  std::array<void*, codegen::kSegments + 1> parameters{};
  for (size_t i = 0; i < segments.size(); ++i) parameters[i] = &segments[i];
  parameters.back() = &count;
  check(driver_.LaunchCooperativeKernel(l.function, l.grid, 1, 1, l.block, 1, 1, l.shared, options_.stream,
                                        parameters.data()),
        "cuLaunchCooperativeKernel");
}

void LoadedProgram::run(size_t entry, int64_t repeats) const {
  const Entry& loaded = entries_.at(entry);
  if (loaded.persistent) return launch_persistent(*loaded.persistent, repeats);
  for (const int64_t steps : kGraphSteps) {
    const auto graph = loaded.graphs.find(steps);
    for (; graph != loaded.graphs.end() && repeats >= steps; repeats -= steps)
      check(driver_.GraphLaunch(graph->second.get(), options_.stream), "cuGraphLaunch");
  }
}

}  // namespace heddle::runtime
