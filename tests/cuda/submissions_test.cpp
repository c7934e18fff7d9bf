// Models of models/, small, on the CUDA device with the fake driver: states of the same bits as
// launches and as one kernel, by 1, 8 and 64 steps, with their rows resident and streamed; and
// nothing but one launch for each submission.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "frontend/read/read_model.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/data/keyed_random.h"
#include "runtime/executable.h"
#include "runtime/feed.h"
#include "tests/support/source_dir.h"
#include "tools/driver/compile.h"
#include "tools/driver/entries.h"
#include "tools/driver/statistics.h"

namespace heddle::testing {
namespace {

constexpr int64_t kResident = std::numeric_limits<int64_t>::max(), kMegabyte = 1 << 20;

// --- the fake's report ---

std::string report() {
  using Text = const char*();
  return reinterpret_cast<Text*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "fake_cuda_report"))();
}

std::map<std::string, int64_t> counts() {
  std::map<std::string, int64_t> out;
  std::istringstream lines(report());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("count: ")) continue;
    const size_t end = line.rfind(' ');
    out[line.substr(7, end - 7)] = std::stoll(line.substr(end + 1));
  }
  return out;
}

// What no submission may do: allocate, wait, launch anything but what was recorded.
int64_t forbidden_calls() {
  int64_t all = 0;
  std::map<std::string, int64_t> now = counts();
  for (const char* call :
       {"cuMemAlloc", "cuMemHostAlloc", "cuMemFree", "cuMemFreeHost", "cuStreamSynchronize", "cuEventSynchronize",
        "cuLaunchKernel", "cuMemcpyDtoHAsync", "cuModuleLoadData", "cuStreamBeginCapture", "cuMemGetInfo"})
    all += now[call];
  return all;
}
int64_t launches() { return counts()["cuGraphLaunch"] + counts()["cuLaunchCooperativeKernel"]; }

// --- a model and its rows ---

struct Compiled {
  codegen::Program program;
  std::vector<frontend::PlannedInput> inputs;
  int64_t batch = 0;
};

// As the files of its data store them; pictures and labels of a byte where the files are not here.
std::vector<ir::DType> stored_types(const frontend::TrainingPlan& plan, const std::filesystem::path& folder) {
  std::vector<ir::DType> bytes;
  if (plan.data.train && plan.data.train->op != "idx")
    return driver::read_headers({.plan = &plan, .root = folder, .train = true}).stored;
  for (const frontend::PlannedInput& i : plan.inputs) bytes.push_back(plan.data.train ? ir::DType::u8 : i.row.dtype);
  return bytes;
}

Compiled compile(const std::string& name) {
  const std::filesystem::path folder = source_dir() / "models";
  frontend::Sources sources;
  std::vector<std::string> set;
  if (name == "tabular_regression") set = {"train.optimizer.lr=0.01"};  // its own is for rows that its maps make small
  const frontend::Model model =
      frontend::read_model(sources, (folder / (name + ".json")).string(), {.set = set, .small = true});
  frontend::TrainingPlan plan = frontend::plan_training(model);
  driver::assume_statistics(plan, {});
  const driver::CompileOptions options{.target = ir::h200(), .one_kernel = codegen::OneKernel::where_possible};
  ir::Module m = frontend::build_module(model, driver::entry_batches(plan, {.train = 10 * plan.batch + 1}, true));
  driver::run_passes(m, options, driver::fed_columns(plan, stored_types(plan, folder)));
  return {driver::lower(m, model.name, options), plan.inputs, plan.batch};
}

runtime::data::Column column(const codegen::FeedColumn& fed, const frontend::PlannedInput& input, int64_t rows) {
  using runtime::data::ElementType;
  const std::map<std::string, ElementType> types = {
      {"u8", ElementType::u8}, {"i32", ElementType::i32}, {"f32", ElementType::f32}};
  runtime::data::Column c{
      .input = fed.input, .type = types.at(fed.dtype), .dims = input.stored, .bytes = {}, .mapping = {}};
  const int64_t count = rows * c.row_elements();
  runtime::data::KeyedRandom random(/*seed=*/7, static_cast<uint64_t>(count));
  c.bytes.resize(static_cast<size_t>(rows * c.row_bytes()));
  // Indices, and labels whatever they are stored in.
  const bool label = fed.dtype == "i32" || input.row.dtype == ir::DType::i32 || input.stored.empty();
  for (int64_t i = 0; i < count; ++i) {
    const float real = random.uniform(0, 1);
    std::byte* to = c.bytes.data() + i * size_of(c.type);
    const auto whole = static_cast<int32_t>(real * (label ? 2 : 200));
    if (fed.dtype == "u8") *to = static_cast<std::byte>(whole);
    if (fed.dtype == "i32") std::memcpy(to, &whole, sizeof whole);
    if (fed.dtype == "f32") std::memcpy(to, &real, sizeof real);
  }
  return c;
}

struct Rows {
  runtime::data::Table table;
  int64_t limit;  // of what may be resident: they are streamed, 64 steps a chunk
};

Rows rows_of(const Compiled& what) {
  const auto columns_of = [&](int64_t rows) {
    std::vector<runtime::data::Column> columns;
    for (const codegen::FeedColumn& fed : what.program.feeding.columns)
      columns.push_back(column(fed, *std::ranges::find(what.inputs, fed.input, &frontend::PlannedInput::name), rows));
    return columns;
  };
  int64_t bytes = 0;
  for (const runtime::data::Column& c : columns_of(1)) bytes += c.row_bytes();
  constexpr int64_t kChunks = 8;  // of a limit
  const int64_t limit = std::max(kMegabyte, kChunks * 64 * what.batch * bytes), rows = limit / bytes + 1;
  return {{.rows = rows, .columns = columns_of(rows)}, limit};
}

// --- a training ---

struct Way {
  bool persistent;
  int64_t repeats, resident;
};

struct Trained {
  std::vector<std::byte> states;
  std::vector<double> losses;
};

Trained train(const Compiled& what, const runtime::data::Table& rows, int64_t steps, const Way& way) {
  const codegen::Program& program = what.program;
  runtime::CudaDevice device({.number = 0, .ptx = true, .persistent = way.persistent, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  executable.run(*program.find_entry(ir::Phase::init));
  std::vector<uint32_t> order(static_cast<size_t>(steps * what.batch + 1));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i * 7919 % static_cast<size_t>(rows.rows));
  Trained out;
  bool streamed = false;
  {
    runtime::Feed feed(executable,
                       {.resident_bytes = way.resident, .note = [&](const std::string&) { streamed = true; }});
    feed.begin(rows, order, {.seed = 3, .epoch = 1});
    int64_t calls = 0, launched = 0, submissions = 0;
    std::vector<uint64_t> numbers;
    const auto submit = [&](const std::string& entry, int64_t k) {
      // As the trainer does: the one before the last has been executed.
      if (numbers.size() >= 2) executable.wait(numbers[numbers.size() - 2]);
      const int64_t calls_before = forbidden_calls(), launched_before = launches();
      const codegen::Entry& e = *program.find_entry(ir::entry_kind(entry));
      feed.provide(k * e.fed_rows);
      numbers.push_back(executable.submit(e, k));
      calls += forbidden_calls() - calls_before, launched += launches() - launched_before;
    };
    for (int64_t left = steps; left > 0;) {
      const int64_t k = std::min(way.repeats, left);
      EXPECT_LE(k * what.batch, feed.most_rows());
      submit("train", k), ++submissions;
      left -= k;
    }
    submit("train_last", 1), ++submissions;
    executable.wait(numbers.back());
    EXPECT_EQ(calls, 0) << "calls beside the launches";
    // A graph of 64 steps with all turns of their loops may be too long: then there are shorter ones.
    const auto is_loop = [](const codegen::Step& s) { return std::holds_alternative<codegen::Loop>(s.what); };
    const bool loops = std::ranges::any_of(program.find_entry(ir::Phase::train)->steps, is_loop);
    if (loops)
      EXPECT_LE(launched, std::max<int64_t>(submissions, steps / 8 + 1));
    else
      EXPECT_EQ(launched, submissions);
    for (const runtime::StepRecord& r : feed.take(steps + 1)) out.losses.push_back(r.loss);
  }
  EXPECT_EQ(streamed, way.resident != kResident);
  for (const codegen::Buffer& b : program.states) {
    const size_t at = out.states.size();
    out.states.resize(at + static_cast<size_t>(b.bytes));
    executable.read(b, out.states.data() + at);
  }
  return out;
}

class CudaSubmissions : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!runtime::find_nvrtc().found) GTEST_SKIP() << "no NVRTC";
    ASSERT_NE(runtime::find_driver(), nullptr) << "LD_LIBRARY_PATH leads to the fake driver";
  }
};

// The chunks of 1 MB hold eight steps of every model, and 64 of most; the smallest limit whose
// chunks hold 64 is taken where it is larger.
TEST_P(CudaSubmissions, GiveTheSameBits) {
  constexpr int64_t kSteps = 64;
  const Compiled what = compile(GetParam());
  const auto [table, limit] = rows_of(what);
  std::vector<Way> ways = {{false, 1, kResident}, {false, 8, kMegabyte}, {false, 64, kResident}, {false, 64, limit}};
  if (what.program.find_entry(ir::Phase::train)->persistent >= 0)
    ways.insert(ways.end(), {{true, 1, kMegabyte}, {true, 8, kResident}, {true, 64, kResident}, {true, 64, limit}});
  std::optional<Trained> first;
  for (const Way& way : ways) {
    SCOPED_TRACE(::testing::Message() << (way.persistent ? "one kernel, " : "launches, ") << way.repeats << " steps, "
                                      << way.resident << " bytes");
    const Trained now = train(what, table, kSteps, way);
    if (!first) first = now;
    EXPECT_EQ(std::ranges::count_if(now.losses, [](double l) { return std::isfinite(l); }), kSteps + 1);
    EXPECT_EQ(now.losses, first->losses);
    EXPECT_TRUE(now.states == first->states) << "other states";
    fmt::print("{}: {}, by {}, {}: the last loss {:.9g}\n", GetParam(), way.persistent ? "one kernel" : "launches",
               way.repeats, way.resident == kResident ? "resident" : "streamed", now.losses.back());
  }
  EXPECT_EQ(report().find("violation: "), std::string::npos) << report();
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "models"))
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

// Launches alone, and one kernel. All models take minutes: a test of their own, by hand (docs/cuda.md).
INSTANTIATE_TEST_SUITE_P(Few, CudaSubmissions, ::testing::Values("recommender", "tiny_mlp"),
                         [](const auto& info) { return info.param; });
// A loop's turns are recorded one by one.
INSTANTIATE_TEST_SUITE_P(Loops, CudaSubmissions, ::testing::Values("../tests/unit/Inputs/recurrent"),
                         [](const auto&) { return "recurrent"; });
INSTANTIATE_TEST_SUITE_P(Models, CudaSubmissions, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle::testing
