#include "runtime/cuda/nvrtc.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/compile/library_search.h"
#include "runtime/cuda/cublaslt_api.h"
#include "runtime/cuda/cudnn_api.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime {
namespace {
namespace fs = std::filesystem;

// Sets an environment variable until the end of the test.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

const std::string kText = R"(
#ifndef HD_CUDA
#error the CUDA branch was not chosen
#endif
extern "C" __global__ void scale_add(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c) {
  __shared__ float pad[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 16) pad[threadIdx.x] = a[i].x;
  __syncthreads();
  float4 v = a[i];
  v.x = v.x * b[i].x + pad[i % 16];
  c[i] = v;
}
)";

TEST(CubinInfo, ReadsResources) {
  const auto list = parse_resources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a_b' for 'sm_90a'\n"
      "ptxas info    : Function properties for a_b\n"
      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 18 registers, used 1 barriers, 512 bytes smem\n"
      "ptxas info    : Compiling entry function 'c' for 'sm_90a'\n"
      "ptxas info    : Function properties for c\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 4 registers, used 0 barriers\n");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "a_b");
  EXPECT_EQ(list[0].registers, 18);
  EXPECT_EQ(list[0].shared_bytes, 512);
  EXPECT_EQ(list[0].stack_bytes, 8);
  EXPECT_EQ(list[0].spill_bytes, 28);  // 12 stored, 16 loaded
  EXPECT_EQ(list[1].name, "c");
  EXPECT_EQ(list[1].registers, 4);
  EXPECT_EQ(list[1].shared_bytes, 0);
  EXPECT_EQ(list[1].spill_bytes, 0);
}

TEST(CubinInfo, IgnoresOtherText) {
  EXPECT_TRUE(parse_resources("").empty());
  EXPECT_TRUE(parse_resources("Used 18 registers\n4 bytes spill stores").empty());
}

TEST(LibrarySearch, HeddleNvrtcIsTheOnlyPlaceWhenSet) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/libnvrtc.so.13";
  std::ofstream(file) << "not a library";
  {
    const Setting setting("HEDDLE_NVRTC", folder.path());
    ASSERT_EQ(nvrtc_candidates().size(), 1U);
    EXPECT_EQ(nvrtc_candidates()[0].path, file);
    EXPECT_EQ(nvrtc_candidates()[0].found_by, "HEDDLE_NVRTC");
    EXPECT_FALSE(find_nvrtc().found);  // found, but no library
  }
  const Setting setting("HEDDLE_NVRTC", file);
  EXPECT_EQ(nvrtc_candidates()[0].path, file);
}

TEST(LibrarySearch, ToolkitVariablesComeBeforeTheLoader) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/lib");
  std::ofstream(folder.path() + "/lib/libnvrtc.so.13") << "";
  const Setting none("HEDDLE_NVRTC", ""), setting("CUDA_PATH", folder.path());
  const auto list = nvrtc_candidates();
  const auto at = std::find_if(list.begin(), list.end(), [](const auto& c) { return c.found_by == "CUDA_PATH"; });
  ASSERT_NE(at, list.end());
  EXPECT_EQ(at->path, folder.path() + "/lib/libnvrtc.so.13");
  EXPECT_EQ(list.back().path, "libnvrtc.so.13");
}

// cuBLASLt is looked for in the same order. What is not it, or is not there, is said.
TEST(LibrarySearch, FindsCublasltLikewise) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/libcublasLt.so.13";
  std::string reason;
  {
    const Setting setting("HEDDLE_CUBLASLT", folder.path());
    EXPECT_TRUE(cublaslt_candidates().empty());
    EXPECT_EQ(open_cublaslt(&reason), nullptr);
    EXPECT_EQ(reason, "libcublasLt.so.13 was not found");
    std::ofstream(file) << "not a library";
    ASSERT_EQ(cublaslt_candidates().size(), 1U);
    EXPECT_EQ(cublaslt_candidates()[0].path, file);
    EXPECT_EQ(open_cublaslt(&reason), nullptr);
    EXPECT_EQ(reason, file + ": it cannot be loaded");
  }
  const Setting none("HEDDLE_CUBLASLT", "");
  EXPECT_EQ(cublaslt_candidates().back().path, "libcublasLt.so.13");
}

// And cuDNN, of which a file that is a library must have the functions.
TEST(LibrarySearch, FindsCudnnLikewise) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/libcudnn.so.9";
  std::string reason;
  {
    const Setting setting("HEDDLE_CUDNN", folder.path());
    EXPECT_TRUE(cudnn_candidates().empty());
    EXPECT_EQ(open_cudnn(&reason), nullptr);
    EXPECT_EQ(reason, "libcudnn.so.9 was not found");
    std::ofstream(file) << "not a library";
    ASSERT_EQ(cudnn_candidates().size(), 1U);
    EXPECT_EQ(open_cudnn(&reason), nullptr);
    EXPECT_EQ(reason, file + ": it cannot be loaded");
  }
  const Setting none("HEDDLE_CUDNN", "");
  EXPECT_EQ(cudnn_candidates().back().path, "libcudnn.so.9");
}

TEST(LibrarySearch, FindsTheBuiltinsBeside) {
  const TemporaryFolder folder;
  EXPECT_EQ(nvrtc_builtins(folder.path() + "/libnvrtc.so.13"), "");
  std::ofstream(folder.path() + "/libnvrtc-builtins.so.13.0") << "";
  EXPECT_EQ(nvrtc_builtins(folder.path() + "/libnvrtc.so.13"), folder.path() + "/libnvrtc-builtins.so.13.0");
}

TEST(Nvrtc, MissingSaysWhatToDo) {
  const TemporaryFolder folder;
  const Setting setting("HEDDLE_NVRTC", folder.path() + "/nowhere");
  try {
    compile_for_cuda(kText, {}, KernelCache(folder.path()));
    FAIL() << "compiled";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::missing);
    EXPECT_NE(std::string(e.what()).find("HEDDLE_NVRTC"), std::string::npos) << e.what();
  }
}

class NvrtcInstalled : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  }
  TemporaryFolder folder;
  KernelCache cache{folder.path()};
};

TEST_F(NvrtcInstalled, CompilesForEachArchitecture) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_120"}) {
    const CudaBinary binary = compile_for_cuda(kText, {.arch = arch, .ptx = true}, cache);
    EXPECT_FALSE(binary.cached);
    ASSERT_EQ(binary.images.size(), 1U);
    EXPECT_EQ(binary.images[0].substr(1, 3), "ELF");
    ASSERT_EQ(binary.kernels.size(), 1U);
    EXPECT_EQ(binary.kernels[0].name, "scale_add");
    EXPECT_GT(binary.kernels[0].registers, 0);
    EXPECT_EQ(binary.kernels[0].shared_bytes, 64);  // pad: 16 floats
    EXPECT_EQ(binary.kernels[0].spill_bytes, 0);
    ASSERT_EQ(binary.ptx.size(), 1U);
    EXPECT_NE(binary.ptx[0].find("ld.global.nc.v4.f32"), std::string::npos) << binary.ptx[0];
    EXPECT_EQ(binary.ptx[0].find("fma.rn"), std::string::npos);  // contraction is off
    const CudaBinary again = compile_for_cuda(kText, {.arch = arch, .ptx = true}, cache);
    EXPECT_TRUE(again.cached);
    EXPECT_EQ(again.images, binary.images);
    EXPECT_EQ(again.kernels[0].registers, binary.kernels[0].registers);
    EXPECT_EQ(again.ptx, binary.ptx);
  }
}

// What a cubin was made with is a part of its name in the cache: the options, and the library's file.
TEST_F(NvrtcInstalled, OtherOptionsAndOtherLibrariesCompileAnew) {
  EXPECT_FALSE(compile_for_cuda(kText, {.arch = "sm_80"}, cache).cached);
  EXPECT_TRUE(compile_for_cuda(kText, {.arch = "sm_80"}, cache).cached);
  const CudaBinary newer = compile_for_cuda(kText, {.arch = "sm_90a"}, cache);
  EXPECT_FALSE(newer.cached);
  const std::string library = find_nvrtc().path, builtins = nvrtc_builtins(library);
  if (!fs::exists(library)) GTEST_SKIP() << "the loader found NVRTC: there is no file to name anew";
  const TemporaryFolder other;
  for (const std::string& file : {library, builtins})
    if (!file.empty()) fs::create_symlink(file, other.path() + "/" + fs::path(file).filename().string());
  const Setting setting("HEDDLE_NVRTC", other.path() + "/" + fs::path(library).filename().string());
  const CudaBinary again = compile_for_cuda(kText, {.arch = "sm_90a"}, cache);
  EXPECT_FALSE(again.cached);
  EXPECT_EQ(again.images, newer.images);
}

// A kernel's registers stand in the log: a cubin alone is not the whole entry.
TEST_F(NvrtcInstalled, AnEntryWithoutItsLogIsMadeAnew) {
  const CudaBinary first = compile_for_cuda(kText, {}, cache);
  int removed = 0;
  for (const auto& file : fs::directory_iterator(folder.path()))
    if (file.path().extension() == ".log") removed += fs::remove(file.path()) ? 1 : 0;
  ASSERT_EQ(removed, 1);
  const CudaBinary again = compile_for_cuda(kText, {}, cache);
  EXPECT_FALSE(again.cached);
  ASSERT_EQ(again.kernels.size(), 1U);
  EXPECT_EQ(again.kernels[0].registers, first.kernels[0].registers);
}

TEST_F(NvrtcInstalled, ErrorsShowTheSource) {
  try {
    compile_for_cuda("int a;\n__global__ void f() { b = 1; }\nint c;\n", {}, cache);
    FAIL() << "compiled";
  } catch (const UserError& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), ExitCode::failed);
    EXPECT_NE(text.find(">     2 | __global__ void f() { b = 1; }"), std::string::npos) << text;
  }
  EXPECT_THROW(compile_for_cuda(kText, {.arch = "sm_1"}, cache), UserError);
}

TEST_F(NvrtcInstalled, CompilesInParts) {
  std::string source = "#define HD_KERNEL(n) extern \"C\" __global__ void n\n#define HD_HOST_ENTRY(n, k)\n";
  for (int i = 0; i < 8; ++i) {
    source += fmt::format("HD_KERNEL(k{0})(float* a) {{\n  a[threadIdx.x] += {0}.0f;\n}}\nHD_HOST_ENTRY(k{0}, 1)\n", i);
  }
  const CudaBinary binary = compile_for_cuda(source, {}, cache);
  EXPECT_EQ(binary.images.size(), 2U);
  EXPECT_EQ(binary.kernels.size(), 8U);
}

}  // namespace
}  // namespace heddle::runtime
