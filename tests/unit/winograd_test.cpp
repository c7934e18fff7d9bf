// Winograd's convolutions (runtime/host/winograd.h) and calls of them against plain loops in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/op_def.h"
#include "runtime/host/winograd_call.h"

namespace heddle::runtime {
namespace {

using codegen::Library;
using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

int64_t count(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t x : dims) n *= x;
  return n;
}

Floats drawn(int64_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  Floats x(static_cast<size_t>(n));
  for (float& v : x) v = normal(engine);
  return x;
}

struct Case {
  Dims image, filter, pads;  // NHWC; OHWI; low rows, low columns, high rows, high columns
  bool of_gradient = false;

  Dims result() const {
    return {image[0], image[1] + pads[0] + pads[2] - 2, image[2] + pads[1] + pads[3] - 2, filter[0]};
  }
  std::string text() const {
    std::string t = of_gradient ? "gradient" : "forward";
    for (const Dims& dims : {image, filter, pads})
      for (const int64_t x : dims) t += " " + std::to_string(x);
    return t;
  }
};

// Whole tiles and parts of them, padding of every size, on one side alone, sides that differ in their channels.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool of_gradient : {false, true})
    for (Case c :
         {Case{{2, 8, 8, 16}, {16, 3, 3, 16}, {1, 1, 1, 1}}, Case{{3, 7, 10, 16}, {32, 3, 3, 16}, {1, 1, 1, 1}},
          Case{{2, 26, 5, 48}, {64, 3, 3, 48}, {0, 0, 0, 0}}, Case{{1, 9, 6, 32}, {80, 3, 3, 32}, {2, 0, 1, 2}},
          Case{{5, 3, 3, 64}, {16, 3, 3, 64}, {0, 2, 0, 1}}, Case{{1, 3, 4, 16}, {112, 3, 3, 16}, {3, 4, 5, 3}}}) {
      c.of_gradient = of_gradient;
      all.push_back(c);
    }
  return all;
}

struct Operands {
  explicit Operands(const Case& c)
      : read(drawn(count(c.of_gradient ? c.result() : c.image), 1)),
        filter(drawn(count(c.filter), 2)),
        bias(drawn(c.filter[0], 3)) {}
  Floats read, filter, bias;
};

// The convolution's results, or the gradient of its image by results that are `read`.
std::vector<double> exact(const Case& c, const Operands& in) {
  const Dims result = c.result();
  const auto at = [](const Dims& dims, int64_t n, int64_t i, int64_t j, int64_t channel) {
    return static_cast<size_t>(((n * dims[1] + i) * dims[2] + j) * dims[3] + channel);
  };
  std::vector<double> made(static_cast<size_t>(count(c.of_gradient ? c.image : result)));
  for (int64_t n = 0; n < result[0]; ++n)
    for (int64_t i = 0; i < result[1]; ++i)
      for (int64_t j = 0; j < result[2]; ++j)
        for (int64_t r = 0; r < 3; ++r)
          for (int64_t s = 0; s < 3; ++s) {
            const int64_t row = i + r - c.pads[0], column = j + s - c.pads[1];
            if (row < 0 || row >= c.image[1] || column < 0 || column >= c.image[2]) continue;
            for (int64_t k = 0; k < result[3]; ++k)
              for (int64_t channel = 0; channel < c.image[3]; ++channel) {
                const size_t x = at(c.image, n, row, column, channel), y = at(result, n, i, j, k);
                const auto w = static_cast<double>(in.filter[at(c.filter, k, r, s, channel)]);
                made[c.of_gradient ? x : y] += w * static_cast<double>(in.read[c.of_gradient ? y : x]);
              }
          }
  return made;
}

double nmse(const Floats& got, const std::vector<double>& want) {
  double error = 0, all = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - want[i];
    error += difference * difference;
    all += want[i] * want[i];
  }
  return error / all;
}

Library call_of(const Case& c, const std::vector<std::string>& epilogue = {}) {
  const ir::OpDef* op = ir::find_op(c.of_gradient ? "conv2d_data_grad" : "conv2d");
  const ir::ConvolutionRoles& roles = *op->traits.convolution;
  Library call;
  call.impl = "winograd", call.op = op->name, call.title = "test", call.batch_split = 1;
  call.convolution = codegen::ConvolutionRoles{roles.image, roles.filter, roles.result};
  call.integers = {{"pads", c.pads}, {"strides", {1, 1}}, {"dilations", {1, 1}}, {"groups", {1}}};
  call.operands = {{"f32", c.of_gradient ? c.result() : c.image}, {"f32", c.filter}};
  call.results = {{"f32", c.of_gradient ? c.image : c.result()}};
  for (const std::string& step : epilogue) {
    if (step == "bias") call.operands.push_back({"f32", {c.filter[0]}});
    const ir::OpDef* def = ir::find_op(step);
    call.epilogue.push_back(
        {.op = step, .bias = step == "bias", .at_least = def ? def->traits.at_least : std::nullopt});
  }
  return call;
}

// Twice on poisoned results and workspace: nothing may depend on what lies there.
Floats run(Library call, Operands in, int64_t slices = 1, int threads = 1) {
  call.batch_split = slices;
  call.workspace.bytes = winograd_needs(call).workspace;
  Floats workspace(static_cast<size_t>(call.workspace.bytes) / sizeof(float), NAN);
  Floats out(static_cast<size_t>(count(call.results[0].dims)), NAN);
  std::vector<void*> arguments = {in.read.data(), in.filter.data()};
  if (call.operands.size() > 2) arguments.push_back(in.bias.data());
  arguments.push_back(out.data());
  ThreadPool pool(threads);
  WinogradCall bound(call, arguments, workspace.data());
  bound.run(pool);
  bound.run(pool);
  return out;
}

// The code for every instruction set, whichever is the widest here.
TEST(Winograd, EveryCodeIsNearTheSums) {
  for (const winograd::Code& code : winograd::codes())
    for (const Case& c : cases()) {
      const Operands in(c);
      const Dims &read = c.of_gradient ? c.result() : c.image, made = c.of_gradient ? c.image : c.result();
      const int64_t channels = read[3], results = made[3];
      Floats filter(static_cast<size_t>(winograd::filter_floats(channels, results)), NAN);
      Floats scratch(static_cast<size_t>(winograd::scratch_floats(channels, results)), NAN);
      Floats out(static_cast<size_t>(count(made) + 1), 7.0F);  // one float behind stays
      for (int64_t k = 0; k < results; k += 16)
        code.transform({in.filter.data(), filter.data(), channels, results, c.of_gradient}, k, k + 16);
      const int64_t down = c.of_gradient ? 2 - c.pads[0] : c.pads[0], right = c.of_gradient ? 2 - c.pads[1] : c.pads[1];
      code.convolve({.x = in.read.data(),
                     .filter = filter.data(),
                     .y = out.data(),
                     .scratch = scratch.data(),
                     .images = read[0],
                     .c = channels,
                     .k = results,
                     .in = {read[1], read[2]},
                     .out = {made[1], made[2]},
                     .low = {down, right}});
      EXPECT_LT(nmse(out, exact(c, in)), 1e-11) << code.instructions << ": " << c.text();
      EXPECT_EQ(out.back(), 7.0F) << code.instructions << ": " << c.text();
    }
}

// Its own error, at the sizes of a network, stays a hundredth of what a choice may cost: 1e-10 of the mean square.
TEST(Winograd, IsExactEnough) {
  for (const Dims& filter : {Dims{16, 3, 3, 16}, Dims{64, 3, 3, 64}, Dims{128, 3, 3, 128}})
    for (const bool of_gradient : {false, true}) {
      const Case c{{1, 8, 8, filter[3]}, filter, {1, 1, 1, 1}, of_gradient};
      const Operands in(c);
      EXPECT_LT(nmse(run(call_of(c), in), exact(c, in)), 1e-11) << c.text();
    }
}

TEST(Winograd, SlicesAndThreadsKeepTheBits) {
  for (const Case& c : cases()) {
    const Operands in(c);
    const Floats alone = run(call_of(c), in);
    EXPECT_LT(nmse(alone, exact(c, in)), 1e-11) << c.text();
    for (const int64_t slices : {2, 3, 64})
      for (const int threads : {1, 3}) EXPECT_EQ(run(call_of(c), in, slices, threads), alone) << c.text();
  }
}

// So that a row of a prediction has the same bits in every batch.
TEST(Winograd, AnImageHasTheBitsThatItHasAlone) {
  const Case c{{5, 7, 10, 32}, {48, 3, 3, 32}, {1, 1, 1, 1}};
  const Operands in(c);
  const Floats all = run(call_of(c), in);
  Case one = c;
  one.image[0] = 1;
  const int64_t size = count(one.image), made = count(one.result());
  for (int64_t n = 0; n < c.image[0]; ++n) {
    Operands image = in;
    image.read.assign(in.read.begin() + n * size, in.read.begin() + (n + 1) * size);
    EXPECT_EQ(run(call_of(one), image), Floats(all.begin() + n * made, all.begin() + (n + 1) * made)) << n;
  }
}

TEST(Winograd, AddsTheBiasAndKeepsNanAboveZero) {
  const Case c{{2, 8, 8, 16}, {32, 3, 3, 16}, {1, 1, 1, 1}};
  Operands in(c);
  const std::vector<double> want = exact(c, in);
  const Floats biased = run(call_of(c, {"bias"}), in), both = run(call_of(c, {"bias", "relu"}), in),
               above = run(call_of(c, {"relu"}), in);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(biased[i], want[i] + static_cast<double>(in.bias[i % 32]), 1e-3) << i;
    ASSERT_EQ(both[i], std::max(biased[i], 0.0F)) << i;
    ASSERT_NEAR(above[i], std::max(want[i], 0.0), 1e-3) << i;
  }
  in.read[0] = NAN;
  const Floats spread = run(call_of(c, {"relu"}), in);
  EXPECT_TRUE(std::isnan(spread[0]));                      // relu keeps it
  EXPECT_TRUE(std::isnan(spread[(3 * 8 + 3) * 32 + 31]));  // all of the tile that reads it
  EXPECT_FALSE(std::isnan(spread[(8 * 4 + 4) * 32]));      // no other tile
  EXPECT_FALSE(std::isnan(spread[8 * 8 * 32]));            // nor the next image
}

// In a loop the arguments move, and back.
TEST(Winograd, ArgumentsMoveWithALoop) {
  const Case c{{1, 8, 8, 16}, {16, 3, 3, 16}, {1, 1, 1, 1}};
  const Operands in(c);
  Library call = call_of(c);
  call.workspace.bytes = winograd_needs(call).workspace;
  const auto size = static_cast<size_t>(count(c.image));
  Floats x = drawn(3 * static_cast<int64_t>(size), 4), y(3 * size, NAN), filter = in.filter;
  Floats workspace(static_cast<size_t>(call.workspace.bytes) / sizeof(float));
  WinogradCall bound(call, std::vector<void*>{x.data(), filter.data(), y.data()}, workspace.data(),
                     {{}, {x.data() + size, filter.data(), y.data() + size}});
  ThreadPool pool(1);
  for (int turn = 0; turn < 3; ++turn, bound.advance(1, 1)) bound.run(pool);
  bound.advance(0, 1);  // a loop that moves nothing
  bound.advance(1, -3);
  for (size_t turn = 0; turn < 3; ++turn) {
    Operands image = in;
    const auto begin = static_cast<std::ptrdiff_t>(turn * size), end = static_cast<std::ptrdiff_t>((turn + 1) * size);
    image.read.assign(x.begin() + begin, x.begin() + end);
    EXPECT_EQ(run(call_of(c), image), Floats(y.begin() + begin, y.begin() + end)) << turn;
  }
  const Floats before = y;
  std::fill(y.begin(), y.end(), NAN);
  bound.run(pool);
  EXPECT_TRUE(std::equal(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(size), before.begin()));
}

TEST(Winograd, SaysWhatItCannotTake) {
  const Case c{{1, 8, 8, 16}, {16, 3, 3, 16}, {1, 1, 1, 1}};
  const auto refusal = [&](auto change) {
    Library call = call_of(c);
    change(call);
    return winograd_needs(call).refusal;
  };
  EXPECT_EQ(refusal([](Library&) {}), "");
  EXPECT_EQ(refusal([](Library& l) { l.convolution.reset(); }), "operator conv2d");
  EXPECT_EQ(refusal([](Library& l) { l.precision = "bf16"; }), "precision bf16");
  EXPECT_EQ(refusal([](Library& l) { l.operands[0].dtype = "f64"; }), "dtype f64");
  EXPECT_EQ(refusal([](Library& l) { l.operands[1].dims = {16, 5, 3, 16}; }), "a window other than 3 x 3");
  EXPECT_EQ(refusal([](Library& l) { l.integers["strides"] = {2, 1}; }), "strides");
  EXPECT_EQ(refusal([](Library& l) { l.integers["dilations"] = {1, 2}; }), "strides");
  EXPECT_EQ(refusal([](Library& l) { l.integers["groups"] = {2}; }), "groups");
  EXPECT_EQ(refusal([](Library& l) { l.operands[1].dims[3] = 12; }), "12 channels");
  EXPECT_EQ(refusal([](Library& l) { l.operands[0].dims[0] = 0; }), "an empty tensor");
  EXPECT_EQ(refusal([](Library& l) { l.epilogue.push_back({.op = "tanh"}); }), "epilogue tanh");
  Library small = call_of(c);
  small.workspace.bytes = winograd_needs(small).workspace - 64;
  std::vector<void*> nowhere(3, nullptr);
  EXPECT_THROW(WinogradCall(small, nowhere, nullptr), UserError);
}

}  // namespace
}  // namespace heddle::runtime
