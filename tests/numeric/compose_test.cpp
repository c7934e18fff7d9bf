// Row-normalising operators composed with movements, before and after, on the host against the oracle. A kernel passes
// several times over a row and keeps what it has computed: a movement reads it at other elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr int64_t kRows = 4;

// What is done to a matrix. Every result is a matrix.
using Function = ValueId (*)(Builder&, ValueId);
struct Part {
  const char* name;
  Function apply;
};

int64_t columns(const Builder& b, ValueId v) { return b.type(v).dims[1]; }
std::vector<int64_t> ints(std::initializer_list<int64_t> list) { return list; }

// A second operand that differs from element to element, computed in the kernel.
ValueId other(Builder& b, int64_t rows, int64_t width) {
  const ValueId i =
      b("iota", {}, {{"shape", ints({rows, width})}, {"axis", int64_t{1}}, {"dtype", std::string("f32")}});
  return b("cos", {i});
}

ValueId reversed(Builder& b, ValueId x) { return b("reverse", {x}, {{"axes", ints({1})}}); }
ValueId rows_reversed(Builder& b, ValueId x) { return b("reverse", {x}, {{"axes", ints({0})}}); }
ValueId first_column(Builder& b, ValueId x) {
  return b("slice", {x}, {{"starts", ints({0, 0})}, {"limits", ints({b.type(x).dims[0], 1})}});
}
ValueId sliced(Builder& b, ValueId x) {
  const int64_t w = columns(b, x);
  return b("slice", {x}, {{"starts", ints({0, w > 1 ? 1 : 0})}, {"limits", ints({b.type(x).dims[0], w})}});
}
ValueId strided(Builder& b, ValueId x) {
  return b("slice", {x},
           {{"starts", ints({1, 0})}, {"limits", ints({b.type(x).dims[0], columns(b, x)})}, {"strides", ints({1, 2})}});
}
ValueId padded(Builder& b, ValueId x) {
  return b("pad", {x}, {{"low", ints({0, 1})}, {"high", ints({0, 2})}, {"fill", -1.0}});
}
ValueId spread(Builder& b, ValueId x) {
  return b("pad", {x}, {{"low", ints({1, 0})}, {"high", ints({0, 0})}, {"interior", ints({0, 1})}});
}
ValueId transposed(Builder& b, ValueId x) { return b("transpose", {x}, {{"perm", ints({1, 0})}}); }
ValueId reshaped(Builder& b, ValueId x) { return b.reshape(x, {b.type(x).dims[0] / 2, columns(b, x) * 2}); }
ValueId repeated(Builder& b, ValueId x) {
  const int64_t rows = b.type(x).dims[0], w = columns(b, x);
  const ValueId all = b("broadcast", {x}, {{"dims", ints({0, 1})}, {"shape", ints({rows, w, 3})}});
  return b.reshape(all, {rows, w * 3});
}
ValueId after_one(Builder& b, ValueId x) {
  return b("concat", {other(b, b.type(x).dims[0], 1), x}, {{"axis", int64_t{1}}});
}
ValueId before_itself(Builder& b, ValueId x) { return b("concat", {x, reversed(b, x)}, {{"axis", int64_t{1}}}); }
ValueId at_two_places(Builder& b, ValueId x) { return b("sub", {x, reversed(b, x)}); }

const std::vector<Part> kMovements = {{"reverse", reversed},          {"reverse_rows", rows_reversed},
                                      {"first_column", first_column}, {"slice", sliced},
                                      {"strided_slice", strided},     {"pad", padded},
                                      {"pad_between", spread},        {"transpose", transposed},
                                      {"reshape", reshaped},          {"broadcast", repeated},
                                      {"concat_with_one", after_one}, {"concat_with_reverse", before_itself},
                                      {"two_places", at_two_places}};

ValueId softmax(Builder& b, ValueId x) { return b("softmax", {x}); }
ValueId log_softmax(Builder& b, ValueId x) { return b("log_softmax", {x}); }
ValueId layer_norm(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;  // a copy: new nodes move the types
  const ValueId row = b.reshape(other(b, 1, dims[1]), {dims[1]});
  return b("layer_norm", {x, row, b("neg", {row})});
}
ValueId labels(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;  // a copy: new nodes move the types
  const ValueId i = b("iota", {}, {{"shape", ints({dims[0]})}, {"axis", int64_t{0}}, {"dtype", std::string("i32")}});
  return b("mod", {i, b.constant(static_cast<double>(dims[1]), b.type(i))});
}
// The loss times the gradient of its logits: both ends of what a kernel of a training step computes.
ValueId cross_entropy(Builder& b, ValueId x) {
  const ValueId loss = b("cross_entropy", {x, labels(b, x)});
  return b("sub", {b("softmax", {x}), b.broadcast_to(loss, b.type(x).dims)});
}

const std::vector<Part> kNorms = {
    {"softmax", softmax}, {"log_softmax", log_softmax}, {"layer_norm", layer_norm}, {"cross_entropy", cross_entropy}};

// One graph of an operator and a movement: on the operand (costly or not), on the result, and both at once.
void add_graph(Module& m, const Part& norm, const Part& movement, int64_t width) {
  Graph& g = m.graphs.emplace_back();
  g.name = fmt::format("{}.{}.{}", norm.name, movement.name, width);
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::f32, {kRows, width}}, Role::input);
  const ValueId moved = movement.apply(b, b("tanh", {x}));
  const ValueId y = norm.apply(b, moved);
  g.outputs = {y, movement.apply(b, y), movement.apply(b, norm.apply(b, x))};
}

// Wrong elements differ by tenths. A row of equal elements leaves layer_norm the rounding of its mean, times
// 1 / sqrt(1e-5) = 316.
constexpr double kTolerance = 1e-4;

void expect_near(const Evaluation& expected, const Evaluation& got) {
  ASSERT_EQ(expected.outputs.size(), got.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    const Tensor &e = expected.outputs[i], &v = got.outputs[i];
    ASSERT_EQ(e.type, v.type);
    for (int64_t k = 0; k < e.elements(); ++k)
      ASSERT_NEAR(e.at(k), v.at(k), kTolerance * std::max(1.0, std::abs(e.at(k))))
          << "output " << i << ", element " << k;
  }
}

// Each graph twice: a launch leaves its counter ready for the next one.
void compare(const Module& m, const Target& target) {
  HostRun run(m, m.graphs[0].name, {.threads = 2, .target = target});
  for (const Graph& g : m.graphs) {
    SCOPED_TRACE("graph @" + g.name + " for " + target.name);
    for (const uint64_t seed : {1U, 2U}) {
      NamedTensors inputs;
      for (const ValueId v : g.inputs) inputs[g[v].name] = random_tensor(g[v].type, -2, 2, 2, hash_text(g.name) + seed);
      expect_near(evaluate(m, g, inputs), run(g.name, inputs));
    }
  }
}

// All pairs at this width, or, unless HEDDLE_ALL_PAIRS is set, a third of them: another one at each width.
Module composed(int64_t width) {
  Module m;
  const bool all = std::getenv("HEDDLE_ALL_PAIRS") != nullptr;
  int64_t pair = width / 2;
  for (const Part& norm : kNorms)
    for (const Part& movement : kMovements)
      if (++pair % 3 == 0 || all) add_graph(m, norm, movement, width);
  return m;
}

class Compose : public ::testing::TestWithParam<int64_t> {};

TEST_P(Compose, AgreesWithTheOracle) { compare(composed(GetParam()), host()); }

INSTANTIATE_TEST_SUITE_P(Widths, Compose, ::testing::Values(1, 2, 3, 16, 17, 33));

// The text for a GPU, with its packets and teams, and indices of 64 bits, as beyond 2^31 elements: right on the host,
// too.
TEST(ComposeForAGpu, AgreesWithTheOracle) {
  Target target = h200();
  target.index_limit = 1;
  compare(composed(16), target);
}

// As beyond 2^30 elements: an order, updates of rows and prefixes, for the host and with a GPU's schedules.
TEST(Primitives, CountIn64Bits) {
  for (Target target : {host(), h200()}) {
    target.index_limit = 1;
    Module m;
    Graph& g = m.graphs.emplace_back();
    g.name = "long_rows";
    Builder b(g);
    const ValueId x = g.add_input("x", {DType::f32, {7, 70}}, Role::input),
                  rows = g.add_input("rows", {DType::f32, {5}}, Role::input),
                  updates = g.add_input("updates", {DType::f32, {5, 70}}, Role::input);
    const ValueId places = b.cast(b("abs", {b("mul", {rows, rows})}), DType::i32);
    const Values order = b.multi("argsort", {x});
    g.outputs = {b("scatter", {x, places, updates}, {{"combine", std::string("add")}}), order[0], order[1],
                 b("cumsum", {x}, {{"axis", int64_t{1}}})};
    compare(m, target);
  }
}

// Totals and column sums, whose partial results several blocks add up, and what follows from them.
TEST(PartialResults, AreCompleteAfterEachLaunch) {
  for (Target target : {host(), h200()}) {
    target.index_limit = 1;
    Module m;
    Graph& g = m.graphs.emplace_back();
    g.name = "sums";
    Builder b(g);
    const ValueId x = g.add_input("x", {DType::f32, {300, 40}}, Role::input);
    const ValueId columns = b("reduce_sum", {x}, {{"axes", ints({0})}}),
                  most = b("reduce_max", {x}, {{"axes", ints({0})}});
    const ValueId total = b("reduce_mean", {b("square", {x})});
    g.outputs = {columns, most, b("sqrt", {total})};
    compare(m, target);
    const codegen::Program program = host_program(m, "sums", {.target = target});
    const auto several = [](const codegen::Kernel& k) { return k.blocks > 1; };
    EXPECT_TRUE(std::any_of(program.kernels.begin(), program.kernels.end(), several));
  }
}

}  // namespace
}  // namespace heddle::testing
