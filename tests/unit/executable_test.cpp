#include "runtime/executable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/host_device.h"
#include "runtime/host/onednn.h"
#include "runtime/host/step_memory.h"
#include "tests/unit/allocations.h"

namespace heddle::runtime {
namespace {

using codegen::Buffer;
using codegen::Segment;

// A preamble in small: what generated text relies on.
const std::string kPreamble = R"(
#define HD_KERNEL(name) static void name
#define HD_HOST_ENTRY(name, n) \
  extern "C" void name##_host(void* const* a, int block, int blocks) { hd_block = block; hd_blocks = blocks; hd_call(name, a); }
static thread_local int hd_block, hd_blocks;
extern "C" void heddle_prepare_thread() { hd_block = 0; }
template <class A, class B> static void hd_call(void (*f)(A, B), void* const* a) { f((A)a[0], (B)a[1]); }
template <class A, class B, class C> static void hd_call(void (*f)(A, B, C), void* const* a) { f((A)a[0], (B)a[1], (C)a[2]); }
)";
// add: c = a + b over 1000 elements, each block its share. mark: element `block` of b counts the calls of that block of
// `blocks`.
const std::string kKernels = R"(
HD_KERNEL(add)(const float* a, const float* b, float* c) {
  for (int i = 1000 * hd_block / hd_blocks; i < 1000 * (hd_block + 1) / hd_blocks; ++i) c[i] = a[i] + b[i];
}
HD_HOST_ENTRY(add, 3)

HD_KERNEL(mark)(const float* a, float* b) { b[hd_block] += a[0] * hd_blocks; }
HD_HOST_ENTRY(mark, 2)
)";

codegen::Kernel kernel(const std::string& name, int64_t arguments, int64_t blocks) {
  codegen::Kernel k;
  k.name = k.title = name;
  k.arguments = arguments;
  k.blocks = blocks;
  k.max_blocks = 1000;
  k.bytes_read = k.bytes_written = int64_t{1} << 24;  // much enough for every thread
  return k;
}

Buffer floats(const std::string& name, int64_t n, Segment segment, int64_t offset, codegen::BufferRole role) {
  return {name, "f32", {n}, n * 4, {segment, offset}, role};
}

codegen::Argument reads(Segment segment, int64_t offset) { return {{segment, offset}, 4000, codegen::Access::read}; }
codegen::Argument writes(Segment segment, int64_t offset, int64_t bytes = 4000) {
  return {{segment, offset}, bytes, codegen::Access::write};
}

// total <- total + x, in a state of 1000 elements; `marks` counts blocks.
codegen::Program counting_program() {
  codegen::Program p;
  p.name = "counting";
  p.source = kPreamble + kKernels;
  p.kernels = {kernel("add", 3, 0), kernel("mark", 2, 5)};
  p.states = {floats("total", 1000, Segment::state, 0, codegen::BufferRole::state),
              floats("marks", 5, Segment::state, 4096, codegen::BufferRole::state)};
  p.state_bytes = 8192;
  p.arena_bytes = 16384;
  codegen::Entry e;
  e.name = "train";
  e.inputs = {floats("x", 1000, Segment::arena, 0, codegen::BufferRole::input)};
  e.outputs = {floats("sum", 1000, Segment::arena, 4096, codegen::BufferRole::result)};
  e.steps.push_back(
      {codegen::Launch{0, {reads(Segment::state, 0), reads(Segment::arena, 0), writes(Segment::arena, 4096)}},
       "m.json:1:1"});
  e.steps.push_back({codegen::Copy{{Segment::arena, 4096}, {Segment::state, 0}, 4000, {}}, ""});
  e.steps.push_back({codegen::Launch{1, {reads(Segment::arena, 0), writes(Segment::state, 4096, 20)}}, ""});
  p.entries = {e};
  return p;
}

HostOptions options(const TemporaryFolder& cache, int threads) { return {threads, cache.path()}; }

TEST(Executable, RunsStepsInOrderAndKeepsState) {
  const TemporaryFolder cache;
  const codegen::Program program = counting_program();
  for (int threads : {1, 2, 4}) {
    HostDevice device(options(cache, threads));
    Executable executable(program, device);
    EXPECT_EQ(device.loaded_from_cache(), threads > 1);
    std::vector<float> x(1000), got(1000), marks(5);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    const codegen::Entry& entry = program.entries[0];
    for (int step = 0; step < 3; ++step) {
      executable.write(entry.inputs[0], x.data());
      executable.run(entry);
    }
    executable.read(entry.outputs[0], got.data());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 3 * x[i]);
    executable.read(program.states[0], got.data());
    EXPECT_EQ(got[999], 3000.0F);
    executable.read(program.states[1], marks.data());
    for (float m : marks)
      EXPECT_EQ(m, 3 * 5.0F) << threads << " threads";  // each of 5 blocks once per step, told there are 5
    EXPECT_EQ(static_cast<float*>(executable.host_address(entry.inputs[0]))[1], 2.0F);
  }
}

// Launches and copies allocate nothing at all.
TEST(Executable, StepsAllocateNothing) {
  const TemporaryFolder cache;
  const codegen::Program program = counting_program();
  HostDevice device(options(cache, 2));
  Executable executable(program, device);
  executable.run(program.entries[0]);
  const int64_t before = test::allocations();
  for (int i = 0; i < 100; ++i) executable.run(program.entries[0]);
  EXPECT_EQ(test::allocations() - before, 0);
  void* const proof = ::operator new(100);  // the counter counts; a vector's memory a compiler may leave out
  EXPECT_EQ(test::allocations() - before, 1);
  ::operator delete(proof);
}

codegen::Program product_program() {
  codegen::Library call;
  call.impl = "onednn";
  call.op = "matmul";
  call.matrix_product = true;
  call.title = "fc";
  call.operands = {{"f32", {64, 32}}, {"f32", {32, 48}}};
  call.results = {{"f32", {64, 48}}};
  call.batch_split = 4;
  call.arguments = {{{Segment::arena, 0}, 8192, codegen::Access::read},
                    {{Segment::arena, 8192}, 6144, codegen::Access::read},
                    {{Segment::arena, 14336}, 12288, codegen::Access::write}};
  call.workspace = {{Segment::arena, 26624}, onednn_needs(call).workspace, codegen::Access::read_write};
  codegen::Program p;
  p.arena_bytes = 26624 + call.workspace.bytes;
  codegen::Entry e;
  e.name = "predict";
  e.inputs = {floats("a", 64 * 32, Segment::arena, 0, codegen::BufferRole::input),
              floats("b", 32 * 48, Segment::arena, 8192, codegen::BufferRole::input)};
  e.outputs = {floats("c", 64 * 48, Segment::arena, 14336, codegen::BufferRole::result)};
  e.steps.push_back({call, ""});
  p.entries = {e};
  return p;
}

// oneDNN makes small objects while it executes a primitive; after the first run they come from the
// step memory. Heap use grows by what the C library makes for a thread that takes part for the
// first time, however late, and by nothing else.
TEST(Executable, LibraryStepsAllocateNothing) {
  const codegen::Program program = product_program();
  for (int threads : {1, 3}) {
    HostDevice device({.threads = threads, .kernel_cache = {}});
    Executable executable(program, device);
    std::vector<float> a(64 * 32, 0.5F), b(32 * 48, 2.0F), c(64 * 48);
    executable.write(program.entries[0].inputs[0], a.data());
    executable.write(program.entries[0].inputs[1], b.data());
    executable.run(program.entries[0]);
    executable.read(program.entries[0].outputs[0], c.data());
    for (float v : c) ASSERT_EQ(v, 32.0F);  // 32 products of 0.5 * 2
    const int64_t before = test::allocations(), bytes = test::live_bytes();
    for (int i = 0; i < 1000; ++i) executable.run(program.entries[0]);
    EXPECT_LE(test::live_bytes(), bytes + 2000 * (threads - 1));
    if (StepMemory::active) {
      EXPECT_EQ(test::allocations() - before, 0);
    }
  }
}

TEST(Executable, OtherLibrariesAreRefused) {
  codegen::Program program = product_program();
  std::get<codegen::Library>(program.entries[0].steps[0].what).impl = "cublaslt";
  HostDevice device({.threads = 1, .kernel_cache = {}});
  EXPECT_THROW(Executable(program, device), UserError);
}

// The message shows the compiler's error and the numbered lines around it.
TEST(HostCompiler, ErrorsShowTheSource) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  try {
    compile_for_host("int a;\nint f() { return b; }\nint c;\n", cache);
    FAIL() << "compiled";
  } catch (const UserError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(">     2 | int f() { return b; }"), std::string::npos) << text;
    EXPECT_NE(text.find("      3 | int c;"), std::string::npos) << text;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_NE(entry.path().extension(), ".so");  // a failure is not cached
}

// A damaged entry is compiled again instead of being loaded.
TEST(HostCompiler, RecompilesADamagedEntry) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  const std::string source = "extern \"C\" void f_host(void* const* a, int, int) { *(int*)a[0] = 41; }\n";
  EXPECT_FALSE(compile_for_host(source, cache).cached);
  EXPECT_TRUE(compile_for_host(source, cache).cached);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".so") std::filesystem::resize_file(entry.path(), 1000);
  }
  HostLibrary again = compile_for_host(source, cache);
  EXPECT_FALSE(again.cached);
  int value = 0;
  void* arguments[] = {&value};
  ASSERT_NE(again.find("f"), nullptr);
  again.find("f")(arguments, 0, 1);
  EXPECT_EQ(value, 41);
  EXPECT_EQ(again.find("g"), nullptr);
}

// Nine kernels compile in two parts; all are found.
TEST(HostCompiler, CompilesInParts) {
  const TemporaryFolder folder;
  const KernelCache cache(folder.path());
  std::string source = kPreamble;
  for (int i = 0; i < 9; ++i) {
    source +=
        fmt::format("HD_KERNEL(k{0})(const int* a, int* b) {{\n  *b = *a + {0};\n}}\nHD_HOST_ENTRY(k{0}, 2)\n", i);
  }
  const HostLibrary library = compile_for_host(source, cache);
  EXPECT_EQ(library.handles.size(), 2U);
  for (int i = 0; i < 9; ++i) {
    int a = 100, b = 0;
    void* arguments[] = {&a, &b};
    const HostKernel k = library.find(fmt::format("k{}", i));
    ASSERT_NE(k, nullptr);
    k(arguments, 0, 1);
    EXPECT_EQ(b, 100 + i);
  }
}

}  // namespace
}  // namespace heddle::runtime
