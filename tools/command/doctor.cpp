// heddle doctor: what this machine offers, found where, and what is missing.
#include <fmt/format.h>

#include <functional>
#include <memory>

#include "ir/diagnostic.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/cuda/nvrtc_child.h"
#include "runtime/data/picture_library.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/host_device.h"
#include "runtime/host/host_target.h"
#include "runtime/host/onednn.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {
namespace {

struct Finding {
  std::string what, state;
  bool ok = true;
};

// Describes a part of the machine, or why it is missing. A missing part does not stop the rest of the table.
Finding found(const std::string& what, const std::function<std::string()>& describe) {
  try {
    return {what, describe()};
  } catch (const UserError& error) {
    return {what, error.diagnostics().front().message, false};
  }
}

std::string compiler() {
  const runtime::HostCompiler c = runtime::find_host_compiler();
  return fmt::format("{} ({})", c.path, c.version);
}

Finding known_answers(const runtime::KernelCache& cache) {
  constexpr const char* kName = "known answers";
  try {
    const runtime::CompilerCheck check = runtime::check_compiler(runtime::find_host_compiler().path, cache);
    if (check.wrong.empty()) return {kName, fmt::format("all {} right", check.cases)};
    return {kName, fmt::format("wrong: {}; kernels are compiled without vectorisation, and are slower", check.wrong),
            false};
  } catch (const UserError& error) {
    return {kName, error.diagnostics().front().message, false};
  }
}

// Libraries that are opened when such a picture is.
Finding pictures() {
  std::string text;
  bool all = true;
  for (const auto& library : {runtime::data::webp_state(), runtime::data::tiff_state(), runtime::data::gif_state()}) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", library.library, library.state);
    all = all && library.found;
  }
  return {"pictures", text, all};
}

Finding nvrtc() {
  const runtime::NvrtcInfo info = runtime::find_nvrtc();
  if (!info.found)
    return {"nvrtc", "not found: kernels are not compiled for GPUs; tools/setup of the sources fetches it", false};
  return found("nvrtc", [&] {
    runtime::nvrtc_child_program();  // without it the library is of no use
    return fmt::format("{} at {} (found by {})", info.version, info.path, info.found_by);
  });
}

// What training on a GPU takes: a driver that is new enough, a GPU, and NVRTC (above) for programs
// that are not in the cache.
std::vector<Finding> cuda_findings() {
  std::vector<Finding> findings;
  try {
    const std::vector<runtime::CudaInfo> all = runtime::cuda_devices();
    for (size_t i = 0; i < all.size(); ++i) {
      const runtime::CudaInfo& gpu = all[i];
      if (std::string refusal = gpu.refusal(); !refusal.empty()) {
        findings.push_back({fmt::format("cuda:{}", i), std::move(refusal), false});
        continue;
      }
      std::string note;
      const ir::Target target = driver::target_of(gpu, note);
      findings.push_back({fmt::format("cuda:{}", i),
                          fmt::format("{}, capability {}.{}, {} multiprocessors, {:.0f} GB, driver for CUDA {}{}; {}",
                                      gpu.name, gpu.major, gpu.minor, gpu.multiprocessors,
                                      static_cast<double>(gpu.memory_bytes) / 1e9, gpu.driver_version,
                                      gpu.compute_mode == runtime::cuda::kOneProcess ? ", one process at a time" : "",
                                      note.empty() ? "planned as " + target.name : note)});
    }
  } catch (const UserError& error) {
    findings.push_back({"cuda device", error.diagnostics().front().message, false});
  }
  return findings;
}

std::string processor_features() {
#ifdef __x86_64__
  std::string text;
  if (__builtin_cpu_supports("avx2")) text += " avx2";
  if (__builtin_cpu_supports("fma")) text += " fma";
  if (__builtin_cpu_supports("avx512f")) text += " avx512f";
  if (__builtin_cpu_supports("avx512bf16")) text += " avx512bf16";
  return text.empty() ? "baseline x86-64" : text.substr(1);
#else
  return "not x86-64";
#endif
}

std::string processor() {
  const std::string target = runtime::host_target();
  if (target == runtime::kThisProcessor) return processor_features();
  return fmt::format("{}; kernels are compiled for {} (HEDDLE_MARCH)", processor_features(), target);
}

void doctor(bool json) {
  const std::string folder = runtime::kernel_cache_folder();
  const runtime::KernelCache cache(folder);
  std::vector<Finding> findings = {{"version", HEDDLE_VERSION}, found("host compiler", compiler)};
  findings.push_back(known_answers(cache));
  findings.push_back({"onednn", fmt::format("{} with {}", runtime::onednn_version(), runtime::onednn_instructions())});
  findings.push_back(found("host device", [] { return runtime::HostDevice().description(); }));
  findings.push_back(found("processor", processor));
  findings.push_back(pictures());
  findings.push_back(nvrtc());
  for (Finding& f : cuda_findings()) findings.push_back(std::move(f));
  const bool used = cache.problem().empty();
  findings.push_back(
      {"kernel cache", used ? folder : fmt::format("{} is not used: {}", folder, cache.problem()), used});
  runtime::JsonObject out;
  for (const Finding& f : findings) {
    if (!json) print_result("{} {:<14} {}\n", f.ok ? "ok " : "-  ", f.what, f.state);
    out.raw(f.what, runtime::JsonObject().flag("ok", f.ok).text("state", f.state).str());
  }
  if (json) print_result("{}\n", out.str());
}

}  // namespace

void add_doctor(CommandLine& line) {
  Command command = line.add_subcommand("doctor", "what this machine offers and what is missing");
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print one JSON object on standard output");
  command.run([json] { doctor(*json); });
}

}  // namespace heddle::tools
