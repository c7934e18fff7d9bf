#include "runtime/cuda/nvrtc_child.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/cuda/nvrtc_api.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

// Owns NVRTC's program object for one text.
class Compilation {
 public:
  Compilation(const NvrtcApi& api, const std::string& source) : api_(api) {
    api_.check(api_.CreateProgram(&program_, source.c_str(), "kernels.cu", 0, nullptr, nullptr), "CreateProgram");
  }
  ~Compilation() { api_.DestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  int compile(const std::vector<const char*>& options) {
    return api_.CompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  template <class Size, class Get>
  std::string fetch(Size size_of, Get get, const char* call) const {
    size_t size = 0;
    api_.check(size_of(program_, &size), call);
    std::string text(size, '\0');
    api_.check(get(program_, text.data()), call);
    return text;
  }
  const NvrtcApi& api() const { return api_; }

 private:
  const NvrtcApi& api_;
  NvrtcApi::Program program_ = nullptr;
};

// Writes the whole file, or reports the failure to the parent: a part of a cubin might load.
void write(const std::string& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw UserError(ExitCode::failed, path + ": cannot be written");
}

// NVRTC's texts include the terminating zero.
std::string without_end(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

int compile(const NvrtcApi& api, const std::string& in, const std::string& out,
            const std::vector<const char*>& options) {
  std::ifstream file(in, std::ios::binary);
  const std::string source((std::istreambuf_iterator<char>(file)), {});
  Compilation program(api, source);
  const int status = program.compile(options);
  write(out + ".log", without_end(program.fetch(api.GetProgramLogSize, api.GetProgramLog, "GetProgramLog")));
  if (status != 0) return kNvrtcRejects;
  write(out + ".cubin", program.fetch(api.GetCUBINSize, api.GetCUBIN, "GetCUBIN"));
  write(out + ".ptx", without_end(program.fetch(api.GetPTXSize, api.GetPTX, "GetPTX")));
  return 0;
}

}  // namespace

int nvrtc_child(int count, const char* const* arguments) {
  constexpr int kOther = 42;
  if (count < 3) {
    std::fputs("heddle-nvrtc SOURCE OUT OPTION...: compiles for heddle, which starts it\n", stderr);
    return kOther;
  }
  try {
    const std::unique_ptr<NvrtcApi> api = open_nvrtc();
    if (!api) return kNvrtcMissing;
    return compile(*api, arguments[1], arguments[2], {arguments + 3, arguments + count});
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return kOther;
  }
}

std::string nvrtc_child_program() {
  std::error_code ec;
  // First beside the file with this code, which may be a shared library in another program; then beside the program.
  std::vector<fs::path> places;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&nvrtc_child_program), &self) != 0 && self.dli_fname != nullptr)
    places.push_back(fs::canonical(self.dli_fname, ec).parent_path());
  places.push_back(fs::read_symlink("/proc/self/exe", ec).parent_path());
  for (const fs::path& here : places)
    for (const char* name : {"heddle-nvrtc", "../libexec/heddle/heddle-nvrtc", "../../libexec/heddle/heddle-nvrtc"})
      if (::access((here / name).c_str(), X_OK) == 0) return (here / name).string();
  throw UserError(ExitCode::missing, fmt::format("heddle-nvrtc is not beside {}", (places.back() / "heddle").string()),
                  "it comes with heddle: build or install both");
}

}  // namespace heddle::runtime
