// The pass decode: token by token, a model says what it says of a whole text.
#include "passes/decode/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "codegen/program.h"
#include "ir/scan.h"
#include "ir/verify/verify.h"
#include "passes/decode/lone_text.h"
#include "tests/support/host_run.h"
#include "tests/support/source_dir.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::NamedTensors;
using ir::Tensor;
using ir::ValueId;

constexpr int64_t kRows = 2, kVocabulary = 7, kChunk = 3;

// A model of text around nodes that make `h`, [N, 6, 8], of `x`.
std::string text_model(const std::string& nodes, const std::string& rest = "") {
  return model(R"("text": {"shape": ["N", 6], "dtype": "i32"}, "next": {"shape": ["N", 6], "dtype": "i32"})",
               R"({"name": "x", "op": "embedding", "in": "text", "vocab": 7, "units": 8}, )" + nodes +
                   R"(, {"name": "logits", "op": "dense", "in": "h", "units": 7})",
               R"(, "outputs": {"logits": "logits"}, "train": {"batch": {"N": 2}, "steps": 1,
                   "loss": {"op": "cross_entropy", "in": ["logits", "next"]}, "optimizer": "sgd"})" +
                   rest);
}

struct Text {
  Sources sources;
  Model model;
  ir::Module whole, step;  // with @predict; with @decode
  int64_t context = 0;
  std::optional<int64_t> first = {};
};

// Of the text that is written: the input of this name, or the only one.
ValueId text_of(const ir::Graph& g, const std::string& name) {
  if (!name.empty()) return g.find(name);
  return *std::ranges::find(g.inputs, ir::Role::input, [&](ValueId v) { return g[v].role; });
}

void decode(Text& text, const ir::Graph& forward, ValueId written) {
  passes::Decoded decoded = passes::decode(text.whole, forward, 0, written, kChunk);
  text.context = decoded.context;
  text.first = decoded.first;
  text.step.graphs.push_back(std::move(decoded.graph));
  text.step.bodies = std::move(decoded.bodies);
  if (decoded.prefill) text.step.graphs.push_back(std::move(*decoded.prefill));
  if (decoded.encode) {
    text.step.bodies.insert(text.step.bodies.begin(), text.whole.bodies.begin(), text.whole.bodies.end());
    text.step.graphs.push_back(std::move(*decoded.encode));
  }
  EXPECT_EQ(ir::verify(text.step), std::vector<std::string>{});
}

void decode(Text& text, const std::string& name = "") {
  text.whole = build_module(text.model, {.predict = kRows, .total_steps = 10000});
  const ir::Graph& forward = *text.whole.find_graph("predict");
  decode(text, forward, text_of(forward, name));
}

std::unique_ptr<Text> decoded(const std::string& json) {
  auto text = std::make_unique<Text>();
  text->model = read_model(text->sources, text->sources.add("m.json", json), {});
  decode(*text);
  return text;
}

int64_t token_at(int64_t row, int64_t place) { return (3 * row + place * place + 2 * place) % kVocabulary; }

// A model may put a token of its own before the text.
int64_t token_read(const Text& text, int64_t row, int64_t place) {
  if (!text.first) return token_at(row, place);
  return place == 0 ? *text.first : token_at(row, place - 1);
}

NamedTensors parameters(const ir::Graph& g) {
  NamedTensors all;
  int64_t number = 0;
  for (const ValueId v : g.inputs) {
    ++number;
    if (g[v].role == ir::Role::param || g[v].role == ir::Role::buffer)
      all[g[v].name] = tensor(g[v].type, [&](int64_t i) { return 0.6 * wave(i + 17 * number); });
  }
  return all;
}

// Of the inputs beside the text: sources of different lengths.
NamedTensors sources(const ir::Graph& g, const std::string& text, int64_t shift) {
  NamedTensors all;
  int64_t length = 0;
  for (const ValueId v : g.inputs)
    if (g[v].role == ir::Role::input && g[v].name != text && g[v].type.rank() == 2) length = g[v].type.dims[1];
  for (const ValueId v : g.inputs) {
    if (g[v].role != ir::Role::input || g[v].name == text) continue;
    if (g[v].type.rank() == 2)
      all[g[v].name] =
          tensor(g[v].type, [&](int64_t i) { return static_cast<double>((5 * i + i * i + shift + 1) % kVocabulary); });
    else
      all[g[v].name] =
          tensor(g[v].type, [&](int64_t row) { return static_cast<double>(1 + (row + 2 * shift + 1) % length); });
  }
  return all;
}

// Those that the graph takes, and no more; states that it only renews are 0.
NamedTensors taken_by(const ir::Graph& g, const NamedTensors& all) {
  NamedTensors taken;
  for (const ValueId v : g.inputs) {
    const auto found = all.find(g[v].name);
    taken.emplace(g[v].name, found != all.end() ? found->second : Tensor(g[v].type));
  }
  return taken;
}

NamedTensors starts(const ir::Graph& g) {
  NamedTensors all;
  for (const ValueId v : g.inputs)
    if (g[v].role == ir::Role::state) all[g[v].name] = Tensor(g[v].type);
  return all;
}

// Two texts, of which the second is read over what the first has left: the logits of the whole graph, and entries that
// read parts of the rows.
template <class Whole, class Step>
class Reading {
 public:
  Reading(const Text& text, double tolerance, Whole whole, Step step)
      : text_(text),
        forward_(*text.whole.find_graph("predict")),
        decode_(*text.step.find_graph("decode")),
        name_(decode_[decode_.inputs[0]].name),
        tolerance_(tolerance),
        whole_(whole),
        step_(step),
        states_(starts(decode_)) {}

  int64_t tokens() const { return forward_[forward_.outputs[0]].type.dims[1]; }

  void begin(int64_t shift) {
    shift_ = shift;
    inputs_ = parameters(forward_);
    inputs_.merge(sources(forward_, name_, shift));
    inputs_[name_] = tensor({ir::DType::i32, {kRows, tokens()}}, [&](int64_t i) {
      return static_cast<double>(token_at(i / tokens() + shift, i % tokens()));
    });
    expected_ = whole_(inputs_).outputs[0];
    if (text_.step.find_graph("encode") != nullptr) run("encode", 1, {0, 0});
  }

  // `count` tokens of each row, of which the first stands at at[row].
  std::vector<Tensor> run(const std::string& entry, int64_t count, const std::vector<int64_t>& at,
                          NamedTensors in = {}) {
    in.insert(inputs_.begin(), inputs_.end());
    in.insert(states_.begin(), states_.end());
    const auto place = [&](int64_t row, int64_t i) { return at[static_cast<size_t>(row)] + i; };
    in[name_] = tensor({ir::DType::i32, {kRows, count}}, [&](int64_t i) {
      return static_cast<double>(token_read(text_, i / count + shift_, place(i / count, i % count)));
    });
    in["position"] = tensor({ir::DType::i32, {kRows}}, [&](int64_t row) { return static_cast<double>(place(row, 0)); });
    ir::Evaluation done = step_(entry, taken_by(*text_.step.find_graph(entry), in));
    for (auto& [state, value] : done.updated) states_[state] = std::move(value);
    return done.outputs;
  }

  void expect_logits(const Tensor& logits, int64_t row, int64_t place) const {
    const int64_t width = forward_[forward_.outputs[0]].type.dims[2];
    for (int64_t i = 0; i < width; ++i)
      EXPECT_NEAR(expected_.at((row * tokens() + place) * width + i), logits.at(row * width + i), tolerance_)
          << "row " << row << ", position " << place << ", logit " << i;
  }

 private:
  const Text& text_;
  const ir::Graph &forward_, &decode_;
  std::string name_;  // of the text
  double tolerance_;
  Whole whole_;
  Step step_;
  NamedTensors states_, inputs_;
  Tensor expected_;
  int64_t shift_ = 0;
};

// Row 1 waits for two steps, in which it begins again: rows stand at different positions, as prompts of different
// lengths do.
template <class Whole, class Step>
void expect_as_whole(Reading<Whole, Step> reading) {
  const int64_t tokens = reading.tokens();
  for (const int64_t shift : {0, 3}) {
    reading.begin(shift);
    for (int64_t turn = 0; turn < tokens + 2; ++turn) {
      const auto place = [&](int64_t row) { return std::clamp<int64_t>(turn - 2 * row, 0, tokens - 1); };
      const Tensor logits = reading.run("decode", 1, {place(0), place(1)}).at(0);
      for (int64_t row = 0; row < kRows; ++row)
        if (turn - 2 * row < tokens)  // else it has ended, and reads its last token once more
          reading.expect_logits(logits, row, place(row));
    }
  }
}

// Row 0 reads a chunk, row 1 two parts of one, while row 0 has none; then both go on token by token.
template <class Whole, class Step>
void expect_prefilled(Reading<Whole, Step> reading) {
  const int64_t tokens = reading.tokens();
  for (const int64_t shift : {0, 3}) {
    reading.begin(shift);
    std::vector<int64_t> at{0, 0};
    for (const auto& counts : {std::vector<int64_t>{3, 1}, std::vector<int64_t>{0, 1}}) {
      const Tensor count = tensor({ir::DType::i32, {kRows}},
                                  [&](int64_t row) { return static_cast<double>(counts[static_cast<size_t>(row)]); });
      reading.run("prefill", kChunk, at, {{"count", count}});
      for (size_t row = 0; row < kRows; ++row) at[row] += counts[row];
    }
    for (; at[1] < tokens; ++at[0], ++at[1]) {
      at[0] = std::min(at[0], tokens - 1);
      const Tensor logits = reading.run("decode", 1, at).at(0);
      if (at[1] < tokens - 1) reading.expect_logits(logits, 0, at[0]);
      reading.expect_logits(logits, 1, at[1]);
    }
  }
}

template <class Whole, class Step>
void expect_equal(const Text& text, double tolerance, Whole whole, Step step) {
  const Reading reading(text, tolerance, whole, step);
  expect_as_whole(reading);
  if (text.step.find_graph("prefill") != nullptr && reading.tokens() > kChunk) expect_prefilled(reading);
}

void expect_as_whole(const Text& text) {
  expect_equal(
      text, 1e-9,
      [&](const NamedTensors& in) { return ir::evaluate(text.whole, *text.whole.find_graph("predict"), in); },
      [&](const std::string& entry, const NamedTensors& in) {
        return ir::evaluate(text.step, *text.step.find_graph(entry), in);
      });
}

void expect_as_whole_on_host(const Text& text) {
  testing::HostRun whole(text.whole, "predict"), step(text.step, "decode");
  expect_equal(
      text, 1e-5, [&](const NamedTensors& in) { return whole(in); },
      [&](const std::string& entry, const NamedTensors& in) { return step(entry, in); });
}

std::unique_ptr<Text> of_file(const std::string& file, const ReadOptions& options, const std::string& name = "") {
  auto text = std::make_unique<Text>();
  text->model = read_model(text->sources, (testing::source_dir() / file).string(), options);
  decode(*text, name);
  return text;
}

TEST(Decode, WritesAsTheModelsOfTheProject) {
  for (const auto& text :
       {of_file("models/char_gpt.json", {.set = {}, .small = true}),
        of_file("bench/models/char_gpt.json", {.set = {"let.layers=2", "let.d=16", "let.heads=2", "let.ctx=8"}}),
        of_file("bench/models/lstm_names.json", {.set = {"let.length=5", "let.d=8"}})}) {
    expect_as_whole(*text);
    expect_as_whole_on_host(*text);
  }
}

// What does not depend on the written text is computed once, and kept.
TEST(Decode, WritesWhatSourcesBecome) {
  for (const auto& text :
       {of_file("models/translation.json", {.set = {}, .small = true}, "other"),
        of_file("models/translation.json", {.set = {"let.length=5", "let.d=8", "let.heads=2"}}, "other"),
        of_file("models/seq2seq_dates.json", {.set = {}, .small = true}, "iso"),
        of_file("models/seq2seq_dates.json", {.set = {"nodes.writer.op=block:dot"}, .small = true}, "iso")}) {
    ASSERT_NE(text->step.find_graph("encode"), nullptr);
    expect_as_whole(*text);
    expect_as_whole_on_host(*text);
  }
}

// What rows of several documents say of each token is known of a row of one.
TEST(Decode, WritesDocumentsThatAreAloneInTheirRows) {
  Text text;
  text.model =
      read_model(text.sources, (testing::source_dir() / "models/summary.json").string(), {.set = {}, .small = true});
  text.whole = build_module(text.model, {.predict = kRows, .total_steps = 10000});
  const ir::Graph& forward = *text.whole.find_graph("predict");
  ir::Graph lone = forward;
  passes::take_lone_text(lone, {lone.find("document")}, {lone.find("place")});
  decode(text, lone, lone.find("tokens"));
  const ir::Type type = forward[forward.find("tokens")].type;
  const auto known = [&](NamedTensors in) {
    in["document"] = tensor(type, [](int64_t) { return 5.0; });
    in["place"] = tensor(type, [&](int64_t i) { return static_cast<double>(i % type.dims[1]); });
    return in;
  };
  expect_equal(
      text, 1e-9, [&](const NamedTensors& in) { return ir::evaluate(text.whole, forward, known(in)); },
      [&](const std::string& entry, const NamedTensors& in) {
        return ir::evaluate(text.step, *text.step.find_graph(entry), in);
      });
  for (const ir::NodeId n : text.step.graphs[0].order)  // all tokens are of one document: nothing is kept of it
    EXPECT_EQ(text.step.graphs[0][text.step.graphs[0][n].results[0]].name.find("documents"), std::string::npos);
}

// A cache or a table of positions has an end; what recurs has none.
TEST(Decode, SaysWhereTextsEnd) {
  EXPECT_EQ(of_file("models/char_gpt.json", {.set = {}, .small = true})->context, 8);
  EXPECT_EQ(of_file("bench/models/lstm_names.json", {.set = {"let.length=5"}})->context, 0);
}

struct Case {
  std::string name, nodes;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string attends(const std::string& before, const std::string& attention, const std::string& qk = R"("q", "k")") {
  return before +
         R"({"name": "q0", "op": "dense", "in": "p", "units": 8}, {"name": "k0", "op": "dense", "in": "p", "units": 8},
            {"name": "v", "op": "dense", "in": "p", "units": 8}, )" +
         (qk.find("k0") == std::string::npos
              ? R"({"name": "q", "op": "rotary", "in": "q0", "heads": 2)" + std::string(R"(}, )") +
                    R"({"name": "k", "op": "rotary", "in": "k0", "heads": 2}, )"
              : "") +
         R"({"name": "h", "op": "attention", "in": [)" + qk + R"(, "v"], "causal": true, "heads": 2)" + attention + "}";
}
const std::string kNoPlaces = R"({"name": "p", "op": "add", "in": ["x", 0.5]}, )";
const std::string kPlain = R"("q0", "k0")";

class DecodeLayers : public ::testing::TestWithParam<Case> {};

TEST_P(DecodeLayers, WriteAsOfTheWholeText) {
  const auto text = decoded(text_model(GetParam().nodes));
  expect_as_whole(*text);
  expect_as_whole_on_host(*text);
}

INSTANTIATE_TEST_SUITE_P(
    All, DecodeLayers,
    ::testing::Values(
        Case{"tokens_alone", R"({"name": "h", "op": "layer_norm", "in": "x"})"},
        Case{"attention", attends(kNoPlaces, "", kPlain)},
        Case{"window", attends(kNoPlaces, R"(, "window": 2)", kPlain)},
        Case{"wide_window", attends(kNoPlaces, R"(, "window": 9)", kPlain)},
        Case{"alibi", attends(kNoPlaces, R"(, "alibi": true)", kPlain)},
        Case{"scale_and_cap", attends(kNoPlaces, R"(, "scale": 0.7, "soft_cap": 1.5)", kPlain)},
        Case{"rotary", attends(kNoPlaces, "")},
        Case{"sinusoidal", attends(R"({"name": "p", "op": "sinusoidal_positions", "in": "x"}, )", "", kPlain)},
        Case{"long_table",
             attends(R"({"name": "p", "op": "learned_positions", "in": "x", "length": 9}, )", "", kPlain)},
        Case{
            "shared_keys",
            R"({"name": "k0", "op": "dense", "in": "x", "units": 2}, {"name": "k", "op": "rotary", "in": "k0", "heads": 1, "pairs": "neighbours"},
                {"name": "q", "op": "rotary", "in": "x", "heads": 4, "pairs": "neighbours"}, {"name": "v", "op": "dense", "in": "x", "units": 3},
                {"name": "h", "op": "attention", "in": ["q", "k", "v"], "causal": true, "heads": 4, "kv_heads": 1})"},
        Case{"part_of_a_head",
             R"({"name": "q", "op": "rotary", "in": "x", "heads": 2, "width": 2},
                {"name": "h", "op": "attention", "in": ["q", "q", "x"], "causal": true, "heads": 2})"},
        Case{
            "documents",
            R"({"name": "k", "op": "dense", "in": "x", "units": 4}, {"name": "v", "op": "dense", "in": "x", "units": 4},
                {"name": "h", "op": "attention", "in": {"q": "x", "k": "k", "v": "v", "documents": "text"}, "causal": true, "heads": 4, "kv_heads": 2})"},
        Case{
            "documents_and_window",
            R"({"name": "h", "op": "encoder_layer", "in": {"x": "x", "documents": "text"}, "heads": 2, "window": 5, "feedforward": 12, "causal": true})"},
        Case{"multi_head", R"({"name": "h", "op": "multi_head_attention", "in": "x", "heads": 2, "causal": true})"},
        Case{"encoder_layers",
             R"({"name": "e", "op": "encoder_layer", "in": "x", "heads": 2, "feedforward": 12, "causal": true},
                {"name": "h", "op": "encoder_layer", "in": "e", "heads": 2, "feedforward": 12, "causal": true, "norm_first": true})"},
        Case{
            "gated_units",
            R"({"name": "n", "op": "rms_norm", "in": "x"}, {"name": "g", "op": "dense", "units": 8, "activation": "silu"},
                {"name": "u", "op": "dense", "in": "n", "units": 8}, {"name": "h", "op": "mul", "in": ["g", "u"]})"},
        Case{"rnn", R"({"name": "r", "op": "rnn", "in": "x", "units": 5, "layers": 2, "out": ["h", "last"]})"},
        Case{"gru", R"({"name": "r", "op": "gru", "in": "x", "units": 5, "out": ["h", "last"]})"},
        Case{"gru_before",
             R"({"name": "r", "op": "gru", "in": "x", "units": 5, "reset": "before", "out": ["h", "last"]})"},
        Case{
            "lstm",
            R"({"name": "r", "op": "lstm", "in": "x", "units": 6, "projection": 3, "layers": 2, "out": ["h", "last", "cell"]})"},
        Case{"convolution", R"({"name": "h", "op": "conv1d", "in": "x", "filters": 8, "kernel": 3, "pad": [2, 0]})"},
        Case{"convolution_of_one", R"({"name": "h", "op": "conv1d", "in": "x", "filters": 8, "kernel": 1})"},
        Case{
            "convolutions",
            R"({"name": "c", "op": "conv1d", "in": "x", "filters": 6, "kernel": 2, "dilation": 2, "pad": [2, 0], "groups": 2, "activation": "relu"},
                {"name": "h", "op": "conv1d", "filters": 8, "kernel": 2, "pad": [1, 0]})"},
        Case{
            "relative_positions",
            R"({"name": "near", "op": "relative_positions", "in": "x", "heads": 4, "causal": true}, {"name": "k", "op": "dense", "in": "x", "units": 4},
                {"name": "a", "op": "attention", "in": {"q": "x", "k": "k", "v": "k", "bias": "near"}, "causal": true, "heads": 4, "kv_heads": 2},
                {"name": "h", "op": "dense", "units": 8})"},
        Case{"recurrent_then_attention",
             R"({"name": "r", "op": "gru", "in": "x", "units": 8, "out": ["g", "last"]},
                {"name": "h", "op": "attention", "in": ["g", "g", "x"], "causal": true, "heads": 2})"}),
    [](const auto& one) { return one.param.name; });

// A cell of one's own, whose carry begins with a parameter.
TEST(Decode, RunsBlocksOfScans) {
  const auto text = decoded(text_model(
      R"({"name": "s", "op": "scan", "block": "cell", "in": {"v": "x"}, "slice": ["v"], "carry": {"c": ["N", 8]}, "out": ["end", "h"]})",
      R"(, "blocks": {"cell": {"inputs": ["v", "c"], "nodes": [{"name": "d", "op": "dense", "in": "c", "units": 8},
                      {"name": "a", "op": "add", "in": ["d", "v"]}, {"name": "n", "op": "softmax", "in": "a"}], "output": "n"}})"));
  expect_as_whole(*text);
  expect_as_whole_on_host(*text);
  EXPECT_EQ(text->context, 0);
}

// The graph of a step holds one token: no value of it has the tokens of a text but the caches.
TEST(Decode, ComputesOneTokenOnly) {
  const auto text = of_file("models/char_gpt.json", {.set = {}, .small = true});
  const ir::Graph& g = *text->step.find_graph("decode");
  for (const ir::NodeId n : g.order)
    for (const ValueId v : g[n].results)
      EXPECT_LE(g[v].type.elements(), kRows * std::max<int64_t>(28, 8 * 16)) << g[v].name;
}

// Whether rows of it are looked up, and nothing else reads it.
bool is_table(const ir::Graph& g, ValueId param) {
  bool all = true;
  for (const ir::NodeId n : g.order) {
    const ir::Values& operands = g[n].operands;
    if (std::ranges::count(operands, param) > 0) all = all && g[n].op->name == "gather" && operands[0] == param;
  }
  return all;
}

// A step has to read its weights and caches; each entry of the program reads and writes little more. What is made of
// weights alone, such as transposed ones, would be made again for each token, and stand here.
void expect_little_more_than_weights(const Text& text) {
  const ir::Graph& g = *text.step.find_graph("decode");
  double least = 0, moved = 0;
  for (const ValueId v : g.inputs)
    if (g[v].role != ir::Role::input && !is_table(g, v)) least += static_cast<double>(g[v].type.bytes());
  const codegen::Program program = testing::host_program(text.step, "decode");
  codegen::for_each_step(testing::entry_named(program, "decode").steps, [&](const codegen::Step& step, int64_t times) {
    int64_t bytes = 0;
    if (const auto* launch = std::get_if<codegen::Launch>(&step.what)) {
      const codegen::Kernel& kernel = program.kernels[static_cast<size_t>(launch->kernel)];
      bytes = kernel.bytes_read + kernel.bytes_written;
    } else if (const auto* call = std::get_if<codegen::Library>(&step.what)) {
      bytes = call->bytes_read + call->bytes_written;
    } else {
      bytes = 2 * std::get<codegen::Copy>(step.what).bytes;
    }
    moved += static_cast<double>(times * bytes);
  });
  EXPECT_GE(moved, least);
  EXPECT_LE(moved, 1.1 * least) << moved << " bytes where " << least << " are weights and caches";
}

TEST(Decode, ReadsWeightsAndCachesOnce) {
  for (const auto& text : {of_file("models/char_gpt.json", {.set = {}}),
                           of_file("models/gpt2_124m.json", {.set = {"let.layers=2", "let.vocab=4096"}}),
                           of_file("models/llama_small.json", {.set = {"let.d=512", "let.ff=1408", "let.digits=80"}})})
    expect_little_more_than_weights(*text);
}

struct Refused {
  std::string name, nodes, message;
};
void PrintTo(const Refused& r, std::ostream* out) { *out << r.name; }

class DecodeRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(DecodeRefuses, AtTheNode) {
  try {
    decoded(text_model(GetParam().nodes));
    FAIL() << "decoded";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("m.json:"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("help: "), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DecodeRefuses,
    ::testing::Values(
        Refused{"not_causal", R"({"name": "h", "op": "attention", "in": ["x", "x", "x"], "heads": 2})",
                "'h' is not causal: a token sees those behind it"},
        Refused{"backward",
                R"({"name": "r", "op": "gru", "in": "x", "units": 4, "bidirectional": true, "out": ["h", "last"]})",
                "goes from the last token to the first"},
        Refused{
            "mean_of_the_text",
            R"({"name": "m", "op": "mean", "in": "x", "axis": 1, "keepdims": true}, {"name": "h", "op": "sub", "in": ["x", "m"]})",
            "reads a whole text at once"},
        Refused{"convolution_ahead",
                R"({"name": "h", "op": "conv1d", "in": "x", "filters": 8, "kernel": 3, "pad": "same"})",
                "is not causal: it reads tokens behind its own"},
        Refused{"running_sum", R"({"name": "h", "op": "cumsum", "in": "x", "axis": 1})",
                "reads other tokens than its own"},
        Refused{"turned", R"({"name": "h", "op": "reverse", "in": "x", "axes": 1})", "reads other tokens than its own"},
        Refused{
            "across_rows",
            R"({"name": "m", "op": "mean", "in": "x", "axis": 0, "keepdims": true}, {"name": "h", "op": "sub", "in": ["x", "m"]})",
            "mixes tokens and positions"},
        Refused{"last_of_the_text", R"({"name": "r", "op": "gru", "in": "x", "units": 8, "out": ["all", "last"]},
                {"name": "l", "op": "reshape", "in": "last", "shape": ["N", 1, 8]}, {"name": "h", "op": "add", "in": ["all", "l"]})",
                "reads a whole text at once"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace heddle::frontend
