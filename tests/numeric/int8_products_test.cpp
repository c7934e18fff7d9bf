// Products by int8 weights: whole numbers and sums of PyTorch; equal bits from oneDNN, from generated text and on any number
// of threads; the evaluator's values; and what is refused, or left in f32, and why.
#include "passes/int8_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/builder.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "runtime/host/onednn.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using namespace ir;
using passes::Int8Weight;

// Of a processor to which every product of whole numbers is worth it.
passes::Options slow_in_f32(std::vector<std::string>* reasons = nullptr) {
  passes::Options options;
  options.target.matrix_flops = 1;
  if (reasons != nullptr) options.remark = [reasons](const passes::Remark& r) { reasons->push_back(r.reason); };
  return options;
}

Tensor floats(const Dims& dims, const std::vector<double>& values) {
  Tensor t({DType::f32, dims});
  t.real = values;
  return rounded(t);
}
Tensor bytes(const Dims& dims, const std::vector<int64_t>& values) {
  Tensor t({DType::i8, dims});
  t.integer = values;
  return t;
}

// A module with the graph @predict, which `build` fills.
template <class Build>
Module predicting(Build build) {
  Module module;
  Graph& g = module.graphs.emplace_back();
  g.name = "predict";
  Builder b(g);
  build(g, b);
  return module;
}

// relu(x w^T + b)
Module dense(int64_t m, int64_t k, int64_t n) {
  return predicting([&](Graph& g, Builder& b) {
    const ValueId x = g.add_input("x", {DType::f32, {m, k}}, Role::input);
    const ValueId w = g.add_input("w", {DType::f32, {n, k}}, Role::param);
    const ValueId bias = g.add_input("b", {DType::f32, {n}}, Role::param);
    const ValueId y = b("matmul", {x, w}, {{"transpose_b", true}}, "y");
    g.outputs = {b("add", {y, b.broadcast_to(bias, {m, n})}, {}, "z")};
  });
}

// Two convolutions with what lies between them, 3x3 of stride 2 first; filters lie as OHWI and are OIHW in files.
Module convolutions() {
  return predicting([](Graph& g, Builder& b) {
    const ValueId x = g.add_input("x", {DType::f32, {5, 9, 9, 6}}, Role::input);
    const ValueId v = g.add_input("v", {DType::f32, {16, 3, 3, 6}}, Role::param, {0, 2, 3, 1});
    const ValueId w = g.add_input("w", {DType::f32, {20, 1, 1, 16}}, Role::param, {0, 2, 3, 1});
    const ValueId h = b("conv2d", {x, v}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}, "h");
    g.outputs = {b("conv2d", {b("relu", {h}), w}, {}, "y")};
  });
}

// No two of the numbers are alike.
Tensor waves(const Type& type, double size, double step) {
  Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double value = size * std::sin(step * static_cast<double>(i) + 0.3);
    t.set(i, is_floating(type.dtype) ? value : std::round(value));
  }
  return rounded(t);
}

NamedTensors inputs_of(const Module& m) {
  NamedTensors inputs;
  const Graph& g = m.graphs.at(0);
  for (const ValueId v : g.inputs) {
    const Type& type = g[v].type;  // as it lies in memory
    const std::string& name = g[v].name;
    Tensor t = type.dtype == DType::i8 ? waves(type, 127, 1.7) : waves(type, 2, 0.7);
    if (name.ends_with("_scale"))
      for (double& scale : t.real) scale = std::abs(scale) * 0.01 + 0.001;
    if (name.ends_with("_input")) t.real = {0.0078125};
    inputs[name] = rounded(t);
  }
  return inputs;
}

std::vector<double> run(Module m, const NamedTensors& inputs, HostRunOptions options) {
  HostRun host(std::move(m), "predict", options);
  return host(inputs).outputs.at(0).real;
}

// All ways to execute it.
void expect_equal_bits(const Module& m) {
  EXPECT_EQ(verify(m), std::vector<std::string>());
  const NamedTensors inputs = inputs_of(m);
  const std::vector<double> text = run(m, inputs, {.threads = 1, .library = false});
  for (const int threads : {1, 2, 3}) EXPECT_EQ(run(m, inputs, {.threads = threads}), text) << threads;
  const Graph& g = m.graphs.at(0);
  const std::vector<double> oracle = evaluate(m, g, inputs, {.precision = Precision::rounded}).outputs.at(0).real;
  EXPECT_EQ(text, oracle);
}

bool calls_onednn(const Module& m) {
  Module planned = m;
  passes::run_pipeline(planned, host_options());
  return std::ranges::any_of(planned.kernels, [](const Graph& k) {
    return calls_library(k) && k[k.inputs[1]].type.dtype == DType::i8 && k[k.outputs[0]].type.dtype == DType::i32;
  });
}

std::vector<Int8Weight> weight(Int8Weight::Input input, const std::string& name = "w") {
  return {{.name = name, .axis = 0, .input = input}};
}

// PyTorch 2.15, fbgemm. i = arange(60), j = arange(100):
// x = ((i*i*31 + i*7) % 197 - 60).clamp(0).float() * 0.0213; w = ((j*j*37 + j*11) % 203 - 101).float() * 0.0137, as [5,20];
// w[1] *= 0.01; w[3] *= 20; sw = w.abs().amax(1) / 127; wq = quantize_per_channel(w, sw, zeros, 0, qint8);
// xq = quantize_per_tensor(x - shift, s, 0, dtype); sums = xq.int_repr().int() @ wq.int_repr().int().T;
// torch.ops.quantized.linear(xq, linear_prepack(wq, b), 0.25, 120).int_repr() - 120
struct OfPyTorch {
  Int8Weight::Input input;
  double shift, scale;
  std::vector<double> values;  // sums * (sw * s) + b
  std::vector<int> linear;     // in steps of 0.25
};
const OfPyTorch kOfPyTorch[] = {
    {Int8Weight::Input::fixed_unsigned,
     0,
     0x1.6c087ep-7,
     {4.04623222, -0.315938085, -4.13279867, 85.916893, -4.78643036, 0.859368026, -0.258076131, 1.82182872, 137.904205,
      -6.81324673, 4.03424931, -0.28896293, 1.65307117, -39.8952904, -4.71187019},
     {16, -1, -17, 135, -19, 3, -1, 7, 135, -27, 16, -1, 7, -120, -19}},
    {Int8Weight::Input::fixed_signed,
     1,
     0x1.d8eac2p-7,
     {2.52341175, -0.303599864, -3.68130064, 9.13258839, -2.47920895, -0.604951382, -0.245724842, 2.29267073,
      61.4589272, -4.49837494, 2.52828646, -0.276806146, 2.09457636, -116.322968, -2.41819835},
     {10, -1, -15, 37, -10, -2, -1, 9, 135, -18, 10, -1, 8, -120, -10}}};

TEST(Int8Products, AreThoseOfPyTorch) {
  std::vector<double> x, w, scales;
  std::vector<int64_t> wholes;
  for (int64_t i = 0; i < 60; ++i)
    x.push_back(std::max<double>(0, static_cast<double>((i * i * 31 + i * 7) % 197 - 60)));
  for (int64_t j = 0; j < 100; ++j) {
    const double of_row = j / 20 == 1 ? 0.01 : j / 20 == 3 ? 20 : 1;
    const auto value = static_cast<float>((j * j * 37 + j * 11) % 203 - 101) * 0.0137F;
    w.push_back(value * static_cast<float>(of_row));
  }
  for (size_t row = 0; row < 5; ++row) {
    float largest = 0;
    for (size_t c = 0; c < 20; ++c) largest = std::max(largest, std::abs(static_cast<float>(w[row * 20 + c])));
    scales.push_back(largest / 127);
    for (size_t c = 0; c < 20; ++c)
      wholes.push_back(std::lrint(static_cast<float>(w[row * 20 + c]) / static_cast<float>(scales.back())));
  }
  for (double& value : x) value = static_cast<float>(value) * 0.0213F;
  for (const OfPyTorch& of : kOfPyTorch) {
    Module m = dense(3, 20, 5);
    ASSERT_TRUE(passes::int8_products(m, weight(of.input), slow_in_f32()));
    std::vector<double> shifted = x;
    for (double& value : shifted) value = static_cast<float>(value) - static_cast<float>(of.shift);
    const NamedTensors inputs = {{"x", floats({3, 20}, shifted)},
                                 {"w", bytes({5, 20}, wholes)},
                                 {"b", floats({5}, {0.5, -0.25, 1, 0, -3})},
                                 {"w.int8_scale", floats({5}, scales)},
                                 {"w.int8_input", floats({}, {of.scale})}};
    for (const bool library : {false, true}) {
      const std::vector<double> y = run(m, inputs, {.library = library});
      for (size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], of.values[i], 2e-7 * std::max(1.0, std::abs(of.values[i]))) << i;
        EXPECT_EQ(std::clamp(std::nearbyint(y[i] / 0.25), -120.0, 135.0), of.linear[i]) << i;
      }
    }
  }
}

TEST(Int8Products, HaveTheSameBitsWhereverTheyAreComputed) {
  using Input = Int8Weight::Input;
  for (const Input input : {Input::fixed_unsigned, Input::fixed_signed, Input::by_row}) {
    Module m = dense(37, 65, 19);
    ASSERT_TRUE(passes::int8_products(m, weight(input), slow_in_f32()));
    expect_equal_bits(m);
    EXPECT_EQ(calls_onednn(m), runtime::onednn_multiplies_bytes());
    Module c = convolutions();
    ASSERT_TRUE(passes::int8_products(c, {weight(input, "v")[0], weight(input)[0]}, slow_in_f32()));
    expect_equal_bits(c);
    EXPECT_EQ(calls_onednn(c), runtime::onednn_multiplies_bytes());
  }
}

// 300 rows are cut into slices.
TEST(Int8Products, OfManyRowsToo) {
  Module m = dense(300, 512, 96);
  ASSERT_TRUE(passes::int8_products(m, weight(Int8Weight::Input::fixed_signed), slow_in_f32()));
  const NamedTensors inputs = inputs_of(m);
  const std::vector<double> text = run(m, inputs, {.threads = 2, .library = false});
  for (const int threads : {1, 2, 5}) EXPECT_EQ(run(m, inputs, {.threads = threads}), text);
}

// A row of zeros has a scale all the same.
TEST(Int8Products, RowsOfZerosStayZeros) {
  Module m = dense(2, 16, 4);
  ASSERT_TRUE(passes::int8_products(m, weight(Int8Weight::Input::by_row), slow_in_f32()));
  NamedTensors inputs = inputs_of(m);
  for (size_t i = 0; i < 16; ++i) inputs["x"].real[i] = 0;
  for (double& value : inputs["b"].real) value = 0;
  const std::vector<double> y = run(m, inputs, {});
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(y[i], 0);
  EXPECT_NE(y[4], 0);
}

std::string reason(Module m, const std::vector<Int8Weight>& weights, const passes::Options& asked = slow_in_f32()) {
  std::vector<std::string> reasons;
  passes::Options options = asked;
  options.remark = [&](const passes::Remark& r) { reasons.push_back(r.reason); };
  EXPECT_FALSE(passes::int8_products(m, weights, options));
  EXPECT_EQ(verify(m), std::vector<std::string>());
  return reasons.size() == 1 ? reasons[0] : "not one reason";
}

// 64x128x10: 2 * 81920 operations at 2e11 a second. In int8 a third of it, (8192 * 5 + 640 * 8 + 1280 * 2) bytes at
// 4.8e10 a second, and two launches of 2 us.
TEST(Int8Products, StayF32WhereWholeNumbersArePredictedToBeSlower) {
  EXPECT_EQ(reason(dense(64, 128, 10), weight(Int8Weight::Input::fixed_signed), {}),
            "f32: 5.29 us estimated in int8, 0.819 us in f32");
  Module m = dense(64, 784, 128);
  std::vector<std::string> reasons;
  passes::Options options;
  options.remark = [&](const passes::Remark& r) { reasons.push_back(r.reason); };
  EXPECT_TRUE(passes::int8_products(m, weight(Int8Weight::Input::fixed_signed), options));
  EXPECT_EQ(reasons.at(0), "int8: 36.2 us estimated in int8, 64.2 us in f32");
}

TEST(Int8Products, LeaveWhatIsNoProductByTheWeight) {
  std::vector<Int8Weight> other = weight(Int8Weight::Input::fixed_signed);
  other[0].axis = 1;
  EXPECT_EQ(reason(dense(4, 8, 8), other), "f32: its scales lie along another axis than its outputs");
  Module m = dense(4, 8, 8);
  Builder b(m.graphs[0]);
  m.graphs[0].outputs.push_back(b("exp", {m.graphs[0].find("w")}));
  EXPECT_EQ(reason(m, weight(Int8Weight::Input::fixed_signed)), "f32: 'exp' reads it");
  m = dense(4, 8, 8);
  m.graphs[0].updates.push_back({m.graphs[0].find("w"), m.graphs[0].find("w")});
  EXPECT_EQ(reason(m, weight(Int8Weight::Input::fixed_signed)), "f32: a run changes it");
  EXPECT_EQ(reason(dense(1, 70'000, 2), weight(Int8Weight::Input::fixed_signed)),
            "f32: a sum of 70000 products may leave i32");
  m = dense(4, 8, 8);
  EXPECT_FALSE(passes::int8_products(m, weight(Int8Weight::Input::by_row, "absent"), slow_in_f32()));
}

// --- weights that are widened as they are read

// relu(x w + b), w as it lies in a file: inputs first.
Module dense_by_inputs(int64_t m, int64_t k, int64_t n) {
  Module module = dense(m, k, n);
  Graph& g = module.graphs[0];
  Node& product = g[g[g.find("y")].def];
  g[g.find("w")].type.dims = {k, n};
  product.attrs.erase("transpose_b");
  return module;
}

// A table whose rows are looked up, and which is the last matrix, too.
Module tied(int64_t m, int64_t rows, int64_t width) {
  return predicting([&](Graph& g, Builder& b) {
    const ValueId ids = g.add_input("ids", {DType::i32, {m}}, Role::input);
    const ValueId w = g.add_input("w", {DType::f32, {rows, width}}, Role::param);
    const ValueId x = b("gather", {w, ids}, {{"axis", int64_t{0}}}, "x");
    g.outputs = {b("matmul", {b("relu", {x}), w}, {{"transpose_b", true}}, "y")};
  });
}

std::vector<Int8Weight> widened(int64_t axis = 0) {
  return {{.name = "w", .axis = axis, .input = Int8Weight::Input::f32}};
}

// The weight as f32, in the shape of the file: `turned` where it lies with its outputs first, and the file does not.
Tensor dequantized(const NamedTensors& inputs, bool turned) {
  const Tensor &w = inputs.at("w"), &scale = inputs.at("w.int8_scale");
  const int64_t outputs = w.type.dims[0], k = w.type.dims[1];
  Tensor f({DType::f32, turned ? Dims{k, outputs} : Dims{outputs, k}});
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < k; ++i)
      f.set(turned ? i * outputs + o : o * k + i,
            static_cast<double>(w.integer[static_cast<size_t>(o * k + i)]) * scale.real[static_cast<size_t>(o)]);
  return f;
}

// The program of the int8 weight against the evaluator with the f32 weight: by the library and as generated text.
void expect_as_f32(const Module& f32, int64_t axis, bool turned, double bound) {
  Module m = f32;
  ASSERT_TRUE(passes::int8_products(m, widened(axis), {}));
  EXPECT_EQ(verify(m), std::vector<std::string>());
  const Graph& g = m.graphs[0];
  EXPECT_EQ(g[g.find("w")].type.dtype, DType::i8);
  EXPECT_EQ(g[g.find("w")].layout, turned ? Layout({1, 0}) : Layout());
  NamedTensors inputs = inputs_of(m);
  if (inputs.contains("ids"))
    for (size_t i = 0; i < inputs["ids"].integer.size(); ++i)
      inputs["ids"].integer[i] = static_cast<int64_t>(3 * i + 1) % g[g.find("w")].type.dims[0];
  NamedTensors as_f32 = inputs;
  as_f32["w"] = dequantized(inputs, turned);
  const std::vector<double> exact = evaluate(f32, f32.graphs[0], as_f32).outputs.at(0).real;
  Module planned = m;
  passes::run_pipeline(planned, host_options());
  const bool has_sum = dequantized(inputs, false).type.dims[1] > 1;
  EXPECT_EQ(has_sum, std::ranges::any_of(planned.kernels, [](const Graph& k) {
              return calls_library(k) && k.inputs.size() >= 3 && k[k.inputs[0]].type.dtype == DType::f32 &&
                     k[k.inputs[1]].type.dtype == DType::i8 && k[k.outputs[0]].type.dtype == DType::f32;
            }));
  for (const bool library : {false, true})
    for (const int threads : {1, 3}) {
      const std::vector<double> y = run(m, inputs, {.threads = threads, .library = library});
      ASSERT_EQ(y.size(), exact.size());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], exact[i], bound) << i << (library ? " by the library" : "");
    }
}

TEST(Int8Weights, AreReadAsTheirProductsWithTheScales) {
  for (const int64_t k : {1, 63, 64, 65, 300})
    for (const int64_t m : {2, 3, 5}) {
      const double bound = 2e-5 * static_cast<double>(k + 8);
      expect_as_f32(dense(m, k, 70), 0, false, bound);
      expect_as_f32(dense_by_inputs(m, k, 70), 1, true, bound);
      expect_as_f32(tied(m, 97, k), 0, false, bound);
    }
}

// Scale, bias and relu are one call, and the slices are those of the weight's size.
TEST(Int8Weights, AreMultipliedInOneCall) {
  Module m = dense(2, 768, 512);
  Builder b(m.graphs[0]);
  m.graphs[0].outputs = {b("relu", {m.graphs[0].outputs[0]})};
  ASSERT_TRUE(passes::int8_products(m, widened(), {}));
  passes::run_pipeline(m, host_options());
  ASSERT_EQ(m.kernels.size(), 1);
  EXPECT_EQ(m.kernels[0].inputs.size(), 4);
  EXPECT_EQ(std::get<schedules::LibraryCall>(m.kernels[0].schedule->how).batch_split, 6);
}

// A sum without its scale is up to 127 * 1000 * 64: beyond f16.
TEST(Int8Weights, AreMultipliedInF32InAMixedModel) {
  Module m = dense(2, 64, 70);
  Graph& g = m.graphs[0];
  g[g[g.find("y")].def].attrs["precision"] = "mixed_f16";
  ASSERT_TRUE(passes::int8_products(m, widened(), {}));
  NamedTensors inputs = inputs_of(m);
  for (double& x : inputs["x"].real) x = 1000;
  for (int64_t& w : inputs["w"].integer) w = 127;
  for (double& scale : inputs["w.int8_scale"].real) scale = 0x1p-20;
  for (double& bias : inputs["b"].real) bias = 0;
  for (const double y : run(m, inputs, {})) EXPECT_NEAR(y, 127.0 * 1000 * 64 * 0x1p-20, 1e-5);
}

TEST(Int8Weights, StayF32WhereTheyAreReadOtherwise) {
  EXPECT_EQ(reason(dense(4, 8, 8), widened(1), {}), "f32: its scales lie along another axis than its outputs");
  EXPECT_EQ(reason(tied(4, 8, 8), widened(1), {}), "f32: its scales lie along another axis than its rows");
  EXPECT_EQ(reason(dense_by_inputs(4, 8, 8), widened(0), {}),
            "f32: its scales lie along another axis than its outputs");
  Module m = dense(4, 8, 8);
  Builder b(m.graphs[0]);
  m.graphs[0].outputs.push_back(b("matmul", {m.graphs[0].find("x"), m.graphs[0].find("w")}));
  EXPECT_EQ(reason(m, widened(), {}), "f32: its readers need it in two orders");
  m = convolutions();
  EXPECT_EQ(reason(m, widened(), {}), "f32: 'conv2d' reads it");
  m = dense(4, 8, 8);
  Builder exp(m.graphs[0]);
  m.graphs[0].outputs.push_back(exp("exp", {m.graphs[0].find("w")}));
  EXPECT_EQ(reason(m, widened(), {}), "f32: 'exp' reads it");
}

TEST(Int8Products, InputsAreObserved) {
  Module m = convolutions();
  EXPECT_EQ(
      passes::observe_inputs(m, {weight(Int8Weight::Input::by_row, "v")[0], weight(Int8Weight::Input::by_row)[0]}),
      (std::vector<std::string>{"v", "w"}));
  NamedTensors inputs = inputs_of(m);
  inputs["v.observed_low"] = inputs["w.observed_low"] = floats({}, {1e9});
  inputs["v.observed_high"] = inputs["w.observed_high"] = floats({}, {-1e9});
  HostRun host(m, "predict", {});
  const Evaluation done = host(inputs);
  const auto [low, high] = std::ranges::minmax_element(inputs["x"].real);
  EXPECT_EQ(done.updated.at("v.observed_low").real[0], *low);
  EXPECT_EQ(done.updated.at("v.observed_high").real[0], *high);
  EXPECT_EQ(done.updated.at("w.observed_low").real[0], 0);  // behind relu
  EXPECT_GT(done.updated.at("w.observed_high").real[0], 1);
}

}  // namespace
}  // namespace heddle::testing
