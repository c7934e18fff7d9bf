// Drawn models of text, decoded token by token, say what they say of the whole text: rows stand at positions of their own,
// begin anew over what other texts left, and go on as other rows where states are reordered.
#include "passes/decode/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "frontend/build_graph.h"
#include "frontend/read/read_model.h"
#include "ir/verify/verify.h"
#include "tests/property/random_text_model.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint32_t kAtOnce = 10;
// HEDDLE_DECODED=1000: so many models; without it a sample.
uint32_t models() {
  const char* text = std::getenv("HEDDLE_DECODED");
  return text == nullptr ? 60 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

Tensor drawn(const Type& type, std::mt19937& random) {
  Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(random() % 2001) / 1000 - 1);
  return t;
}

struct Row {
  std::vector<int64_t> tokens;
  int64_t delay = 0;  // turns in which it begins again
  int64_t place(int64_t turn) const { return std::clamp<int64_t>(turn - delay, 0, std::ssize(tokens) - 1); }
};

// A model, as it is and decoded, and its parameters.
class Text {
 public:
  explicit Text(uint32_t seed) : text_(random_text_model(seed)), random_(seed + 1) {
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text_.json), {});
    whole_ = frontend::build_module(model, {.predict = text_.rows, .total_steps = 1});
    const auto is_input = [&](ValueId v) { return whole()[v].role == Role::input; };
    const ValueId input = *std::ranges::find_if(whole().inputs, is_input);
    passes::Decoded decoded = passes::decode(whole_, whole(), 0, input);
    step_.bodies = decoded.bodies;
    step_.graphs.push_back(std::move(decoded.graph));
    if (decoded.reorder) step_.graphs.push_back(std::move(*decoded.reorder));
    EXPECT_EQ(verify(step_), std::vector<std::string>{});
    for (const ValueId v : whole().inputs) {
      if (whole()[v].role == Role::input) name_ = whole()[v].name;
      if (whole()[v].role != Role::input) weights_[whole()[v].name] = drawn(whole()[v].type, random_);
    }
    const Graph& g = *step_.find_graph("decode");
    for (const ValueId v : g.inputs)
      if (g[v].role == Role::state) states_[g[v].name] = drawn(g[v].type, random_);  // what an earlier text left
  }

  const std::string& json() const { return text_.json; }
  const Module& whole_module() const { return whole_; }
  const Module& step_module() const { return step_; }

  // One text for each row, through run(module, graph, inputs); how far a logit is from that of the whole text at most,
  // relative to the largest one.
  template <class Run>
  double largest_difference(Run run) {
    std::vector<Row> rows(static_cast<size_t>(text_.rows));
    for (Row& row : rows) {
      for (int64_t i = 0; i < text_.tokens; ++i)
        row.tokens.push_back(static_cast<int64_t>(random_()) % text_.vocabulary);
      row.delay = static_cast<int64_t>(random_() % 3);
    }
    Tensor all({DType::i32, {text_.rows, text_.tokens}});
    for (int64_t i = 0; i < all.elements(); ++i)
      all.integer[static_cast<size_t>(i)] = token(rows, i / text_.tokens, i % text_.tokens);
    const Tensor expected = run(false, "predict", with(weights_, {{name_, all}})).outputs[0];
    std::vector<int64_t> which(rows.size());  // row of `expected` that a row is now
    for (size_t i = 0; i < which.size(); ++i) which[i] = static_cast<int64_t>(i);
    const int64_t change = static_cast<int64_t>(random_()) % text_.tokens;
    double most = 1, apart = 0;
    for (int64_t i = 0; i < expected.elements(); ++i) most = std::max(most, std::abs(expected.at(i)));
    for (int64_t turn = 0; turn < text_.tokens + 2; ++turn) {
      if (turn == change) reorder(run, rows, which);
      apart = std::max(apart, step(run, rows, which, turn, expected));
    }
    return apart / most;
  }

 private:
  const Graph& whole() const { return *whole_.find_graph("predict"); }
  static int64_t token(const std::vector<Row>& rows, int64_t row, int64_t place) {
    return rows[static_cast<size_t>(row)].tokens[static_cast<size_t>(place)];
  }
  static NamedTensors with(NamedTensors all, const NamedTensors& more) {
    for (const auto& [name, t] : more) all[name] = t;
    return all;
  }

  template <class Run>
  double step(Run& run, const std::vector<Row>& rows, const std::vector<int64_t>& which, int64_t turn,
              const Tensor& expected) {
    Tensor tokens({DType::i32, {text_.rows, 1}}), position({DType::i32, {text_.rows}});
    for (size_t row = 0; row < rows.size(); ++row) {
      position.integer[row] = rows[row].place(turn);
      tokens.integer[row] = rows[row].tokens[static_cast<size_t>(position.integer[row])];
    }
    Evaluation done = run(true, "decode", with(with(weights_, states_), {{name_, tokens}, {"position", position}}));
    for (auto& [state, value] : done.updated) states_[state] = std::move(value);
    double apart = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (turn - rows[row].delay >= text_.tokens) continue;  // it has ended, and reads its last token once more
      for (int64_t i = 0; i < text_.vocabulary; ++i) {
        const double of_whole = expected.at((which[row] * text_.tokens + position.integer[row]) * text_.vocabulary + i);
        const double here = done.outputs[0].at(static_cast<int64_t>(row) * text_.vocabulary + i);
        apart = std::isnan(of_whole - here) ? HUGE_VAL : std::max(apart, std::abs(of_whole - here));
      }
    }
    return apart;
  }

  template <class Run>
  void reorder(Run& run, std::vector<Row>& rows, std::vector<int64_t>& which) {
    Tensor from({DType::i32, {text_.rows}});
    const std::vector<Row> before = rows;
    const std::vector<int64_t> were = which;
    for (size_t row = 0; row < rows.size(); ++row) {
      const size_t other = random_() % rows.size();
      from.integer[row] = static_cast<int64_t>(other);
      rows[row] = before[other], which[row] = were[other];
    }
    if (states_.empty()) return;
    for (auto& [state, value] : run(true, "reorder", with(states_, {{"from", from}})).updated) states_[state] = value;
  }

  RandomTextModel text_;
  std::mt19937 random_;
  frontend::Sources sources_;
  Module whole_, step_;
  std::string name_;
  NamedTensors weights_, states_;
};

class RandomTexts : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomTexts, AreDecodedAsTheWholeText) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kAtOnce; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Text text(seed);
    const auto run = [&](bool step, const char* graph, const NamedTensors& in) {
      const Module& m = step ? text.step_module() : text.whole_module();
      return evaluate(m, *m.find_graph(graph), in);
    };
    for (int texts = 0; texts < 2; ++texts) ASSERT_LE(text.largest_difference(run), 1e-9) << text.json();
  }
}

TEST_P(RandomTexts, AreDecodedOnTheHost) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kAtOnce; seed += kAtOnce / 2) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Text text(seed);
    HostRun whole(text.whole_module(), "predict"), step(text.step_module(), "decode");
    const auto run = [&](bool is_step, const char* graph, const NamedTensors& in) {
      return (is_step ? step : whole)(graph, in);
    };
    for (int texts = 0; texts < 2; ++texts) ASSERT_LE(text.largest_difference(run), 2e-5) << text.json();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTexts, ::testing::Range(0u, models(), kAtOnce));

}  // namespace
}  // namespace heddle::testing
