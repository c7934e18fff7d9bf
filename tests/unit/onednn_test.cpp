#include "runtime/host/onednn.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "ir/diagnostic.h"
#include "ir/op_def.h"
#include "runtime/host/onednn_parts.h"

namespace heddle::runtime {
namespace {

using codegen::Library;
using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

size_t count(const Dims& d) {
  size_t n = 1;
  for (int64_t x : d) n *= static_cast<size_t>(x);
  return n;
}

// Values in [-1, 1) from a fixed sequence.
Floats values(size_t n, uint32_t seed) {
  Floats out(n);
  for (float& v : out) {
    seed = seed * 1664525U + 1013904223U;
    v = static_cast<float>(seed >> 8) / 8388608.0F - 1.0F;
  }
  return out;
}

Library call_of(const std::string& op, std::vector<Dims> operands, const Dims& result,
                std::map<std::string, Dims> integers = {}, std::vector<std::string> epilogue = {}) {
  Library call;
  call.impl = "onednn";
  call.op = op;
  call.title = "test." + op;
  call.integers = std::move(integers);
  if (const ir::OpDef* def = ir::find_op(op)) {
    call.matrix_product = def->traits.matrix_product;
    if (const auto& roles = def->traits.convolution)
      call.convolution = codegen::ConvolutionRoles{roles->image, roles->filter, roles->result};
  }
  for (std::string& step : epilogue) {
    const ir::OpDef* def = ir::find_op(step);
    call.epilogue.push_back(
        {.op = step, .bias = step == "bias", .at_least = def ? def->traits.at_least : std::nullopt});
  }
  for (Dims& d : operands) call.operands.push_back({"f32", std::move(d)});
  call.results.push_back({"f32", result});
  return call;
}

// Runs the call on poisoned result and workspace memory.
Floats run(Library call, std::vector<Floats>& operands, int64_t slices, int threads) {
  call.batch_split = slices;
  call.workspace.bytes = onednn_needs(call).workspace;
  const auto bytes = static_cast<size_t>(call.workspace.bytes) + 256;
  const std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(256, (bytes + 255) / 256 * 256),
                                                              &std::free);
  std::memset(workspace.get(), 0xff, bytes);
  Floats out(count(call.results[0].dims), NAN);
  std::vector<void*> arguments;
  for (Floats& o : operands) arguments.push_back(o.data());
  arguments.push_back(out.data());
  ThreadPool pool(threads);
  OnednnCall bound(call, arguments, workspace.get());
  bound.run(pool);
  bound.run(pool);  // nothing may depend on what the first run left behind
  return out;
}

enum class Values { ordinary, special };

// Special ones have infinities, a nan and numbers below the normal ones here and there in the first two operands.
std::vector<Floats> operands_of(const Library& call, Values kind = Values::ordinary) {
  std::vector<Floats> out;
  for (const auto& t : call.operands) out.push_back(values(count(t.dims), static_cast<uint32_t>(17 + out.size())));
  if (kind == Values::ordinary) return out;
  const auto at = [](Floats& v, size_t i) -> float& { return v[i % v.size()]; };
  at(out[0], 1) = NAN;
  at(out[0], out[0].size() / 3) = INFINITY;
  at(out[0], out[0].size() / 2) = -INFINITY;
  at(out[0], out[0].size() - 1) = 1e-40F;
  at(out[1], out[1].size() / 5) = 0;  // times an infinity it is nan
  at(out[1], out[1].size() - 2) = 3e-39F;
  return out;
}

void expect_near(const Floats& got, const std::vector<double>& want, double terms, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  // Products average 1/4 in size, so this allows four roundings of the sum of their sizes; one product more or less is
  // 1e5 times that.
  const double tolerance = 0x1p-24 * (terms + 16.0);
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << what << " element " << i << " is " << got[i];
    } else if (std::isinf(want[i])) {
      ASSERT_EQ(got[i], want[i]) << what << " element " << i;
    } else {
      ASSERT_NEAR(got[i], want[i], tolerance) << what << " element " << i;
    }
  }
}

// The same bits for every number of threads, for each number of slices; and near the plain loops.
void check(const Library& call, const std::vector<double>& want, double terms, const std::string& what,
           Values kind = Values::ordinary) {
  ASSERT_EQ(onednn_needs(call).refusal, "") << what;
  std::vector<Floats> operands = operands_of(call, kind);
  for (int64_t slices : {1, 3, 4, 8}) {
    const Floats one = run(call, operands, slices, 1);
    expect_near(one, want, terms, what);
    for (int threads : {2, 4}) {
      const Floats many = run(call, operands, slices, threads);
      ASSERT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)), 0)
          << what << ": " << slices << " slices, " << threads << " threads";
    }
  }
}

struct ProductCase {
  int64_t batch, m, n, k;
  bool ta, tb, bias, relu;
};

void check_product(const ProductCase& p, Values kind = Values::ordinary) {
  const auto dims = [&](int64_t r, int64_t c) { return p.batch == 1 ? Dims{r, c} : Dims{p.batch, r, c}; };
  std::vector<Dims> shapes = {p.ta ? dims(p.k, p.m) : dims(p.m, p.k), p.tb ? dims(p.n, p.k) : dims(p.k, p.n)};
  std::vector<std::string> epilogue;
  if (p.bias) shapes.push_back({p.n}), epilogue.push_back("bias");
  if (p.relu) epilogue.push_back("relu");
  Library call =
      call_of("matmul", shapes, dims(p.m, p.n), {{"transpose_a", {p.ta}}, {"transpose_b", {p.tb}}}, epilogue);
  const std::vector<Floats> in = operands_of(call, kind);
  std::vector<double> want;
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = p.bias ? in[2][static_cast<size_t>(j)] : 0.0;
        for (int64_t k = 0; k < p.k; ++k) {
          const int64_t a = b * p.m * p.k + (p.ta ? k * p.m + i : i * p.k + k);
          const int64_t c = b * p.k * p.n + (p.tb ? j * p.k + k : k * p.n + j);
          sum += static_cast<double>(in[0][static_cast<size_t>(a)]) * in[1][static_cast<size_t>(c)];
        }
        want.push_back(p.relu ? std::max(sum, 0.0) : sum);
      }
    }
  }
  check(call, want, static_cast<double>(p.k),
        fmt::format("matmul {}x{}x{}x{} ta {} tb {}", p.batch, p.m, p.n, p.k, p.ta, p.tb), kind);
}

TEST(Onednn, MatmulEveryTranspose) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) check_product({1, 37, 52, 19, ta, tb, false, false});
  }
}
TEST(Onednn, MatmulEpilogue) {
  check_product({1, 128, 10, 128, false, true, true, false});
  check_product({1, 33, 128, 50, false, true, true, true});
  check_product({1, 33, 31, 50, false, false, false, true});
}
TEST(Onednn, MatmulBatched) {
  check_product({6, 9, 17, 5, false, true, false, false});
  check_product({2, 9, 17, 5, true, false, true, true});
}
TEST(Onednn, MatmulDegenerate) {
  check_product({1, 1, 1, 1, false, false, false, false});
  check_product({1, 1, 129, 3, false, false, true, false});
  check_product({1, 129, 1, 3, true, true, true, true});
}

// relu keeps nan and makes 0 of -inf; an infinity times 0 is nan; numbers below the normal ones count.
TEST(Onednn, MatmulOfSpecialValues) {
  for (bool relu : {false, true}) {
    check_product({1, 37, 52, 19, false, false, false, relu}, Values::special);
    check_product({1, 33, 128, 50, false, true, true, relu}, Values::special);
    check_product({1, 128, 10, 30, true, false, true, relu}, Values::special);
    check_product({3, 9, 17, 5, false, true, true, relu}, Values::special);
  }
}
// A long inner side is cut into runs, the last of them shorter.
TEST(Onednn, MatmulInRuns) {
  for (const Values kind : {Values::ordinary, Values::special}) {
    check_product({1, 5, 9, 9001, false, true, true, true}, kind);
    check_product({1, 9, 70, 4097, false, false, false, false}, kind);
    check_product({1, 17, 6, 6000, true, false, true, false}, kind);
    check_product({3, 4, 5, 5000, true, true, false, true}, kind);
  }
}
// Rows that have the bits that they have alone have them in any number of slices, too, of columns or of matrices.
TEST(Onednn, LoneRowsHaveTheSameBitsInAnyNumberOfSlices) {
  for (const int64_t batch : {1, 6})
    for (const int64_t m : {1, 2, 5})
      for (const bool turned : {false, true}) {
        const int64_t n = 301, k = 70;
        const auto dims = [&](int64_t r, int64_t c) { return batch == 1 ? Dims{r, c} : Dims{batch, r, c}; };
        Library call = call_of("matmul", {dims(m, k), turned ? dims(n, k) : dims(k, n), {n}}, dims(m, n),
                               {{"transpose_b", {turned}}, {"lone_rows", {1}}}, {"bias", "relu"});
        std::vector<Floats> in = operands_of(call);
        const Floats whole = run(call, in, 1, 1);
        for (const int64_t slices : {2, 3, 8, 64})
          for (const int threads : {1, 3}) {
            const Floats cut = run(call, in, slices, threads);
            EXPECT_EQ(std::memcmp(whole.data(), cut.data(), whole.size() * sizeof(float)), 0)
                << batch << " products of " << m << " rows in " << slices << " slices, transposed " << turned;
          }
      }
}
TEST(Onednn, MatmulKeepsNumbersBelowTheNormalOnes) {
  Library call = call_of("matmul", {{2, 3}, {3, 2}}, {2, 2});
  std::vector<Floats> in = {{1e-40F, 0, 0, 0, 1, 0}, {1, 0, 0, 2e-41F, 0, 0}};
  EXPECT_EQ(run(call, in, 1, 1), (Floats{1e-40F, 0, 0, 2e-41F}));
}

// Of images, or of volumes: those have a depth, and a number more in front of strides, dilations and both halves of pads.
struct ConvolutionCase {
  int64_t n, h, w, c, o, kh, kw;
  Dims strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t groups = 1;
  int64_t d = 0, kd = 0;

  Dims in() const { return d > 0 ? Dims{d, h, w} : Dims{h, w}; }
  Dims window() const { return d > 0 ? Dims{kd, kh, kw} : Dims{kh, kw}; }
  Dims out() const {
    Dims sizes = in();
    for (size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = (sizes[i] + pads[i] + pads[sizes.size() + i] - dilations[i] * (window()[i] - 1) - 1) / strides[i] + 1;
    return sizes;
  }
};

Dims around(int64_t first, Dims inner, int64_t last) {
  inner.insert(inner.begin(), first);
  inner.push_back(last);
  return inner;
}

Dims coordinates(int64_t element, const Dims& sizes) {
  Dims at(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; element /= sizes[i]) at[i] = element % sizes[i];
  return at;
}

// The element of the input that a position of the result reads through one of the window; nothing in the padding.
std::optional<int64_t> read_through(const ConvolutionCase& p, const Dims& result, const Dims& window) {
  const Dims in = p.in();
  int64_t element = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t at = result[i] * p.strides[i] + window[i] * p.dilations[i] - p.pads[i];
    if (at < 0 || at >= in[i]) return std::nullopt;
    element = element * in[i] + at;
  }
  return element;
}

// Calls f(x index, w index, y index) for each product of the convolution.
template <class F>
void products(const ConvolutionCase& p, F f) {
  const auto elements = [](const Dims& sizes) { return static_cast<int64_t>(count(sizes)); };
  const int64_t in = elements(p.in()), out = elements(p.out()), window = elements(p.window());
  const int64_t cg = p.c / p.groups, og = p.o / p.groups;
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t i = 0; i < out; ++i)
      for (int64_t k = 0; k < window; ++k) {
        const auto read = read_through(p, coordinates(i, p.out()), coordinates(k, p.window()));
        if (!read) continue;
        for (int64_t o = 0; o < p.o; ++o)
          for (int64_t c = 0; c < cg; ++c)
            f(static_cast<size_t>((n * in + *read) * p.c + o / og * cg + c),
              static_cast<size_t>((o * window + k) * cg + c), static_cast<size_t>((n * out + i) * p.o + o));
      }
}

void check_convolution(const ConvolutionCase& p, Values kind = Values::ordinary) {
  const Dims x = around(p.n, p.in(), p.c), w = around(p.o, p.window(), p.c / p.groups);
  const Dims y = around(p.n, p.out(), p.o);
  const std::map<std::string, Dims> attributes = {
      {"strides", p.strides}, {"pads", p.pads}, {"dilations", p.dilations}, {"groups", {p.groups}}};
  const std::string what =
      fmt::format("{}x{}x{}x{}x{} -> {} {}x{}x{} groups {}", p.n, p.d, p.h, p.w, p.c, p.o, p.kd, p.kh, p.kw, p.groups);
  const auto terms = [&](size_t n) {
    return static_cast<double>(count(y) * count(w)) / static_cast<double>(p.o * static_cast<int64_t>(n));
  };

  Library forward = call_of("conv2d", {x, w, {p.o}}, y, attributes, {"bias", "relu"});
  std::vector<Floats> in = operands_of(forward, kind);
  std::vector<double> want(count(y));
  for (size_t i = 0; i < want.size(); ++i) want[i] = in[2][i % static_cast<size_t>(p.o)];
  products(p, [&](size_t i, size_t j, size_t k) { want[k] += static_cast<double>(in[0][i]) * in[1][j]; });
  for (double& v : want) v = std::max(v, 0.0);
  check(forward, want, terms(count(y)) * static_cast<double>(p.o), "conv2d " + what, kind);

  Library data = call_of("conv2d_data_grad", {y, w}, x, attributes);
  in = operands_of(data, kind);
  want.assign(count(x), 0.0);
  products(p, [&](size_t i, size_t j, size_t k) { want[i] += static_cast<double>(in[0][k]) * in[1][j]; });
  check(data, want, static_cast<double>(p.o) * static_cast<double>(count(p.window())), "conv2d_data_grad " + what,
        kind);

  Library filter = call_of("conv2d_filter_grad", {x, y}, w, attributes);
  in = operands_of(filter, kind);
  want.assign(count(w), 0.0);
  products(p, [&](size_t i, size_t j, size_t k) { want[j] += static_cast<double>(in[0][i]) * in[1][k]; });
  check(filter, want, static_cast<double>(p.n) * static_cast<double>(count(p.out())), "conv2d_filter_grad " + what,
        kind);
}

TEST(Onednn, ConvolutionOfTheMnistNetwork) {
  check_convolution({.n = 6, .h = 28, .w = 28, .c = 1, .o = 32, .kh = 3, .kw = 3});
  check_convolution({.n = 5, .h = 13, .w = 13, .c = 32, .o = 64, .kh = 3, .kw = 3});
}
TEST(Onednn, ConvolutionPadsStridesDilations) {
  check_convolution(
      {.n = 4, .h = 9, .w = 11, .c = 3, .o = 5, .kh = 3, .kw = 2, .strides = {2, 1}, .pads = {1, 0, 2, 1}});
  check_convolution(
      {.n = 2, .h = 12, .w = 10, .c = 4, .o = 10, .kh = 3, .kw = 3, .pads = {2, 2, 2, 2}, .dilations = {2, 3}});
  check_convolution({.n = 1, .h = 5, .w = 5, .c = 1, .o = 1, .kh = 5, .kw = 5});
}
TEST(Onednn, ConvolutionGroups) {
  check_convolution({.n = 4, .h = 7, .w = 7, .c = 8, .o = 8, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .groups = 8});
  check_convolution({.n = 3, .h = 6, .w = 6, .c = 6, .o = 4, .kh = 3, .kw = 3, .groups = 2});
}

TEST(Onednn, ConvolutionOfVolumes) {
  for (const Values kind : {Values::ordinary, Values::special}) {
    check_convolution({.n = 3,
                       .h = 6,
                       .w = 5,
                       .c = 2,
                       .o = 8,
                       .kh = 3,
                       .kw = 2,
                       .strides = {1, 1, 1},
                       .pads = {1, 1, 0, 1, 1, 1},
                       .dilations = {1, 1, 1},
                       .d = 4,
                       .kd = 3},
                      kind);
    check_convolution({.n = 2,
                       .h = 9,
                       .w = 8,
                       .c = 4,
                       .o = 6,
                       .kh = 3,
                       .kw = 1,
                       .strides = {2, 1, 2},
                       .pads = {0, 2, 0, 1, 0, 0},
                       .dilations = {1, 2, 1},
                       .groups = 2,
                       .d = 7,
                       .kd = 2},
                      kind);
    // Of so many positions the filter gradient is cut into runs of images and bands of depth.
    check_convolution({.n = 1,
                       .h = 16,
                       .w = 16,
                       .c = 1,
                       .o = 4,
                       .kh = 3,
                       .kw = 3,
                       .strides = {1, 1, 1},
                       .pads = {1, 1, 1, 1, 1, 1},
                       .dilations = {1, 1, 1},
                       .d = 16,
                       .kd = 3},
                      kind);
  }
}

// nan and infinities reach exactly the results whose window reads them: no padding and no unused lane spreads them.
TEST(Onednn, ConvolutionOfSpecialValues) {
  check_convolution({.n = 3, .h = 9, .w = 7, .c = 3, .o = 5, .kh = 3, .kw = 2, .pads = {1, 0, 2, 1}}, Values::special);
  check_convolution({.n = 6, .h = 13, .w = 13, .c = 32, .o = 64, .kh = 3, .kw = 3}, Values::special);
  check_convolution({.n = 6, .h = 12, .w = 12, .c = 1, .o = 32, .kh = 3, .kw = 3}, Values::special);
  check_convolution({.n = 2, .h = 6, .w = 6, .c = 6, .o = 4, .kh = 3, .kw = 3, .groups = 2}, Values::special);
}

// A slice with relu is worked off in pieces: more than one here, the last one smaller.
TEST(Onednn, ConvolutionInPieces) {
  check_convolution({.n = 7, .h = 52, .w = 52, .c = 1, .o = 32, .kh = 3, .kw = 3}, Values::special);
}

// A filter gradient over many positions is cut into runs: groups of images, single ones, bands of
// their rows. Some bands lie in the padding.
TEST(Onednn, FilterGradientInRuns) {
  for (const Values kind : {Values::ordinary, Values::special}) {
    check_convolution({.n = 13, .h = 16, .w = 15, .c = 4, .o = 3, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}}, kind);
    check_convolution({.n = 2, .h = 60, .w = 60, .c = 3, .o = 5, .kh = 3, .kw = 2, .pads = {1, 0, 2, 1}}, kind);
    check_convolution(
        {.n = 1, .h = 99, .w = 70, .c = 2, .o = 4, .kh = 5, .kw = 3, .strides = {2, 1}, .pads = {2, 1, 3, 1}}, kind);
    check_convolution(
        {.n = 1, .h = 50, .w = 60, .c = 1, .o = 2, .kh = 3, .kw = 3, .pads = {9, 1, 8, 1}, .dilations = {9, 1}}, kind);
    check_convolution(
        {.n = 1, .h = 60, .w = 60, .c = 16, .o = 16, .kh = 3, .kw = 3, .pads = {1, 1, 1, 1}, .groups = 16}, kind);
  }
}
// A filter of one row with a wide stride: each position reads padding alone, and the gradient is 0.
TEST(Onednn, WindowsThatReadPaddingAlone) {
  for (const Values kind : {Values::ordinary, Values::special}) {
    check_convolution(
        {.n = 2, .h = 1, .w = 1, .c = 1, .o = 1, .kh = 1, .kw = 1, .strides = {3, 3}, .pads = {1, 1, 1, 1}}, kind);
    check_convolution({.n = 2,
                       .h = 64,
                       .w = 64,
                       .c = 1,
                       .o = 2,
                       .kh = 1,
                       .kw = 1,
                       .strides = {2, 1, 1},
                       .pads = {1, 0, 0, 1, 0, 0},
                       .dilations = {1, 1, 1},
                       .d = 1,
                       .kd = 1},
                      kind);
  }
}
TEST(Onednn, BandsOfRowsHaveTheirRunsAlone) {
  Library call = call_of("conv2d_filter_grad", {{1, 128, 128, 3}, {1, 126, 126, 8}}, {8, 3, 3, 3});
  const OnednnParts parts = build_onednn(call, {}, nullptr);
  ASSERT_EQ(parts.slices.size(), 1U);
  EXPECT_EQ(parts.slices[0].size(), 16U);  // 126 x 126 positions in runs of about 1,024
  call.operands[0].dims[0] = call.operands[1].dims[0] = 64;
  call.batch_split = 4;
  EXPECT_EQ(build_onednn(call, {}, nullptr).slices[3].size(),
            16U * 15U);  // of 15.5 runs that an image is, 15
}

TEST(Onednn, PartsOfALongInnerSideAreOneTask) {
  const auto tasks = [](int64_t m, int64_t k) {
    return build_onednn(call_of("matmul", {{k, m}, {k, m}}, {m, m}, {{"transpose_a", {1}}}), {}, nullptr)
        .slices[0]
        .size();
  };
  EXPECT_EQ(tasks(16, 4096), 1U);
  EXPECT_EQ(tasks(16, 4097), 2U);        // 32 runs of 128 and one number
  EXPECT_EQ(tasks(16, 100 * 128), 5U);   // 99 runs, 32 at once, and the last
  EXPECT_EQ(tasks(64, 100 * 128), 26U);  // 4 at once
  EXPECT_EQ(tasks(512, 100 * 128), 100U);
  EXPECT_LE(tasks(512, 10'000'000), 4097U);  // longer runs
}

dnnl_fpmath_mode_t mode_of(const OnednnTask& task) {
  const_dnnl_primitive_desc_t description = nullptr;
  const_dnnl_primitive_attr_t attributes = nullptr;
  dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_any;
  EXPECT_EQ(dnnl_primitive_get_primitive_desc(task.primitive.get(), &description), dnnl_success);
  EXPECT_EQ(dnnl_primitive_desc_get_attr(description, &attributes), dnnl_success);
  EXPECT_EQ(dnnl_primitive_attr_get_fpmath_mode(attributes, &mode), dnnl_success);
  return mode;
}

void expect_mode(const Library& call, dnnl_fpmath_mode_t mode) {
  OnednnParts parts = build_onednn(call, {}, nullptr);
  parts.slices.push_back(parts.before);
  parts.slices.push_back(parts.after);
  for (const OnednnTasks& slice : parts.slices)
    for (const OnednnTask& task : slice) EXPECT_EQ(mode_of(task), mode) << call.op;
}

// Any other mode lets oneDNN multiply in bf16 where it has such a primitive for the processor.
TEST(Onednn, ComputesInThePrecisionOfThePlanWhateverTheDefaultIs) {
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::any);
  for (Library call : {call_of("matmul", {{256, 256}, {256, 256}}, {256, 256}),
                       call_of("conv2d", {{8, 13, 13, 32}, {64, 3, 3, 32}}, {8, 11, 11, 64}),
                       call_of("conv2d_data_grad", {{8, 11, 11, 64}, {64, 3, 3, 32}}, {8, 13, 13, 32}),
                       call_of("conv2d_filter_grad", {{8, 13, 13, 32}, {8, 11, 11, 64}}, {64, 3, 3, 32})}) {
    expect_mode(call, dnnl_fpmath_mode_strict);
    call.precision = "bf16";
    expect_mode(call, dnnl_fpmath_mode_bf16);
  }
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::strict);
}

TEST(Onednn, RefusesWithAReason) {
  Library call = call_of("matmul", {{4, 4}, {4, 4}}, {4, 4});
  call.precision = "f16";
  EXPECT_EQ(onednn_needs(call).refusal, "precision f16");
  call.precision = "f32";
  call.results.push_back(call.results[0]);
  EXPECT_EQ(onednn_needs(call).refusal, "2 results");
  call.results.pop_back();
  call.operands[0].dtype = "i32";
  EXPECT_EQ(onednn_needs(call).refusal, "dtype i32");
  EXPECT_EQ(onednn_needs(call).workspace, -1);
  EXPECT_EQ(onednn_needs(call_of("softmax", {{4, 4}}, {4, 4})).refusal, "operator softmax");
  EXPECT_EQ(onednn_needs(call_of("matmul", {{4, 4}, {4, 4}}, {4, 4}, {}, {"gelu"})).refusal, "epilogue gelu");
  EXPECT_EQ(onednn_needs(call_of("matmul", {{4, 0}, {0, 4}}, {4, 4})).refusal, "an empty tensor");
}

TEST(Onednn, RefusesATooSmallWorkspace) {
  Library call = call_of("conv2d_filter_grad", {{8, 13, 13, 32}, {8, 11, 11, 64}}, {64, 3, 3, 32});
  call.batch_split = 4;
  EXPECT_GE(onednn_needs(call).workspace, 4 * 64 * 32 * 9 * 4);  // four partial results
  call.workspace.bytes = 1024;
  std::vector<void*> arguments(3, nullptr);
  EXPECT_THROW(OnednnCall(call, arguments, nullptr), UserError);
}

}  // namespace
}  // namespace heddle::runtime
