// Arrays of more than 2^31 elements on the host device, in as many bytes: a few GiB at once, so
// only where HEDDLE_LARGE is set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/text/parse.h"
#include "runtime/executable.h"
#include "runtime/files/temporary.h"
#include "runtime/host/host_compiler.h"
#include "runtime/host/host_device.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

constexpr int64_t kMany = (int64_t{1} << 31) + 64;

uint8_t pattern(int64_t i) { return static_cast<uint8_t>(i ^ i >> 8 ^ i >> 24 ^ i >> 31); }

// A graph @g over %x, u8 of kMany elements, which hold the pattern.
class Large {
 public:
  explicit Large(const std::string& body)
      : file_{"large.hir", body}, program_(host_program(ir::parse(file_), "g")), executable_(program_, device_) {
    for (const codegen::Buffer& b : entry().inputs)
      if (b.name == "x")
        for (int64_t i = 0; i < b.bytes; ++i) at<uint8_t>(b)[i] = pattern(i);
  }
  template <class T>
  T* input(const std::string& name) {
    for (const codegen::Buffer& b : entry().inputs)
      if (b.name == name) return at<T>(b);
    return nullptr;
  }
  template <class T>
  const T* run() {
    executable_.run(entry());
    return at<T>(entry().outputs.at(0));
  }

 private:
  const codegen::Entry& entry() const { return testing::entry_named(program_, "g"); }
  template <class T>
  T* at(const codegen::Buffer& b) {
    return static_cast<T*>(executable_.host_address(b));
  }
  SourceFile file_;
  codegen::Program program_;
  runtime::HostDevice device_;
  runtime::Executable executable_;
};

class LargeSizes : public ::testing::Test {
  void SetUp() override {
    if (std::getenv("HEDDLE_LARGE") == nullptr) GTEST_SKIP() << "takes 4 GiB of memory: HEDDLE_LARGE=1";
  }
};

TEST_F(LargeSizes, ReductionsSeeEveryElement) {
  Large sum(fmt::format(R"(graph @g(input %x: u8[{0}]) {{
  %wide: i64[{0}] = cast(%x) {{dtype = "i64"}}
  %y: i64[] = reduce_sum(%wide) {{axes = [0]}}
  return %y
}})",
                        kMany));
  int64_t wanted = 0;
  for (int64_t i = 0; i < kMany; ++i) wanted += pattern(i);
  EXPECT_EQ(*sum.run<int64_t>(), wanted);
}

TEST_F(LargeSizes, MovementsReachTheEnd) {
  Large turned(fmt::format(R"(graph @g(input %x: u8[{0}]) {{
  %y: u8[{0}] = reverse(%x) {{axes = [0]}}
  return %y
}})",
                           kMany));
  const auto* y = turned.run<uint8_t>();
  int64_t wrong = 0;
  for (int64_t i = 0; i < kMany; ++i) wrong += y[i] != pattern(kMany - 1 - i) ? 1 : 0;
  EXPECT_EQ(wrong, 0);
}

TEST_F(LargeSizes, LookupsFindTheLastElement) {
  Large found(fmt::format(R"(graph @g(input %x: u8[{0}], input %i: i64[3]) {{
  %y: u8[3] = gather(%x, %i) {{axis = 0}}
  return %y
}})",
                          kMany));
  const int64_t places[] = {kMany - 1, int64_t{1} << 31, 5};
  std::copy(std::begin(places), std::end(places), found.input<int64_t>("i"));
  const auto* y = found.run<uint8_t>();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y[i], pattern(places[i]));
}

TEST_F(LargeSizes, PrefixesGoOnBehindTheLimit) {
  Large sums(fmt::format(R"(graph @g(input %x: u8[{0}]) {{
  %y: u8[{0}] = cumsum(%x) {{axis = 0}}
  return %y
}})",
                         kMany));
  const auto* y = sums.run<uint8_t>();
  int64_t wrong = 0;
  uint8_t sum = 0;
  for (int64_t i = 0; i < kMany; ++i) {
    sum = static_cast<uint8_t>(sum + pattern(i));
    wrong += y[i] != sum ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

// A row of a table may itself be as long.
TEST_F(LargeSizes, UpdatesOfALongRow) {
  Large table(fmt::format(R"(graph @g(input %x: u8[1,{0}], input %i: i32[1]) {{
  %y: u8[1,{0}] = scatter(%x, %i, %x) {{combine = "add"}}
  return %y
}})",
                          kMany));
  *table.input<int32_t>("i") = 0;
  const auto* y = table.run<uint8_t>();
  int64_t wrong = 0;
  for (int64_t i = 0; i < kMany; ++i) wrong += y[i] != static_cast<uint8_t>(2 * pattern(i)) ? 1 : 0;
  EXPECT_EQ(wrong, 0);
}

// Where a result's type ends, the operator says so.
TEST(IndexTypes, AnAxisThatNoIndexReachesIsRefused) {
  for (const char* op : {"argmax", "argmin"})
    for (const int64_t last : {(int64_t{1} << 31) - 1, int64_t{1} << 31}) {
      const SourceFile file{"long.hir",
                            fmt::format("graph @g(input %x: u8[2,{0}]) {{\n  %y: i32[2] = {1}(%x) {{axis = 1}}\n"
                                        "  return %y\n}}\n",
                                        last, op)};
      std::string said;
      try {
        ir::parse(file);
      } catch (const UserError& error) {
        said = error.what();
      }
      EXPECT_EQ(
          said.find("elements along the axis, expected fewer than 2^31: their index is an i32") != std::string::npos,
          last == int64_t{1} << 31)
          << said;
    }
}

// Nothing of that size is allocated: a number of 32 bits that overflows in a constant is an error of the compiler.
TEST(KernelText, OfLongRowsIsCompiled) {
  const SourceFile file{"long.hir",
                        fmt::format(R"(graph @scatter(input %x: u8[4,{0}], input %i: i32[2], input %u: u8[2,{0}]) {{
  %y: u8[4,{0}] = scatter(%x, %i, %u) {{combine = "add"}}
  return %y
}}
graph @argsort(input %x: u8[2,{1}]) {{
  %y: i32[2,{1}], %sorted: u8[2,{1}] = argsort(%x)
  return %y
}})",
                                    kMany, (int64_t{1} << 31) - 1)};
  const codegen::Program program = host_program(ir::parse(file), "long");
  EXPECT_NE(program.source.find("hd::scatter_rows<hd::Sum, hd::i64, 4, 2147483712, 2, 32>"), std::string::npos);
  EXPECT_NE(program.source.find("hd::argsort<2, 2147483647,"), std::string::npos);
  const runtime::TemporaryFolder folder;
  const runtime::KernelCache cache(folder.path());
  EXPECT_NE(runtime::compile_for_host(program.source, cache).find("k_scatter_rows"), nullptr);
}

}  // namespace
}  // namespace heddle::testing
