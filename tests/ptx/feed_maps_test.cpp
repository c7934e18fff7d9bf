// Rows that a step gathers and changes at random, in the interpreter: no finding, and the host's batches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/lower.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/feed.h"
#include "runtime/host/host_device.h"
#include "tests/ptx/agreement.h"
#include "tests/ptx/program_run.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using ir::data_map;
using ir::DType;

constexpr uint32_t kRows = 40, kBatch = 8, kRest = 4, kHeight = 6, kWidth = 5, kClasses = 5;

std::string graph(const std::string& name, uint32_t batch) {
  return fmt::format(
      "graph @{0}(input %x: f32[{1},{2},{3}], input %label: f32[{1},{4}]) {{\n"
      "  %loss: f32[] = reduce_sum(%label) {{axes = [0,1]}}\n  return %loss, %x, %label\n}}\n",
      name, batch, kHeight, kWidth, kClasses);
}

// Pictures and their classes are mixed alike, between maps that stand before and behind it.
codegen::Program program() {
  const SourceFile source{"mixup.hir", graph("train", kBatch) + graph("train_last", kRest)};
  ir::Module m = ir::parse(source);
  passes::Options options = host_options(/*library=*/false);
  options.target = ir::h200();
  const auto mixup = data_map("mixup", {{"alpha", {0.4}}});
  options.columns = {{.input = "x",
                      .stored = DType::u8,
                      .maps = {data_map("scale", {{"by", {0.25}}}), data_map("flip", {{"probability", {0.5}}}), mixup,
                               data_map("shift", {{"by", {-3}}})}},
                     {.input = "label", .stored = DType::u8, .maps = {mixup}, .classes = kClasses}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "mixup", ir::h200());
}

// Tokens of which some are hidden, and what these were.
codegen::Program hiding_program() {
  const auto hiding = [](const std::string& name, uint32_t batch) {
    return fmt::format(
        "graph @{0}(input %x: i32[{1},{2},{3}], input %y: i32[{1},{2},{3}]) {{\n"
        "  %a: i32[{1},{2},{3}] = add(%x, %y)\n  %r: f32[{1},{2},{3}] = cast(%a) {{dtype = \"f32\"}}\n"
        "  %loss: f32[] = reduce_sum(%r) {{axes = [0,1,2]}}\n  return %loss, %x, %y\n}}\n",
        name, batch, kHeight, kWidth);
  };
  const SourceFile source{"hide.hir", hiding("train", kBatch) + hiding("train_last", kRest)};
  ir::Module m = ir::parse(source);
  passes::Options options = host_options(/*library=*/false);
  options.target = ir::h200();
  const auto map = [](double targets) {
    return data_map("mask_tokens", {{"mask", {7}},
                                    {"vocab", {251}},
                                    {"special", {0, 1, 2, 7, 90}},
                                    {"rate", {0.4}},
                                    {"random", {0.2}},
                                    {"targets", {targets}}});
  };
  options.columns = {{.input = "x", .stored = DType::u8, .maps = {map(0)}},
                     {.input = "y", .stored = DType::u8, .maps = {map(1)}}};
  passes::run_pipeline(m, options);
  return codegen::lower(m, "hide", ir::h200());
}

runtime::data::Table tokens() {
  runtime::data::Column x{.input = "x", .type = runtime::data::ElementType::u8, .dims = {kHeight, kWidth}, .bytes = {}};
  for (uint32_t i = 0; i < kRows * kHeight * kWidth; ++i) x.bytes.push_back(static_cast<std::byte>(i * 7 % 251));
  runtime::data::Column y = x;
  y.input = "y";
  return {.rows = kRows, .columns = {x, y}};
}

runtime::data::Table table() {
  using runtime::data::ElementType;
  runtime::data::Column x{.input = "x", .type = ElementType::u8, .dims = {kHeight, kWidth}, .bytes = {}},
      label{.input = "label", .type = ElementType::u8, .dims = {}, .bytes = {}};
  for (uint32_t i = 0; i < kRows * kHeight * kWidth; ++i) x.bytes.push_back(static_cast<std::byte>(i * 7 % 251));
  for (uint32_t i = 0; i < kRows; ++i) label.bytes.push_back(static_cast<std::byte>(i % kClasses));
  return {.rows = kRows, .columns = {x, label}};
}

// Of four batches and a shorter one: the outputs of each.
std::vector<ir::Tensor> batches(const codegen::Program& program, runtime::Device& device, int64_t resident_bytes,
                                const runtime::data::Table& rows = table()) {
  runtime::Executable executable(program, device);
  runtime::Feed feed(executable, {.resident_bytes = resident_bytes});
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kRows; ++i) order.push_back(i * 7 % kRows);
  feed.begin(rows, order, {.seed = 7, .epoch = 2});
  std::vector<ir::Tensor> out;
  for (const char* name : {"train", "train", "train", "train", "train_last"}) {
    const codegen::Entry& entry = *program.find_entry(ir::entry_kind(name));
    feed.provide(entry.fed_rows);
    executable.wait(executable.submit(entry, 1));
    for (const codegen::Buffer& b : entry.outputs) out.push_back(read_buffer(executable, b));
  }
  return out;
}

TEST(PtxFeed, MixesRowsAsTheHostDoes) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const codegen::Program mixing = program();
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  const std::vector<ir::Tensor> expected = batches(mixing, host, int64_t{1} << 30);
  for (const int64_t resident : {int64_t{1}, int64_t{1} << 30}) {
    PtxDevice device;
    const std::vector<ir::Tensor> got = batches(mixing, device, resident);
    ASSERT_EQ(got.size(), expected.size());
    bool mixed = false;
    for (size_t i = 0; i < got.size(); ++i) {
      const Agreement together = agreement(expected[i], got[i]);
      EXPECT_EQ(together.fault, "") << i;
      EXPECT_LE(together.nmse, most_nmse(DType::f32)) << i;
      if (i % 3 == 2)  // shares of classes that are neither 0 nor 1
        for (const double share : got[i].real) mixed = mixed || (share > 0.01 && share < 0.99);
    }
    EXPECT_TRUE(mixed);
    for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
  }
}

TEST(PtxFeed, HidesTokensAsTheHostDoes) {
  if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC on this machine";
  const codegen::Program hiding = hiding_program();
  const runtime::data::Table rows = tokens();
  runtime::HostDevice host({.threads = 1, .kernel_cache = {}});
  const std::vector<ir::Tensor> expected = batches(hiding, host, int64_t{1} << 30, rows);
  PtxDevice device;
  const std::vector<ir::Tensor> got = batches(hiding, device, int64_t{1} << 30, rows);
  ASSERT_EQ(got.size(), expected.size());
  int hidden = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(agreement(expected[i], got[i]).fault, "") << i;
    if (i % 3 == 0) continue;  // the loss
    EXPECT_EQ(got[i].integer, expected[i].integer) << i;
    if (i % 3 == 2)
      for (const int64_t target : got[i].integer) hidden += target == -100 ? 0 : 1;
  }
  EXPECT_GT(hidden, 300);  // two of five of 1,080 tokens
  EXPECT_LT(hidden, 560);
  for (const ptx::Finding& f : device.findings()) ADD_FAILURE() << to_string(f);
}

}  // namespace
}  // namespace heddle::testing
