// heddle doctor: what this machine offers, found where, and what is missing.
#include <fmt/format.h>

#include <memory>

#include "ir/diagnostic.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/host_device.h"
#include "runtime/host/onednn.h"
#include "runtime/json_text.h"
#include "runtime/kernel_cache.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

struct Finding {
  std::string what, state;
  bool ok = true;
};

Finding compiler() {
  try {
    const runtime::HostCompiler c = runtime::find_host_compiler();
    return {"host compiler", fmt::format("{} ({})", c.path, c.version)};
  } catch (const UserError& error) {
    return {"host compiler", error.diagnostics().front().message, false};
  }
}

Finding nvrtc() {
  const runtime::NvrtcInfo info = runtime::find_nvrtc();
  if (!info.found) return {"nvrtc", "not found: kernels are not compiled for GPUs; tools/setup fetches it", false};
  return {"nvrtc", fmt::format("{} at {} (found by {})", info.version, info.path, info.found_by)};
}

std::string cpu_features() {
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

void doctor(bool json) {
  std::vector<Finding> findings = {{"version", HEDDLE_VERSION}, compiler()};
  findings.push_back({"onednn", runtime::onednn_version()});
  findings.push_back({"host device", runtime::HostDevice().description()});
  findings.push_back({"processor", cpu_features()});
  findings.push_back(nvrtc());
  findings.push_back({"cuda device", "none: this version runs on the host device only", false});
  findings.push_back({"kernel cache", runtime::kernel_cache_folder()});
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
