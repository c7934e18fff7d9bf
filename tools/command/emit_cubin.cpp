#include "tools/command/emit_cubin.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/compile/source_parts.h"
#include "runtime/files/write_file.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

std::string table(const runtime::CudaBinary& binary, const std::string& arch) {
  std::string text;
  for (const runtime::KernelResources& k : binary.kernels)
    text += fmt::format("{}: {} registers, {} bytes shared, {} bytes spilled\n", k.name, k.registers, k.shared_bytes,
                        k.spill_bytes);
  size_t bytes = 0;
  for (const std::string& image : binary.images) bytes += image.size();
  return text + fmt::format("{} kernels for {}, {} bytes in {} images\n", binary.kernels.size(), arch, bytes,
                            binary.images.size());
}

// sm_80, sm_90a, sm_120f: also the name of a file.
bool is_arch(const std::string& text) {
  if (!text.starts_with("sm_") || text.size() > 8) return false;
  const size_t end = text.find_first_not_of("0123456789", 3);
  return end != 3 && (end == std::string::npos || (end + 1 == text.size() && (text[end] == 'a' || text[end] == 'f')));
}

std::string place(const std::vector<std::string>& archs, const std::string& arch, const std::string& out) {
  return archs.size() == 1 ? out : fmt::format("{}/{}.cubin", out, arch);
}

}  // namespace

runtime::CudaBinary compile_cubin(const codegen::Program& program, const std::string& arch, int parts,
                                  std::vector<driver::StageTime>* times) {
  runtime::CudaBinary binary = runtime::compile_for_cuda(program.source, {.arch = arch, .ptx = false, .parts = parts},
                                                         runtime::KernelCache(runtime::kernel_cache_folder()));
  if (times) times->push_back({fmt::format("nvrtc {}", arch), binary.seconds});
  return binary;
}

void require_cubin_place(const std::vector<std::string>& archs, const std::string& out) {
  for (const std::string& arch : archs)
    if (!is_arch(arch))
      throw UserError(ExitCode::usage, fmt::format("--arch: '{}' is no architecture", arch), "for example sm_90a");
  if (archs.size() == 1 || out.empty()) return;
  std::error_code ec;
  fs::create_directory(out, ec);
  if (!fs::is_directory(out, ec))
    throw UserError(ExitCode::failed, fmt::format("{}: is no folder, and cannot become one", out),
                    "several architectures are written to a folder, a file each");
  for (const std::string& arch : archs) require_result_path(place(archs, arch, out));
}

std::string emit_cubin(const codegen::Program& program, const std::vector<std::string>& archs, const std::string& out,
                       std::vector<driver::StageTime>* times) {
  warn_without_kernel_cache();
  std::string text;
  for (const std::string& arch : archs) {
    // An image loads on its own, so what is written is one.
    const runtime::CudaBinary binary = compile_cubin(program, arch, out.empty() ? runtime::kCompileParts : 1, times);
    if (!out.empty()) runtime::write_file(place(archs, arch, out), binary.images.front());
    text += table(binary, arch);
  }
  return text;
}

}  // namespace heddle::tools
