#include "tests/ptx/samples.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <limits>

#include "codegen/lower.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/text/parse.h"
#include "passes/pipeline.h"
#include "runtime/feed.h"
#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_files.h"

namespace heddle::testing {
namespace {

using namespace ir;

Module read(const std::string& name) {
  static std::deque<SourceFile> sources;  // what places in the text point to
  const std::string path = (source_dir() / "tests/ptx/mutants" / (name + ".hir")).string();
  return parse(sources.emplace_back(SourceFile{path, read_text(path)}));
}

// The kernels stay as they are written; behind them memory is planned.
Module planned(Module m) {
  const passes::Options options{.target = h200(), .libraries = {}, .remark = {}};
  bool behind = false;
  for (const passes::Pass& pass : passes::all_passes()) {
    if (behind) passes::run_pass(pass, m, options);
    behind = behind || pass.name == std::string("fuse");
  }
  return m;
}

// An input whose name ends in "inf" holds an infinity: at the beginning of its row 7.
NamedTensors inputs_of(const codegen::Entry& entry, uint64_t turn) {
  NamedTensors inputs;
  for (const codegen::Buffer& b : entry.inputs) {
    Tensor t = random_tensor({parse_dtype(b.dtype).value(), b.dims}, -1, 1, 100, hash_text(b.name) + turn);
    if (b.name.ends_with("inf")) t.set(7 * b.dims.back(), std::numeric_limits<double>::infinity());
    inputs.emplace(b.name, std::move(t));
  }
  return inputs;
}

Images run_graphs(const codegen::Program& program, runtime::Device& device) {
  ProgramRun run(program, device);
  Images all;
  for (const uint64_t turn : {uint64_t{0}, uint64_t{1}})  // the second finds what the first has left
    for (const codegen::Entry& entry : program.entries) {
      run.write(entry, inputs_of(entry, turn));
      run.run(entry);
      for (auto& [name, tensor] : run.read(entry))
        all.emplace(fmt::format("{} {} of turn {}", entry.name, name, turn), std::move(tensor));
    }
  return all;
}

template <class T>
runtime::data::Column column(const std::string& input, runtime::data::ElementType type, std::vector<int64_t> dims,
                             const std::vector<T>& values) {
  runtime::data::Column c{.input = input, .type = type, .dims = std::move(dims), .bytes = {}};
  c.bytes.resize(values.size() * sizeof(T));
  std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
  return c;
}

constexpr int64_t kRows = 32, kElements = 36;

// Four steps, of which the third meets what is not finite.
Images run_fed(const codegen::Program& program, runtime::Device& device) {
  std::vector<float> x(kRows * kElements);
  std::vector<uint8_t> labels(kRows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 101) * 0.25F;
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<uint8_t>(i * 7);
  x[20 * kElements + 3] = std::numeric_limits<float>::infinity();
  x[22 * kElements + 35] = std::numeric_limits<float>::quiet_NaN();
  const runtime::data::Table table{.rows = kRows,
                                   .columns = {column("x", runtime::data::ElementType::f32, {kElements}, x),
                                               column("label", runtime::data::ElementType::u8, {}, labels)}};
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kRows; ++i) order.push_back(i / 8 * 8 + (i * 5 + 3) % 8);
  runtime::Executable executable(program, device);
  runtime::Feed feed(executable);
  feed.begin(table, order);
  const codegen::Entry& entry = *program.find_entry(ir::Phase::eval);
  Images all;
  for (int64_t step = 0; step < 4; ++step) {
    feed.provide(entry.fed_rows);
    executable.wait(executable.submit(entry, 1));
    for (const codegen::Buffer& b : entry.outputs) {
      std::vector<std::byte> bytes(static_cast<size_t>(b.bytes));
      executable.read(b, bytes.data());
      all.emplace(fmt::format("{} {} {}", step, b.name, b.at.offset),
                  from_bytes({parse_dtype(b.dtype).value(), b.dims}, bytes));
    }
    Tensor record{{DType::i64, {codegen::kRecordWords}}};
    for (int64_t i = 0; i < codegen::kRecordWords; ++i)
      record.integer[static_cast<size_t>(i)] =
          static_cast<int64_t>(executable.ring()[step * codegen::kRecordWords + i]);
    all.emplace(fmt::format("{} record", step), record);
  }
  return all;
}

Sample fed() {
  Module m = read("fed");
  passes::Options options = host_options(/*library=*/false);
  options.target = h200();
  options.columns = {{"x", DType::f32, {data_map("scale", {{"by", {0.5}}}), data_map("shift", {{"by", {-1}}})}},
                     {"label", DType::u8, {}}};
  passes::run_pipeline(m, options);
  return {codegen::lower(m, "fed", h200()), run_fed};
}

}  // namespace

Sample sample(const std::string& name) {
  if (name == "fed") return fed();
  Module m = read(name);
  if (!m.kernels.empty()) return {codegen::lower(planned(std::move(m)), name, h200()), run_graphs};
  passes::Options options = host_options(/*library=*/false);  // whose kernels the compiler makes
  options.target = h200();
  passes::run_pipeline(m, options);
  return {codegen::lower(m, name, h200()), run_graphs};
}

}  // namespace heddle::testing
