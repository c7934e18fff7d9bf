#include "tools/driver/open_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/nvrtc_child.h"
#include "runtime/files/temporary.h"
#include "runtime/host/host_device.h"
#include "runtime/host/host_target.h"
#include "runtime/host/onednn.h"
#include "tools/driver/packaged_model.h"

namespace heddle::driver {
namespace {

std::unique_ptr<runtime::Device> open_host(int threads) {
  return std::make_unique<runtime::HostDevice>(runtime::HostOptions{.threads = threads, .kernel_cache = {}});
}

// Whether an environment variable has the second of two values; it may be unset or empty.
bool second_of(const char* variable, const std::string& first, const std::string& second) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0' || value == first) return false;
  if (value == second) return true;
  throw UserError(ExitCode::usage, fmt::format("{} is '{}', expected {} or {}", variable, value, first, second));
}
// PTX is compiled by the driver: for looking at what it makes. GPUs that NVRTC does not know always get it.
bool wants_ptx() { return second_of("HEDDLE_CUDA_CODE", "cubin", "ptx"); }
// For comparing the two on a GPU.
bool wants_launches() { return second_of("HEDDLE_CUDA_STEPS", "persistent", "launches"); }

// As if so many bytes of the GPU were free: larger data sets are streamed.
int64_t most_free_bytes() {
  const char* value = std::getenv("HEDDLE_CUDA_FREE");
  if (value == nullptr || *value == '\0') return std::numeric_limits<int64_t>::max();
  const std::string text = value;
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc() && end == text.data() + text.size() && bytes >= 0) return bytes;
  throw UserError(ExitCode::usage, fmt::format("HEDDLE_CUDA_FREE is '{}', expected a number of bytes", text));
}

OpenedDevice open_cuda(int number, bool launches) {
  OpenedDevice opened;
  const std::vector<runtime::CudaInfo> all = runtime::cuda_devices();
  runtime::CudaDeviceOptions options;
  options.number = number, options.ptx = wants_ptx(), options.persistent = !launches && !wants_launches();
  options.most_free_bytes = most_free_bytes();
  opened.device = std::make_unique<runtime::CudaDevice>(options);
  opened.target = target_of(all.at(static_cast<size_t>(number)), opened.note);
  return opened;
}

// "cuda" -> 0, "cuda:3" -> 3
int cuda_number(const std::string& text) {
  if (text == "cuda") return 0;
  int number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 5, end, number);
  if (!text.starts_with("cuda:") || error != std::errc() || stop != end || number < 0)
    throw UserError(ExitCode::usage, fmt::format("--device: '{}' is no device", text),
                    "auto, host, cuda, or cuda:1 for the second GPU");
  return number;
}

// Why no GPU serves, or "". What is packed needs no compiler.
std::string without_cuda(bool packed = false) {
  std::string reason;
  if (runtime::find_driver(&reason) == nullptr) return reason;
  try {
    if (std::string refusal = runtime::cuda_devices().front().refusal(); !refusal.empty()) return refusal;
    if (packed) return {};
    if (!runtime::find_nvrtc().found)
      return "there is a GPU, but no NVRTC 13 to compile for it: tools/setup of the sources fetches it";
    runtime::nvrtc_child_program();  // throws where it is not there
    return {};
  } catch (const UserError& error) {
    return error.diagnostics().front().message;
  }
}

// The target that the GPU's name holds, "h200" of "NVIDIA H200 NVL", where its code runs there: an
// RTX A1000 is no A100.
std::optional<ir::Target> known_target(const std::string& name, const std::string& arch) {
  std::string lower;
  for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string& known : ir::target_names()) {
    ir::Target target = ir::target_by_name(known);
    if (target.gpu && target.arch == arch && lower.find(known) != std::string::npos) return target;
  }
  return std::nullopt;
}

// --- packages ---

// What of a package's target a machine lacks, or "".
std::string lacks_for(const PackedTarget& t) {
  if (const std::string machine = runtime::machine_name(); t.machine != machine)
    return fmt::format("its code for the host is for {}, and this machine is {}", t.machine, machine);
  if (const std::string name = runtime::missing_instruction(t.instructions); !name.empty())
    return fmt::format("its code for the host ({}) needs {}, which this processor lacks", t.arch, name);
  if (!t.onednn.empty() && t.onednn != runtime::onednn_version())
    return fmt::format("it was planned with oneDNN {}, and this Heddle has {}", t.onednn, runtime::onednn_version());
  return {};
}

enum class Runs { not_at_all, by_ptx, as_it_is };

// Machine code runs on its own architecture, and on later ones of its generation if it names no special one; PTX runs
// on all that are no older.
Runs how_it_runs(const PackedTarget& t, const runtime::CudaInfo& info) {
  if (!t.gpu() || !t.arch.starts_with("sm_")) return Runs::not_at_all;
  int arch = 0;
  const char* end = t.arch.data() + t.arch.size();
  const auto [rest, error] = std::from_chars(t.arch.data() + 3, end, arch);
  const int here = 10 * info.major + info.minor;
  if (error != std::errc() || arch > here) return Runs::not_at_all;
  const bool same = arch == here || (rest == end && arch / 10 == info.major);
  return same ? Runs::as_it_is : Runs::by_ptx;
}

std::string archs_of(const Package& package) {
  std::vector<std::string> archs;
  for (const PackedTarget& t : package.targets) archs.push_back(t.gpu() ? t.arch : fmt::format("host ({})", t.arch));
  return fmt::format("{}", fmt::join(archs, ", "));
}

UserError no_code(const Package& package, const std::string& why, const std::string& arch) {
  return {ExitCode::missing, fmt::format("{}: {}; it was made for {}", package.file, why, archs_of(package)),
          fmt::format("heddle package MODEL --arch {} -o FILE makes one; or give the model file", arch)};
}

OpenedDevice open_packed_host(int threads, const Package& package) {
  const auto host = std::ranges::find_if(package.targets, [](const PackedTarget& t) { return !t.gpu(); });
  if (host == package.targets.end()) throw no_code(package, "it has no code for the host", "host");
  if (const std::string lacks = lacks_for(*host); !lacks.empty()) throw no_code(package, lacks, "host");
  OpenedDevice opened;
  opened.device = std::make_unique<runtime::HostDevice>(
      runtime::HostOptions{.threads = threads, .kernel_cache = {}, .packed = package.code_of(*host)});
  opened.target = host->target();
  return opened;
}

OpenedDevice open_packed_cuda(int number, const Package& package) {
  const std::vector<runtime::CudaInfo> all = runtime::cuda_devices();
  if (number >= std::ssize(all)) return open_cuda(number, /*launches=*/false);  // says what there is
  const runtime::CudaInfo& info = all[static_cast<size_t>(number)];
  const PackedTarget* best = nullptr;
  for (const PackedTarget& t : package.targets) {
    const Runs runs = how_it_runs(t, info), before = best ? how_it_runs(*best, info) : Runs::not_at_all;
    if (runs > before || (runs == before && runs != Runs::not_at_all && t.ptx > best->ptx)) best = &t;
  }
  const std::string arch = fmt::format("sm_{}{}", info.major, info.minor);
  if (best == nullptr) throw no_code(package, fmt::format("it has no code for {} ({})", info.name, arch), arch);
  OpenedDevice opened;
  opened.target = best->target();
  const bool fewer = info.multiprocessors < opened.target.sm_count;
  runtime::CudaDeviceOptions options{.number = number,
                                     .ptx = wants_ptx() || how_it_runs(*best, info) == Runs::by_ptx,
                                     .persistent = !wants_launches() && !fewer,
                                     .most_free_bytes = most_free_bytes(),
                                     .kernel_cache = {},
                                     .packed = package.code_of(*best)};
  if (fewer)
    opened.note =
        fmt::format("planned for {} multiprocessors: kernels are launched one by one", opened.target.sm_count);
  opened.device = std::make_unique<runtime::CudaDevice>(std::move(options));
  return opened;
}

}  // namespace

std::string kernel_cache_problem() {
  const std::string folder = runtime::kernel_cache_folder();
  const runtime::KernelCache cache(folder);
  if (cache.problem().empty()) return {};
  return fmt::format("compiled kernels are not kept: '{}' is not used, {}", folder, cache.problem());
}

ir::Target target_of(const runtime::CudaInfo& info, std::string& note) {
  const std::string arch = runtime::cuda_arch(info);
  const std::optional<ir::Target> known = known_target(info.name, arch);
  ir::Target target = known ? *known : ir::target_by_name(info.major >= 9 ? "h200" : "a100");
  std::vector<std::string> others;
  if (!known || target.sm_count != info.multiprocessors)
    others.push_back(fmt::format("{} multiprocessors", info.multiprocessors));
  if (known && target.sm_threads != info.sm_threads) others.push_back(fmt::format("{} threads each", info.sm_threads));
  if (known && target.sm_shared_bytes != info.sm_shared_bytes)
    others.push_back(fmt::format("{} bytes of shared memory each", info.sm_shared_bytes));
  // A driver keeps some of the memory that the name promises, or counts it in other units: more is not planned with.
  if (known && target.memory_bytes > info.memory_bytes)
    others.push_back(fmt::format("{:.0f} GB", static_cast<double>(info.memory_bytes) / 1e9));
  if (!others.empty())
    note = fmt::format("{}planned as {} with {}", known ? "" : "not known by name: ", target.name,
                       fmt::join(others, ", "));
  if (runtime::is_ptx(arch))
    note += fmt::format("{}not known to NVRTC: PTX for {}, which the driver compiles", note.empty() ? "" : "; ", arch);
  target.arch = arch;
  target.sm_count = info.multiprocessors;
  target.sm_threads = info.sm_threads;
  target.sm_shared_bytes = info.sm_shared_bytes;
  target.memory_bytes = known ? std::min(target.memory_bytes, info.memory_bytes) : info.memory_bytes;
  return target;
}

OpenedDevice open_device(const DeviceRequest& request) {
  runtime::sweep_temporary_folders();
  const bool host = request.device == "host";
  if (!host && request.device != "auto") return open_cuda(cuda_number(request.device), request.launches);
  const std::string reason = host ? "" : without_cuda();
  if (!host && reason.empty()) return open_cuda(0, request.launches);
  return {open_host(request.threads), ir::host(), reason};
}

OpenedDevice open_packaged_device(const DeviceRequest& request, const Package& package) {
  runtime::sweep_temporary_folders();
  if (request.device == "host") return open_packed_host(request.threads, package);
  if (request.device != "auto") return open_packed_cuda(cuda_number(request.device), package);
  if (!std::ranges::any_of(package.targets, &PackedTarget::gpu)) return open_packed_host(request.threads, package);
  std::string reason = without_cuda(true);
  const bool host = !std::ranges::all_of(package.targets, &PackedTarget::gpu);
  if (reason.empty()) {
    try {
      return open_packed_cuda(0, package);
    } catch (const UserError& error) {
      if (!host || error.code() != ExitCode::missing) throw;
      reason = error.diagnostics().front().message;
    }
  }
  if (!host) throw no_code(package, reason, "host");
  OpenedDevice opened = open_packed_host(request.threads, package);
  opened.note = reason;
  return opened;
}

}  // namespace heddle::driver
