// Relu before and behind a max pooling: the same values and gradients, bit for bit. Lookups before and behind a matrix
// product: the same values, and the gradients but for the order of their sums.
#include "passes/sink.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "passes/differentiate.h"

namespace heddle::passes {
namespace {
using namespace ir;

struct Shape {
  Dims window, strides, pads;
};

// Pooled images, their gradient with respect to x, and that one's with respect to the weights of the sum: second order.
Module pooling(const Shape& s, DType dtype, bool channels_first) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId x = g.add_input("x", {dtype, channels_first ? Dims{2, 3, 9, 8} : Dims{2, 9, 8, 3}}, Role::param);
  const ValueId relu = b("relu", {x});
  const ValueId image = channels_first ? b("transpose", {relu}, {{"perm", Dims{0, 2, 3, 1}}}) : relu;
  const ValueId y = b.multi("max_pool2d", {image}, {{"window", s.window}, {"strides", s.strides}, {"pads", s.pads}})[0];
  const ValueId w = g.add_input("w", b.type(y), Role::param);
  const ValueId dx = b("gradient", {b("reduce_sum", {b("mul", {y, w})}), x});
  const ValueId v = g.add_input("v", b.type(x), Role::param);
  const ValueId dw = b("gradient", {b("reduce_sum", {b("mul", {dx, v})}), w});
  g.outputs = {y, dx, dw};
  return m;
}

// Ties, both zeros, and what is no number: small integers, so that windows often hold their largest element twice.
NamedTensors special_values(const Graph& g, uint32_t seed) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {-2, -1, -1, -0.0, -0.0, 0, 0, 0.5, 0.5, 1, 1, 2, NAN, kInf, -kInf};
  std::mt19937 random(seed);
  NamedTensors inputs;
  for (const ValueId v : g.inputs) {
    // Some without nan and infinities, where sums of gradients can be told apart.
    const size_t most = g[v].name == "x" && seed % 2 == 0 ? values.size() : values.size() - 3;
    Tensor t(g[v].type);
    for (int64_t i = 0; i < t.type.elements(); ++i) t.set(i, values[random() % most]);
    inputs.emplace(g[v].name, std::move(t));
  }
  return inputs;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Sink, KeepsValuesAndGradients) {
  const std::vector<Shape> shapes = {{{2, 2}, {}, {0, 0, 0, 0}},
                                     {{3, 3}, {2, 2}, {1, 1, 1, 1}},
                                     {{3, 2}, {2, 1}, {0, 1, 2, 0}},
                                     {{1, 3}, {3, 2}, {0, 2, 0, 1}}};
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16})
    for (const Shape& shape : shapes)
      for (uint32_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(to_string(dtype) + ", window " + to_string(shape.window) + ", seed " + std::to_string(seed));
        Module before = pooling(shape, dtype, seed % 3 == 0), after = before;
        ASSERT_TRUE(sink(after, {}));
        differentiate(before, {});
        differentiate(after, {});
        const NamedTensors inputs = special_values(before.graphs[0], seed);
        const Evaluation expected = evaluate(before, before.graphs[0], inputs, {.precision = Precision::rounded});
        const Evaluation got = evaluate(after, after.graphs[0], inputs, {.precision = Precision::rounded});
        for (size_t k = 0; k < 3; ++k)
          for (int64_t i = 0; i < expected.outputs[k].type.elements(); ++i)
            ASSERT_TRUE(same(expected.outputs[k].at(i), got.outputs[k].at(i)))
                << "output " << k << ", element " << i << ": " << expected.outputs[k].at(i) << " and "
                << got.outputs[k].at(i);
      }
}

// What lies between a lookup and the product that reads its rows.
enum class Between { nothing, reshapes, transposes };

// The product of rows that are looked up, its gradients, and one of second order.
Module lookup(DType dtype, DType index, Between between, bool transpose_b) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId table = g.add_input("table", {dtype, {5, 16}}, Role::param);
  const ValueId w = g.add_input("w", {dtype, transpose_b ? Dims{7, 16} : Dims{16, 7}}, Role::param);
  ValueId rows = b("gather", {table, g.add_input("i", {index, {3, 2, 4}}, Role::input)});
  if (between == Between::transposes) {
    rows = b("transpose", {rows}, {{"perm", Dims{2, 0, 1, 3}}});
    rows = b("transpose", {b.reshape(rows, {4, 6, 16})}, {{"perm", Dims{1, 0, 2}}});
  }
  if (between == Between::reshapes) rows = b.reshape(rows, {2, 12, 16});
  const ValueId y = b("matmul", {b.reshape(rows, {24, 16}), w}, {{"transpose_b", transpose_b}});
  const ValueId v = g.add_input("v", b.type(y), Role::param);
  const ValueId loss = b("reduce_sum", {b("mul", {b("tanh", {y}), v})});
  const ValueId dtable = b("gradient", {loss, table}), dw = b("gradient", {loss, w});
  const ValueId second = b("gradient", {b("reduce_sum", {b("square", {dtable})}), w});
  g.outputs = {y, dtable, dw, second};
  return m;
}

TEST(Sink, KeepsProductsOfWhatIsLookedUp) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const DType index : {DType::i32, DType::i64, DType::u8})
      for (const Between between : {Between::nothing, Between::reshapes, Between::transposes})
        for (const bool transpose_b : {false, true}) {
          Module before = lookup(dtype, index, between, transpose_b), after = before;
          ASSERT_TRUE(sink(after, {}));
          differentiate(before, {});
          differentiate(after, {});
          std::mt19937 random(7);
          NamedTensors inputs;
          for (const ValueId v : before.graphs[0].inputs) {
            const Value& input = before.graphs[0][v];
            Tensor t(input.type);
            for (int64_t i = 0; i < t.type.elements(); ++i)
              t.set(i, input.name == "i" ? static_cast<double>(random() % 5)
                                         : static_cast<double>(random() % 1000) / 500 - 1);
            inputs.emplace(input.name, std::move(t));
          }
          const Evaluation expected = evaluate(before, before.graphs[0], inputs, {});
          const Evaluation got = evaluate(after, after.graphs[0], inputs, {});
          for (size_t k = 0; k < 4; ++k)
            for (int64_t i = 0; i < expected.outputs[k].type.elements(); ++i)
              ASSERT_NEAR(expected.outputs[k].at(i), got.outputs[k].at(i), 1e-12)
                  << "output " << k << ", element " << i;
        }
}

// A row that is not there is nan before and behind the product.
TEST(Sink, KeepsRowsThatAreNotThere) {
  Module before = lookup(DType::f32, DType::i32, Between::transposes, true);
  before.graphs[0].outputs.resize(1);
  Module after = before;
  ASSERT_TRUE(sink(after, {}));
  differentiate(before, {});
  differentiate(after, {});
  NamedTensors inputs;
  for (const ValueId v : before.graphs[0].inputs) {
    Tensor t(before.graphs[0][v].type);
    for (int64_t i = 0; i < t.type.elements(); ++i) t.set(i, static_cast<double>(i % 7) - 1);
    inputs.emplace(before.graphs[0][v].name, std::move(t));
  }
  const Tensor expected = evaluate(before, before.graphs[0], inputs, {}).outputs[0];
  const Tensor got = evaluate(after, after.graphs[0], inputs, {}).outputs[0];
  int64_t nans = 0;
  for (int64_t i = 0; i < expected.type.elements(); ++i) {
    ASSERT_TRUE(same(expected.at(i), got.at(i))) << "element " << i;
    nans += std::isnan(expected.at(i)) ? 1 : 0;
  }
  ASSERT_GT(nans, 0);
  ASSERT_LT(nans, expected.type.elements());
}

}  // namespace
}  // namespace heddle::passes
