// Products with the keys of a cache up to a place: what lies behind it counts for nothing, and the bits of a row are those
// that it has alone, in a cache of any length.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ir/text/parse.h"
#include "tests/support/host_run.h"

namespace heddle::testing {
namespace {

using ir::Tensor;

constexpr int64_t kHeads = 2, kWidth = 37;

struct Operands {
  Tensor q, keys, last;
};

// Rows whose last keys are `last`, in a cache of n. Of row `first + r` everything is the same in each call.
Operands operands(const std::vector<int64_t>& last, int64_t n, int64_t first = 0) {
  const auto rows = static_cast<int64_t>(last.size());
  Operands o{.q = Tensor({ir::DType::f32, {rows, kHeads, 1, kWidth}}),
             .keys = Tensor({ir::DType::f32, {rows, kHeads, n, kWidth}}),
             .last = Tensor({ir::DType::i32, {rows}})};
  o.last.integer = last;
  const auto number = [](int64_t a, int64_t b, int64_t c, int64_t d) {
    return static_cast<double>(static_cast<float>(std::sin(static_cast<double>(a * 7919 + b * 613 + c * 37 + d))));
  };
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t k = 0; k < kWidth; ++k) {
        o.q.real[static_cast<size_t>((r * kHeads + h) * kWidth + k)] = number(first + r, h, -1, k);
        for (int64_t j = 0; j < n; ++j)
          o.keys.real[static_cast<size_t>(((r * kHeads + h) * n + j) * kWidth + k)] =
              j > last[static_cast<size_t>(r)] ? std::numeric_limits<double>::quiet_NaN() : number(first + r, h, j, k);
      }
  return o;
}

Tensor products(const Operands& o, int threads = 1) {
  const auto text = [](const Tensor& t) { return ir::to_string(t.type); };
  const Tensor y(ir::Type{ir::DType::f32, {o.q.type.dims[0], kHeads, 1, o.keys.type.dims[2]}});
  const SourceFile source{"seen.hir", "graph @f(input %q: " + text(o.q) + ", input %keys: " + text(o.keys) +
                                          ", input %last: " + text(o.last) + ") {\n  %y: " + text(y) +
                                          " = seen_products(%q, %keys, %last)\n  return %y\n}\n"};
  HostRun run(ir::parse(source), "f", {.threads = threads});
  return run({{"q", o.q}, {"keys", o.keys}, {"last", o.last}}).outputs[0];
}

TEST(SeenProducts, DoNotReadWhatLiesBehindTheLastKey) {
  constexpr int64_t n = 9;
  const std::vector<int64_t> last = {4, -1, 8, 100};
  const Operands o = operands(last, n);
  const Tensor y = products(o);
  for (size_t r = 0; r < last.size(); ++r)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t j = 0; j < n; ++j) {
        const auto matrix = static_cast<int64_t>(r) * kHeads + h;
        double sum = 0;
        for (int64_t k = 0; k < kWidth && j <= last[r]; ++k)
          sum += o.q.real[static_cast<size_t>(matrix * kWidth + k)] *
                 o.keys.real[static_cast<size_t>((matrix * n + j) * kWidth + k)];
        EXPECT_NEAR(y.real[static_cast<size_t>(matrix * n + j)], sum, 1e-5) << r << " " << h << " " << j;
      }
}

TEST(SeenProducts, HaveTheBitsOfARowAloneInACacheOfAnyLength) {
  const Tensor together = products(operands({5, 3, 11}, 12), 2);
  const Tensor alone = products(operands({3}, 70, 1));
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t j = 0; j <= 3; ++j)
      EXPECT_EQ(together.real[static_cast<size_t>((kHeads + h) * 12 + j)], alone.real[static_cast<size_t>(h * 70 + j)]);
}

}  // namespace
}  // namespace heddle::testing
