// Loop shapes that compilers are known to vectorise wrongly, on the host device against the oracle: guarded, reversed
// and strided reads, and windows, of few columns and of one more or less than a vector. HEDDLE_SHAPES says how many
// modules of graphs; a graph that fails is printed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/lower.h"
#include "ir/evaluate/tensor_bytes.h"
#include "ir/text/print.h"
#include "passes/pipeline.h"
#include "runtime/executable.h"
#include "runtime/host/host_device.h"
#include "tests/property/random_values.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr uint32_t kModules = 1, kGraphsEach = 60;  // a module is one call of the system compiler
constexpr double kTolerance = 1e-5;                 // inputs are short binary fractions, so most sums are exact

uint32_t module_count() {
  const char* text = std::getenv("HEDDLE_SHAPES");
  return text == nullptr ? kModules : static_cast<uint32_t>(std::atoi(text));
}

// A graph that grows by one read of a kind, perhaps computes with it, and perhaps reduces.
class ShapeGraph {
 public:
  ShapeGraph(const std::string& name, uint32_t seed) : r_(name, seed, {.nodes = 0, .gradients = false}) {
    const int64_t rows = r_.pick<int64_t>({1, 2, 3, 5, 12, 16, 33, 40});
    const int64_t columns = r_.pick<int64_t>({1, 2, 2, 2, 3, 4, 8, 15, 16, 17, 33});
    dims_ = r_.chance(30) ? Dims{1 + r_.below(3), rows, columns} : Dims{rows, columns};
  }

  Graph build() {
    ValueId v = r_.chance(15) ? window() : r_.chance(15) ? mirrored() : moved();
    if (r_.chance(30)) v = r_.b("abs", {v});
    if (r_.chance(50)) v = reduced(v);
    r_.g.outputs = {v};
    return std::move(r_.g);
  }

 private:
  ValueId moved() {
    ValueId v = r_.input(dims_);
    switch (r_.below(4)) {
      case 0: return padded(v);
      case 1: return r_.b("reverse", {v}, {{"axes", some_axes(v)}});
      case 2: return sliced(v);
      default: return r_.b("reverse", {padded(v)}, {{"axes", some_axes(v)}});
    }
  }
  ValueId padded(ValueId v) {
    Dims low, high, interior;
    const auto rank = static_cast<size_t>(r_.type(v).rank());
    for (size_t i = 0; i < rank; ++i) {
      const bool whole = i + 1 == rank && r_.chance(60);  // rows are added, columns stay
      low.push_back(whole ? 0 : r_.below(4));
      high.push_back(whole ? 0 : r_.below(4));
      interior.push_back(r_.below(4) / 3);
    }
    return r_.b("pad", {v}, {{"low", low}, {"high", high}, {"interior", interior}, {"fill", 0.5}});
  }
  ValueId sliced(ValueId v) {
    Dims starts, limits, strides;
    for (const int64_t d : Dims(r_.type(v).dims)) {
      starts.push_back(r_.below((d + 1) / 2));
      limits.push_back(starts.back() + 1 + r_.below(d - starts.back()));
      strides.push_back(1 + r_.below(3));
    }
    return r_.b("slice", {v}, {{"starts", starts}, {"limits", limits}, {"strides", strides}});
  }
  // Every `stride`-th column beside its mirror image.
  ValueId mirrored() {
    const int64_t columns = dims_.back(), stride = r_.pick<int64_t>({2, 3, 4, 8});
    const ValueId v = r_.input({dims_[0], (columns - 1) * stride + 1});
    const Dims limits = r_.type(v).dims;
    const ValueId part = r_.b("slice", {v}, {{"starts", Dims{0, 0}}, {"limits", limits}, {"strides", Dims{1, stride}}});
    return r_.b("add", {part, r_.b("reverse", {part}, {{"axes", Dims{1}}})});
  }
  ValueId window() {
    const int64_t channels = dims_.back();
    const ValueId v = r_.input({1 + r_.below(2), 4 + r_.below(6), 4 + r_.below(13), channels});
    const int64_t pad = r_.below(2);
    const Attrs attrs = {{"window", Dims{2 + r_.below(2), 2 + r_.below(2)}},
                         {"strides", Dims{1 + r_.below(2), 1 + r_.below(2)}},
                         {"pads", Dims{pad, pad, pad, pad}}};
    return r_.chance(50) ? r_.b("avg_pool2d", {v}, attrs) : r_.b.multi("max_pool2d", {v}, attrs)[0];
  }
  ValueId reduced(ValueId v) {
    return r_.b(r_.chance(70) ? "reduce_sum" : "reduce_max", {v}, {{"axes", some_axes(v)}});
  }
  Dims some_axes(ValueId v) {
    Dims axes;
    for (int64_t i = 0; i < r_.type(v).rank(); ++i)
      if (r_.chance(50)) axes.push_back(i);
    if (axes.empty()) axes.push_back(r_.below(r_.type(v).rank()));
    return axes;
  }

  RandomValues r_;
  Dims dims_;
};

NamedTensors short_fractions(const Graph& g, uint32_t seed) {
  std::mt19937 random(seed);
  NamedTensors inputs;
  for (const ValueId v : g.inputs) {
    Tensor t(g[v].type);
    for (int64_t i = 0; i < t.elements(); ++i) t.set(i, (static_cast<double>(random() % 257) - 128) / 16);
    inputs.emplace(g[v].name, t);
  }
  return inputs;
}

Tensor on_host(runtime::Executable& executable, const codegen::Entry& entry, const NamedTensors& inputs) {
  for (const codegen::Buffer& b : entry.inputs) executable.write(b, to_bytes(inputs.at(b.name)).data());
  executable.run(entry);
  const codegen::Buffer& out = entry.outputs.at(0);
  std::vector<std::byte> bytes(static_cast<size_t>(out.bytes));
  executable.read(out, bytes.data());
  return from_bytes({parse_dtype(out.dtype).value(), out.dims}, bytes);
}

void expect_agreement(Module m, uint32_t seed) {
  const Module meaning = m;
  passes::run_pipeline(m, {});
  const codegen::Program program = codegen::lower(m, "shapes", host());
  runtime::HostDevice device({.threads = 2, .kernel_cache = {}});
  runtime::Executable executable(program, device);
  for (const Graph& g : meaning.graphs) {
    const NamedTensors inputs = short_fractions(g, seed);
    const Tensor expected = evaluate(meaning, g, inputs).outputs.at(0);
    const Tensor got = on_host(executable, testing::entry_named(program, g.name), inputs);
    EXPECT_LE(difference(expected, got), kTolerance) << print(g, {});
  }
}

// The two that GCC 12 gets wrong when it unrolls the inner loop: rows around two columns, a sum along a reversed axis.
TEST(LoopShapes, OnesThatWereWrong) {
  Module m;
  const auto graph = [&m](const auto& add) {
    Graph g;
    g.name = "g" + std::to_string(m.graphs.size());
    Builder b(g);
    g.outputs = {add(g, b)};
    m.graphs.push_back(std::move(g));
  };
  for (int64_t low = 0; low < 4; ++low)
    for (int64_t high = 0; high < 4; ++high)
      graph([&](Graph& g, Builder& b) {
        const ValueId x = g.add_input("x", {DType::f32, {12, 2}}, Role::input);
        return b("pad", {x}, {{"low", Dims{low, 0}}, {"high", Dims{high, 0}}, {"fill", 0.5}});
      });
  for (const Dims& dims : {Dims{16, 2, 16}, Dims{100, 8, 3}, Dims{7, 2, 37}})
    graph([&](Graph& g, Builder& b) {
      const ValueId x = g.add_input("x", {DType::f32, dims}, Role::input);
      return b("reduce_sum", {b("reverse", {x}, {{"axes", Dims{2}}})}, {{"axes", Dims{0, 2}}});
    });
  expect_agreement(std::move(m), 1);
}

TEST(LoopShapes, AgreeWithTheOracleOnTheHost) {
  for (uint32_t i = 0; i < module_count(); ++i) {
    Module m;
    for (uint32_t k = 0; k < kGraphsEach; ++k) {
      const uint32_t seed = i * kGraphsEach + k;
      m.graphs.push_back(ShapeGraph("g" + std::to_string(seed), seed).build());
    }
    expect_agreement(std::move(m), i);
  }
}

}  // namespace
}  // namespace heddle::testing
