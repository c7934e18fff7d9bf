// Tables of measured choices: what is read, what is refused and where, whom the chooser follows, and when a candidate is
// faster by more than noise.
#include "tools/driver/choices.h"

#include <gtest/gtest.h>

#include "codegen/lower.h"
#include "ir/builder.h"
#include "passes/pipeline.h"
#include "passes/select/onednn.h"
#include "runtime/host/onednn.h"
#include "tools/driver/tune.h"

namespace heddle::driver {
namespace {

std::string table(const std::string& kernels, const std::string& heddle = HEDDLE_VERSION) {
  return "{\"format\": \"heddle-choices/1\", \"heddle\": \"" + heddle +
         "\",\n \"processor\": \"p\", \"libraries\": [],\n" + " \"kernels\": [" + kernels + "],\n \"steps\": []}";
}
std::string choice(const std::string& chosen, const std::string& seconds, const std::string& body = "b") {
  return "{\"body\": \"" + body + "\", \"default\": \"onednn\", \"chosen\": \"" + chosen + "\", \"seconds\": {" +
         seconds + "}}";
}
const std::string kBoth = "\"onednn\": 2e-06, \"generated text\": 1e-06";

Choices read(const std::string& text) {
  const SourceFile file{"t.json", text};
  return read_choices(file);
}
std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().size(), 1U);
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "taken";
}

TEST(Choices, AreRead) {
  const Choices c = read(table(choice("generated text", kBoth)));
  EXPECT_EQ(c.file, "t.json");
  EXPECT_EQ(c.processor, "p");
  ASSERT_EQ(c.kernels.count("b"), 1U);
  EXPECT_EQ(c.kernels.at("b").chosen, "generated text");
  EXPECT_EQ(c.kernels.at("b").seconds.at("onednn"), 2e-6);
  EXPECT_EQ(c.kernels.at("b").origin, "t.json:3:59: ");
}

// One message each, with its place.
TEST(Choices, HostileTablesAreRefused) {
  const std::string whole = table(choice("generated text", kBoth));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_NE(refusal(whole.substr(0, bytes)), "taken") << bytes;
  EXPECT_EQ(refusal("[1]"), "t.json:1:1: error: the table of choices: expected an object, found a list");
  EXPECT_NE(refusal(table(choice("generated text", "\"onednn\": nan"))).find("t.json:3:"), std::string::npos);
  const auto has = [&](const std::string& text, const std::string& part) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.rfind("t.json:", 0), 0U) << message;
  };
  has(table(choice("onednn", "\"onednn\": 0")), "the time of 'onednn' is no number above 0");
  has(table(choice("onednn", "\"onednn\": -1")), "the time of 'onednn' is no number above 0");
  has(table(choice("onednn", "\"onednn\": \"fast\"")), "a time");
  has(table(choice("onednn", "\"mkl\": 1")), "there is no candidate 'mkl'");
  has(table(choice("generated text", "\"onednn\": 1")),
      "'chosen' is 'generated text', and 'seconds' has no such candidate");
  has(table(choice("onednn", kBoth) + ", " + choice("onednn", kBoth)), "a choice for this body was made before");
  has(table("{\"body\": 3}"), "'body': expected a string");
  has(table("7"), "a choice");
  has(table("{\"body\": \"b\", \"speed\": 1}"), "a choice has no key 'speed'");
  has("{\"format\": \"heddle-choices/2\"}", "expected 'heddle-choices/1', found 'heddle-choices/2'");
  has("{\"format\": \"heddle-choices/1\", \"heddle\": 1}", "'heddle'");
}

TEST(Choices, HoldForOneVersionAndProcessor) {
  EXPECT_NO_THROW(require_choices_for({}, ir::host()));
  Choices c = read(table("", "0.0.1"));
  EXPECT_THROW(require_choices_for(c, ir::host()), UserError);
  c.heddle = HEDDLE_VERSION;
  EXPECT_THROW(require_choices_for(c, ir::host()), UserError);
  c.processor = processor_name(ir::host());
  EXPECT_NO_THROW(require_choices_for(c, ir::host()));
  EXPECT_THROW(require_choices_for(c, ir::h200()), UserError);
  EXPECT_NE(processor_name(ir::h200()), processor_name(ir::a100()));
}

TEST(Choices, OfEqualDecisionsHaveOneHash) {
  Choices a = read(table(choice("generated text", kBoth)));
  Choices b = read(table(choice("generated text", "\"onednn\": 9e-06, \"generated text\": 3e-06")));
  EXPECT_EQ(hash_of(a), hash_of(b));
  EXPECT_NE(hash_of(a), hash_of(read(table(choice("onednn", kBoth)))));
  EXPECT_EQ(hash_of(Choices{}), "");
}

ir::Module product() {
  ir::Module m;
  ir::Graph& g = m.graphs.emplace_back();
  g.name = "f";
  ir::Builder b(g);
  const ir::ValueId x = g.add_input("x", {ir::DType::f32, {8, 16}}, ir::Role::input);
  const ir::ValueId w = g.add_input("w", {ir::DType::f32, {16, 10}}, ir::Role::input);
  g.outputs = {b("matmul", {x, w}, {}, "mm")};
  return m;
}
passes::LibraryAnswer takes(const ir::Graph&) { return {.workspace = 512, .refusal = {}}; }

TEST(Choices, AreFollowed) {
  std::vector<passes::Decision> decisions;
  std::string reason;
  passes::Options options;
  options.libraries = {{&passes::onednn(), takes}};
  options.decided = [&](const passes::Decision& d) { decisions.push_back(d); };
  options.remark = [&](const passes::Remark& r) {
    if (r.pass == "select") reason = r.reason;
  };
  ir::Module usual = product();
  passes::run_pipeline(usual, options);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].taken, "onednn");
  EXPECT_EQ(decisions[0].candidates, (std::vector<std::string>{"onednn", "generated text"}));
  EXPECT_EQ(decisions[0].body, "f32[8,16], f32[16,10] | matmul 0 1 f32[8,10] | return 2");
  options.choices[decisions[0].body] = {
      .chosen = "generated text", .seconds = {{"onednn", 2e-6}, {"generated text", 1e-6}}, .origin = {}};
  ir::Module other = product();
  passes::run_pipeline(other, options);
  EXPECT_EQ(decisions[1].taken, "generated text");
  EXPECT_EQ(reason, "generated text 1 us measured; not onednn: 2 us measured");
  for (const ir::Graph& k : other.kernels) EXPECT_FALSE(calls_library(k));
  options.choices[decisions[0].body].chosen = "cublaslt";
  ir::Module refused = product();
  EXPECT_THROW(passes::run_pipeline(refused, options), UserError);
}

// On a GPU a fused product has tiles to choose from, whatever it was given.
TEST(Choices, GiveProductsTheirTiles) {
  std::vector<passes::Decision> decisions;
  passes::Options options;
  options.target = ir::h200();
  options.decided = [&](const passes::Decision& d) { decisions.push_back(d); };
  const auto large = [] {
    ir::Module m;
    ir::Graph& g = m.graphs.emplace_back();
    g.name = "f";
    ir::Builder b(g);
    const ir::ValueId x = g.add_input("x", {ir::DType::f32, {512, 512}}, ir::Role::input);
    const ir::ValueId w = g.add_input("w", {ir::DType::f32, {512, 512}}, ir::Role::input);
    g.outputs = {b("relu", {b("matmul", {x, w}, {}, "mm")}, {}, "y")};
    return m;
  };
  ir::Module usual = large();
  passes::run_pipeline(usual, options);
  ASSERT_FALSE(decisions.empty());
  const passes::Decision tiles = decisions.back();
  ASSERT_GE(tiles.candidates.size(), 3U);
  EXPECT_EQ(tiles.candidates.size(), tiles.schedules.size());
  EXPECT_EQ(tiles.candidates[0], tiles.taken);
  EXPECT_EQ(tiles.body.rfind("fused: ", 0), 0U);
  for (size_t c = 0; c < tiles.candidates.size(); ++c) {
    options.choices[tiles.body] = {.chosen = tiles.candidates[c], .seconds = {}, .origin = {}};
    ir::Module m = large();
    passes::run_pipeline(m, options);  // verified behind each pass
    EXPECT_EQ(*m.kernels.at(0).schedule, tiles.schedules[c]) << tiles.candidates[c];
  }
  options.choices[tiles.body].chosen = "tiles 1 x 1 x 1, 1 threads, 1 stages, 1 part";
  ir::Module refused = large();
  EXPECT_THROW(passes::run_pipeline(refused, options), UserError);
}

TEST(Tune, ACandidateWinsByMoreThanNoise) {
  EXPECT_EQ(judge({{3, 3, 3, 3}, {2, 2, 2, 2}}, 0).chosen, 1U);
  EXPECT_EQ(judge({{3, 3, 3, 3}, {2.95, 2.95, 2.95, 2.95}}, 0).chosen, 0U);  // less than 3 %
  EXPECT_EQ(judge({{3, 3, 3, 3}, {2, 2, 4, 4}}, 0).chosen, 0U);              // in two rounds of four
  EXPECT_EQ(judge({{2, 2, 2, 2}, {3, 3, 3, 3}}, 1).chosen, 0U);
  EXPECT_EQ(judge({{3, 3, 3, 3}, {2, 2, 2, 2}, {1, 1, 1, 1}}, 0).chosen, 2U);
  EXPECT_EQ(judge({{3, 3, 3, 3}}, 0).chosen, 0U);
  // A round that another program disturbs changes nothing.
  EXPECT_EQ(judge({{3, 3, 3, 3, 3}, {2, 2, 90, 2, 2}}, 0).chosen, 1U);
}

}  // namespace
}  // namespace heddle::driver
