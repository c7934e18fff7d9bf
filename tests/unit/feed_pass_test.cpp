// The pass feed: which entries feed themselves, by which columns, and what their nodes say.
#include <gtest/gtest.h>

#include "ir/cursor.h"
#include "ir/evaluate/evaluate.h"
#include "ir/text/parse.h"
#include "ir/verify/verify.h"
#include "passes/feed.h"
#include "passes/pipeline.h"
#include "tests/support/host_run.h"

namespace heddle {
namespace {

using ir::data_map;
using ir::DType;
using ir::FedColumn;
using ir::FedInput;
using ir::Graph;

constexpr const char* kText = R"(graph @train(input %x: f32[8,4,4], input %t: f32[8], param %w: f32[8]) {
  %sums: f32[8] = reduce_sum(%x) {axes = [1,2]}
  %all: f32[8] = add(%sums, %t)
  %weighted: f32[8] = mul(%all, %w)
  %loss: f32[] = reduce_sum(%weighted) {axes = [0]}
  %loss.count: f32[] = reduce_sum(%t) {axes = [0]}
  %gradient.norm: f32[] = reduce_sum(%w) {axes = [0]}
  return %loss, %loss.count, %gradient.norm
}
graph @eval(input %t: f32[3]) {
  %loss: f32[] = reduce_sum(%t) {axes = [0]}
  return %loss, %t
}
graph @predict(input %x: f32[8,4,4]) {
  return %x
}
)";

struct Fed {
  explicit Fed(std::vector<FedColumn> columns) : source{"fed.hir", kText}, module(ir::parse(source)) {
    options.columns = std::move(columns);
    changed = passes::feed(module, options);
  }
  const Graph& graph(const char* name) const { return *module.find_graph(name); }
  // The nodes that make inputs, in order.
  std::vector<FedInput> inputs(const char* name) const {
    std::vector<FedInput> all;
    const Graph& g = graph(name);
    for (const ir::NodeId n : g.order)
      if (g[n].op->traits.gathers_rows) all.push_back(ir::fed_input(g[n]));
    return all;
  }
  const ir::Node& record(const char* name) const {
    const Graph& g = graph(name);
    for (const ir::NodeId n : g.order)
      if (g[n].op->traits.records != nullptr) return g[n];
    throw std::runtime_error("no record");
  }

  SourceFile source;
  ir::Module module;
  passes::Options options = testing::host_options(/*library=*/false);
  bool changed = false;
};

std::vector<FedColumn> columns() {
  return {{.input = "nobody", .stored = DType::f64},
          {.input = "x", .stored = DType::u8, .maps = {data_map("flip"), data_map("scale", {{"by", {0.25}}})}},
          {.input = "t", .stored = DType::i16}};
}

TEST(FeedPass, LeavesAModuleWithoutColumnsAlone) {
  const Fed none({}), other({{.input = "nobody", .stored = DType::f32}});
  for (const Fed* fed : {&none, &other}) {
    EXPECT_FALSE(fed->changed);
    EXPECT_TRUE(ir::structurally_equal(fed->module, ir::parse(fed->source)));
  }
}

TEST(FeedPass, MakesInputsOfEntriesThatTakeRows) {
  const Fed fed(columns());
  EXPECT_TRUE(fed.changed);
  EXPECT_EQ(ir::verify(fed.module), std::vector<std::string>{});
  // What no entry takes is no column: the cursor has two, and the words of draws.
  const ir::Type cursor{DType::u64, {ir::cursor_words(2, /*draws=*/true)}};
  for (const char* name : {"train", "eval"}) {
    const Graph& g = fed.graph(name);
    for (const ir::ValueId v : g.inputs) EXPECT_NE(g[v].role, ir::Role::input) << name;
    EXPECT_EQ(g[g.find("cursor")].type, cursor);
    // Also where only the training tells a norm.
    EXPECT_EQ(g[g.find("ring")].type.elements(), ir::ring_words(int64_t{1} << 15, /*norms=*/true));
  }
  const std::vector<FedInput> train = fed.inputs("train"), eval = fed.inputs("eval");
  ASSERT_EQ(train.size(), 2U);
  ASSERT_EQ(eval.size(), 1U);
  EXPECT_EQ(train[0].column.input, "x");
  EXPECT_EQ(train[0].column.stored, DType::u8);
  EXPECT_EQ(train[0].type, (ir::Type{DType::f32, {8, 4, 4}}));
  EXPECT_EQ(train[0].number, 0);
  EXPECT_EQ(train[0].first_draw, ir::kCursorColumns + 2);
  EXPECT_EQ(train[1].number, 1);
  EXPECT_EQ(train[1].first_draw, 0);  // nothing of it is random
  EXPECT_EQ(eval[0].column.input, "t");
  EXPECT_EQ(eval[0].number, 1);
  EXPECT_EQ(eval[0].rows(), 3);
  // Names stay: of the values that took the inputs' places, and of what an entry returns.
  const Graph& g = fed.graph("eval");
  EXPECT_EQ(g[g.outputs[1]].name, "t");
  EXPECT_TRUE(g[g.outputs[1]].def.valid());
  EXPECT_EQ(fed.graph("predict").inputs.size(), 1U);
  EXPECT_EQ(fed.graph("predict")[fed.graph("predict").inputs[0]].role, ir::Role::input);
}

// Rows of 16 elements: whole ones need no stride, shorter ones have it.
TEST(FeedPass, ShorterEntriesTakeTheFirstOfARow) {
  const SourceFile source{"fed.hir", R"(graph @eval(input %x: f32[8,16]) {
  %loss: f32[] = reduce_sum(%x) {axes = [0,1]}
  return %loss
}
graph @eval.4(input %x: f32[8,4]) {
  %loss: f32[] = reduce_sum(%x) {axes = [0,1]}
  return %loss
}
)"};
  ir::Module m = ir::parse(source);
  passes::Options options = testing::host_options(/*library=*/false);
  options.columns = {{.input = "x", .stored = DType::u8, .stride = 16}};
  ASSERT_TRUE(passes::feed(m, options));
  EXPECT_EQ(ir::verify(m), std::vector<std::string>{});
  for (const int64_t length : {0, 4}) {
    const Graph& g = *m.find_graph(ir::EntryKind{.phase = ir::Phase::eval, .length = length});
    const FedInput fed = ir::fed_input(*g.def(g.find("x")));
    EXPECT_EQ(fed.column.stride, length > 0 ? 16 : 0);
    EXPECT_EQ(fed.stride(), 16);
    EXPECT_EQ(fed.stored_elements(), length > 0 ? length : 16);
  }
}

TEST(EntryKind, NamesSayLengths) {
  using ir::BatchKind, ir::entry_kind, ir::entry_name, ir::EntryKind, ir::Phase;
  const EntryKind shorter{.phase = Phase::train, .length = 16},
      last{.phase = Phase::eval, .batch = BatchKind::remainder, .length = 1024};
  EXPECT_EQ(entry_name(shorter), "train.16");
  EXPECT_EQ(entry_name(last), "eval_last.1024");
  for (const EntryKind& kind : {shorter, last, EntryKind{.phase = Phase::reset}, EntryKind{.phase = Phase::train}})
    EXPECT_EQ(entry_kind(entry_name(kind)), kind);
  EXPECT_TRUE(shorter.takes_rows());
  for (const char* name : {"train.", "train.0", "train.016", "train.-4", "train.4x", "train.1.6", ".16", "reset.16",
                           "predict.16", "trains.16", "train.99999999999999999999"})
    EXPECT_EQ(entry_kind(name), EntryKind{}) << name;
}

TEST(FeedPass, RecordsWhatTheStepTells) {
  const Fed fed(columns());
  const auto told = [&](const char* name) {
    std::vector<std::string> names;
    const ir::Node& n = fed.record(name);
    for (size_t i = 2; i < n.operands.size(); ++i) names.push_back(fed.graph(name)[n.operands[i]].name);
    return names;
  };
  EXPECT_EQ(told("train"), (std::vector<std::string>{"loss", "loss.count", "gradient.norm"}));
  EXPECT_EQ(told("eval"), (std::vector<std::string>{"loss"}));
  EXPECT_EQ(fed.record("eval").attrs.at("rows"), ir::Attr(int64_t{3}));
  EXPECT_TRUE(fed.record("train").attrs.contains("count"));
  EXPECT_FALSE(fed.record("eval").attrs.contains("norm"));
}

// No room is planned for the cursor, the ring and what is made of them; x is there until its last reader has run.
TEST(FeedPass, InputsAreValuesOfTheArena) {
  Fed fed(columns());
  passes::Options options = fed.options;
  ir::Module m = ir::parse(fed.source);
  passes::run_pipeline(m, options);
  const Graph& g = *m.find_graph("train");
  const ir::ValueId x = g.find("x");
  ASSERT_TRUE(x.valid() && g[x].def.valid());
  EXPECT_TRUE(g[x].place.placed());
  EXPECT_LT(g.arena_bytes, 1 << 14);
  const ir::Node& call = *g.def(x);
  EXPECT_EQ(call.results.size(), 3U);  // x, t and the cursor in one kernel
  EXPECT_EQ(g[call.results[2]].place.base, g.find("cursor"));
}

TEST(FeedPass, IsNotEvaluated) {
  const Fed fed(columns());
  const Graph& g = fed.graph("eval");
  ir::NamedTensors values;
  for (const ir::ValueId v : g.inputs) values[g[v].name] = ir::Tensor(g[v].type);
  try {
    ir::evaluate(fed.module, g, values);
    FAIL() << "the rows are known";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("it reads the data set"), std::string::npos) << error.what();
  }
}

// All entries share the ring; a training step that tells its loss scale leaves it behind the norms.
TEST(FeedPass, TellsLossScalesOfTrainingStepsAlone) {
  std::string text = kText;
  const size_t at = text.find("  return %loss, %loss.count");
  text.insert(at, "  %step.scale: f32[] = reduce_sum(%t) {axes = [0]}\n");
  text.replace(text.find("%gradient.norm\n}"), 14, "%step.scale");
  const SourceFile source{"scaled.hir", text};
  ir::Module m = ir::parse(source);
  passes::Options options = testing::host_options(/*library=*/false);
  options.columns = columns();
  EXPECT_TRUE(passes::feed(m, options));
  EXPECT_EQ(ir::verify(m), std::vector<std::string>{});
  for (const auto& [name, tells] : {std::pair("train", true), {"eval", false}}) {
    const Graph& g = *m.find_graph(name);
    EXPECT_EQ(g[g.find("ring")].type.elements(), ir::ring_words(int64_t{1} << 15, /*norms=*/true, /*scales=*/true));
    for (const ir::NodeId n : g.order) {
      if (g[n].op->traits.records == nullptr) continue;
      EXPECT_EQ(g[n].attrs.contains("scale"), tells) << name;
      const bool last = g[g[n].operands.back()].name == ir::kToldScale;
      EXPECT_EQ(last, tells) << name;
    }
  }
}

TEST(FedColumn, MapsAreTheSameBehindTheirText) {
  const std::vector<ir::DataMap> maps = {data_map("pad", {{"pad", {1, 2, 3, 4}}, {"fill", {-0.1}}}),
                                         data_map("crop", {{"pad", {4, 2}}}),
                                         data_map("flip"),
                                         data_map("normalize", {{"mean", {1 / 3.0, 1e-300}}, {"std", {0.1, 5e20}}}),
                                         data_map("cutout", {{"size", {3, 5}}}),
                                         data_map("mixup"),
                                         data_map("shift", {{"by", {-2.5}}})};
  const std::vector<ir::DataMap> again = ir::read_maps(ir::maps_text(maps));
  ASSERT_EQ(again.size(), maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    EXPECT_EQ(again[i].def, maps[i].def);
    EXPECT_EQ(again[i].numbers, maps[i].numbers) << maps[i].def->name;
  }
  EXPECT_EQ(ir::maps_text({}), "");
  EXPECT_TRUE(ir::read_maps("  ").empty());
}

TEST(FedColumn, RefusesWhatIsNoMap) {
  for (const char* text :
       {"scale", "scale(by = 1", "scale(by)", "scale(by = 1 nan)", "scale(by = 1e999)", "(by = 1)", ";",
        "scale(by = 1);;scale(by = 1)", "scale(to = 1)", "cast(dtype = 1)", "normalize()", "normalize(mean = 0)",
        "normalize(mean = 0, std = 0)", "crop(pad = 1.5 1)", "flip(probability = 2)"})
    EXPECT_THROW(ir::read_maps(text), ir::InferError) << text;
}

}  // namespace
}  // namespace heddle
