// Modules of PTX, and launches of their kernels by the interpreter. Parameters are read at the
// call, as the driver does.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/fake_cuda/stream.h"
#include "tests/ptx/module.h"

namespace heddle::fake_cuda {
namespace {

constexpr uint32_t kSharedWithoutAsking = 49152;
constexpr int kReservedShared = 1024;  // of each block, by the driver

// Blocks that a multiprocessor has threads and shared memory for; `shared` are a block's bytes, declared and dynamic.
int resident(int threads, size_t shared) {
  if (threads <= 0) return 0;
  return std::min(kMultiprocessorThreads / threads,
                  multiprocessor_shared() / (static_cast<int>(shared) + kReservedShared));
}

struct Module;
struct Function {
  Module* module = nullptr;
  const ptx::Function* entry = nullptr;
  std::optional<uint32_t> most_dynamic_shared = std::nullopt;  // as asked for
  std::optional<size_t> planned_shared = std::nullopt;         // what the number of its blocks was asked for
};
struct Module {
  ptx::Module parsed;
  std::unique_ptr<ptx::Loaded> loaded;
  std::vector<std::unique_ptr<Function>> functions;
};
std::set<std::unique_ptr<Module>>& modules() {
  static std::set<std::unique_ptr<Module>> all;
  return all;
}

Function* find_function(const void* handle, const char* call) {
  for (const auto& m : modules())
    for (const auto& f : m->functions)
      if (f.get() == handle) return f.get();
  world().violate(fmt::format("{} of a function that is not there", call));
  return nullptr;
}

bool races() {
  const char* value = std::getenv("HEDDLE_FAKE_CUDA_RACES");
  return value == nullptr || std::string(value) != "0";
}

struct Grid {
  uint32_t blocks, threads, shared;
  bool cooperative = false;
};

void execute(const Function* handle, const Grid& grid, const std::vector<std::byte>& parameters) {
  Function* f = find_function(handle, "a launch");
  if (f == nullptr) return;
  World& w = world();
  ++w.counts["kernels"];
  const ptx::Launch what{.kernel = f->entry->name,
                         .grid = {grid.blocks},
                         .block = {grid.threads},
                         .parameters = parameters,
                         .dynamic_shared = grid.shared,
                         .cooperative = grid.cooperative};
  ptx::LaunchOptions options;
  options.races = races();
  const ptx::Outcome done = ptx::launch(*f->module->loaded, what, w.memory, options);
  for (const ptx::Finding& finding : done.findings) w.violate(to_string(finding));
  if (!done.completed) w.sticky = kIllegalAddress;
}

std::vector<std::byte> read_parameters(const ptx::Function& f, void** from) {
  std::vector<std::byte> all(f.parameter_bytes);
  for (size_t i = 0; i < f.parameters.size(); ++i)
    std::memcpy(all.data() + f.parameters[i].offset, from[i], f.parameters[i].bytes);
  return all;
}

Status queue_kernel(const char* by, void* function, const Grid& grid, void* stream, void** parameters) {
  Function* f = find_function(function, by);
  Stream* s = find_stream(stream, by);
  if (f == nullptr || s == nullptr) return kInvalidHandle;
  if (grid.blocks == 0 || grid.threads == 0) return kInvalidValue;
  if (f->entry->max_threads != 0 && grid.threads > f->entry->max_threads) {
    world().violate(fmt::format("{} is launched with {} threads, its bound is {}", f->entry->name, grid.threads,
                                f->entry->max_threads));
    return kInvalidValue;
  }
  const uint32_t most_dynamic =
      f->most_dynamic_shared.value_or(kSharedWithoutAsking - std::min(kSharedWithoutAsking, f->entry->shared_bytes));
  if (grid.shared > most_dynamic) {
    world().violate(fmt::format("{} is launched with {} dynamic shared bytes, {} are allowed", f->entry->name,
                                grid.shared, most_dynamic));
    return kInvalidValue;
  }
  if (f->planned_shared.value_or(grid.shared) != grid.shared)
    world().violate(fmt::format("{} is launched with {} dynamic shared bytes, its blocks were counted for {}",
                                f->entry->name, grid.shared, *f->planned_shared));
  s->runs_kernels = true;
  s->push({[f, grid, bytes = read_parameters(*f->entry, parameters)] { execute(f, grid, bytes); },
           "kernel " + f->entry->name, f->module});
  return kSuccess;
}

}  // namespace

extern "C" {

Status cuModuleLoadData(void** to, const void* image) {
  const Call call("cuModuleLoadData");
  if (call.status() != kSuccess) return call.status();
  const std::string text = static_cast<const char*>(image);
  if (text.starts_with("\x7f"
                       "ELF"))
    return kInvalidImage;  // machine code: HEDDLE_CUDA_CODE=ptx
  auto made = std::make_unique<Module>();
  try {
    made->parsed = ptx::parse(text);
  } catch (const ptx::ParseError& e) {
    world().violate(fmt::format("cuModuleLoadData: {}", e.what()));
    return kInvalidImage;
  }
  made->loaded = std::make_unique<ptx::Loaded>(made->parsed, world().memory);
  for (const ptx::Function& f : made->parsed.functions)
    if (f.entry) made->functions.push_back(std::make_unique<Function>(Function{made.get(), &f}));
  *to = made.get();
  ++world().alive["module"];
  modules().insert(std::move(made));
  return kSuccess;
}

Status cuModuleUnload(void* module) {
  const Call call("cuModuleUnload");
  for (auto it = modules().begin(); it != modules().end(); ++it) {
    if (it->get() != module) continue;
    if (busy()) {
      world().violate("cuModuleUnload while work is queued that may use it");
      complete_all();
    }
    modules().erase(it);
    --world().alive["module"];
    return call.status();
  }
  world().violate("cuModuleUnload of a module that is not there");
  return kInvalidHandle;
}

Status cuModuleGetFunction(void** to, void* module, const char* name) {
  const Call call("cuModuleGetFunction");
  if (call.status() != kSuccess) return call.status();
  for (const auto& m : modules()) {
    if (m.get() != module) continue;
    for (const auto& f : m->functions)
      if (f->entry->name == name) {
        *to = f.get();
        return kSuccess;
      }
    return kNotFound;
  }
  world().violate("cuModuleGetFunction of a module that is not there");
  return kInvalidHandle;
}

Status cuFuncSetAttribute(void* function, int attribute, int value) {
  const Call call("cuFuncSetAttribute");
  Function* f = find_function(function, "cuFuncSetAttribute");
  if (f == nullptr) return kInvalidHandle;
  constexpr int kMaxDynamicShared = 8;
  const int most = multiprocessor_shared() - kReservedShared - static_cast<int>(f->entry->shared_bytes);
  if (attribute == kMaxDynamicShared && value > most) return kInvalidValue;
  if (attribute == kMaxDynamicShared) f->most_dynamic_shared = static_cast<uint32_t>(value);
  return call.status();
}

Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
  const Call call("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  Function* f = find_function(function, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (f == nullptr) return kInvalidHandle;
  f->planned_shared = shared;
  *blocks = resident(threads, shared + f->entry->shared_bytes);
  return call.status();
}

Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void* stream, void** parameters, void** extra) {
  const Call call("cuLaunchKernel");
  if (call.status() != kSuccess) return call.status();
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || extra != nullptr) return kInvalidValue;
  return queue_kernel("cuLaunchKernel", function, {gx, bx, shared}, stream, parameters);
}

Status cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned shared, void* stream, void** parameters) {
  const Call call("cuLaunchCooperativeKernel");
  if (call.status() != kSuccess) return call.status();
  if (gy != 1 || gz != 1 || by != 1 || bz != 1) return kInvalidValue;
  const Function* f = find_function(function, "cuLaunchCooperativeKernel");
  if (f == nullptr) return kInvalidHandle;
  if (static_cast<int>(gx) > multiprocessors() * resident(static_cast<int>(bx), shared + f->entry->shared_bytes)) {
    world().violate(fmt::format("cuLaunchCooperativeKernel of {} blocks, which do not run at once", gx));
    return kTooManyBlocks;
  }
  return queue_kernel("cuLaunchCooperativeKernel", function, {gx, bx, shared, /*cooperative=*/true}, stream,
                      parameters);
}

}  // extern "C"

}  // namespace heddle::fake_cuda
