#include "runtime/host/row_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace heddle::runtime {
namespace {

using Floats = std::vector<float>;

Floats drawn(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Floats x(static_cast<size_t>(count));
  for (float& v : x) v = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 1000.0F;
  return x;
}

// Sizes around whole groups of rows and columns, and b as it lies.
struct Case {
  int64_t m, n, k;
  bool transposed;
  std::string text() const {
    return std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + (transposed ? " transposed" : "");
  }
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t m : {1, 2, 3, 4, 7, 9})
    for (const int64_t n : {1, 4, 15, 16, 65, 130})
      for (const int64_t k : {1, 16, 37, 1100})
        for (const bool transposed : {false, true}) all.push_back({m, n, k, transposed});
  return all;
}

class Operands {
 public:
  explicit Operands(const Case& c) : case_(c), a_(drawn(c.m * c.k, 1)), b_(drawn(c.n * c.k, 2)), bias_(drawn(c.n, 3)) {}
  // Of some rows; one float stays untouched behind each.
  Floats product(const RowProductCode& code, int64_t first, int64_t rows) const {
    Floats c(static_cast<size_t>(rows * (case_.n + 1)), 7.0F);
    code.multiply({.a = a_.data() + first * case_.k,
                   .b = b_.data(),
                   .bias = bias_.data(),
                   .c = c.data(),
                   .m = rows,
                   .n = case_.n,
                   .k = case_.k,
                   .b_stride = case_.transposed ? case_.k : case_.n,
                   .c_stride = case_.n + 1,
                   .transposed = case_.transposed});
    return c;
  }
  double exact(int64_t row, int64_t column) const {
    double sum = static_cast<double>(bias_[static_cast<size_t>(column)]);
    for (int64_t i = 0; i < case_.k; ++i) {
      const int64_t b = case_.transposed ? column * case_.k + i : i * case_.n + column;
      sum += static_cast<double>(a_[static_cast<size_t>(row * case_.k + i)]) *
             static_cast<double>(b_[static_cast<size_t>(b)]);
    }
    return sum;
  }

 private:
  Case case_;
  Floats a_, b_, bias_;
};

TEST(RowProduct, IsTheProduct) {
  for (const RowProductCode& code : row_product_codes())
    for (const Case& c : cases()) {
      const Operands operands(c);
      const Floats got = operands.product(code, 0, c.m);
      for (int64_t row = 0; row < c.m; ++row) {
        for (int64_t column = 0; column < c.n; ++column)
          ASSERT_NEAR(got[static_cast<size_t>(row * (c.n + 1) + column)], operands.exact(row, column),
                      0x1p-24 * static_cast<double>(c.k + 16))
              << code.instructions << " " << c.text() << " at " << row << ", " << column;
        ASSERT_EQ(got[static_cast<size_t>(row * (c.n + 1) + c.n)], 7.0F) << code.instructions << " " << c.text();
      }
    }
}

TEST(RowProduct, ARowHasTheBitsThatItHasAlone) {
  for (const RowProductCode& code : row_product_codes())
    for (const Case& c : cases()) {
      const Operands operands(c);
      const Floats all = operands.product(code, 0, c.m);
      for (int64_t row = 0; row < c.m; ++row) {
        const Floats alone = operands.product(code, row, 1);
        ASSERT_EQ(std::memcmp(alone.data(), all.data() + row * (c.n + 1), alone.size() * sizeof(float)), 0)
            << code.instructions << " " << c.text() << " row " << row;
      }
    }
}

TEST(RowProduct, AllProcessorsThatFuseHaveTheSameBits) {
  const std::vector<RowProductCode> codes = row_product_codes();
  for (const RowProductCode& code : codes) {
    if (!code.fused) continue;
    for (const Case& c : cases()) {
      const Operands operands(c);
      ASSERT_EQ(operands.product(code, 0, c.m), operands.product(codes[0], 0, c.m))
          << code.instructions << " " << c.text();
    }
  }
}

// --- whole numbers

std::vector<int8_t> wholes_of(int64_t count) {
  std::mt19937 random(4);
  std::vector<int8_t> x(static_cast<size_t>(count));
  for (int8_t& v : x) v = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
  return x;
}

class Wholes {
 public:
  explicit Wholes(const Case& c)
      : case_(c), a_(drawn(c.m * c.k, 1)), b_(wholes_of(c.n * c.k)), scale_(drawn(c.n, 2)), bias_(drawn(c.n, 3)) {}
  Floats product(const RowProductCode& code, int64_t first, int64_t rows, bool adds_bias = true) const {
    Floats c(static_cast<size_t>(rows * (case_.n + 1)), 7.0F);
    RowProduct p{.a = a_.data() + first * case_.k,
                 .wholes = b_.data(),
                 .scale = scale_.data(),
                 .bias = adds_bias ? bias_.data() : nullptr,
                 .c = c.data(),
                 .m = rows,
                 .n = case_.n,
                 .k = case_.k,
                 .b_stride = case_.k,
                 .c_stride = case_.n + 1,
                 .transposed = true};
    Floats room(static_cast<size_t>(room_for_wholes(p)) + 1, 7.0F);
    p.room = room.data();
    code.multiply(p);
    EXPECT_EQ(room.back(), 7.0F);
    return c;
  }
  const Floats& bias() const { return bias_; }
  double exact(int64_t row, int64_t column) const {
    double sum = 0;
    for (int64_t i = 0; i < case_.k; ++i)
      sum += static_cast<double>(a_[static_cast<size_t>(row * case_.k + i)]) *
             static_cast<double>(b_[static_cast<size_t>(column * case_.k + i)]);
    return sum * static_cast<double>(scale_[static_cast<size_t>(column)]) +
           static_cast<double>(bias_[static_cast<size_t>(column)]);
  }

 private:
  Case case_;
  Floats a_;
  std::vector<int8_t> b_;
  Floats scale_, bias_;
};

TEST(RowProduct, OfWholeNumbers) {
  const std::vector<RowProductCode> codes = row_product_codes();
  for (const RowProductCode& code : codes)
    for (const int64_t m : {1, 4, 6})
      for (const int64_t n : {1, 3, 4, 9})
        for (const int64_t k : {1, 3, 63, 64, 65, 127, 128, 700}) {
          const Case c{m, n, k, true};
          const Wholes operands(c);
          const Floats all = operands.product(code, 0, m);
          for (int64_t row = 0; row < m; ++row) {
            for (int64_t column = 0; column < n; ++column)
              ASSERT_NEAR(all[static_cast<size_t>(row * (n + 1) + column)], operands.exact(row, column),
                          0x1p-17 * static_cast<double>(k + 16))
                  << code.instructions << " " << c.text() << " at " << row << ", " << column;
            ASSERT_EQ(all[static_cast<size_t>(row * (n + 1) + n)], 7.0F) << code.instructions << " " << c.text();
            const Floats alone = operands.product(code, row, 1);
            ASSERT_EQ(std::memcmp(alone.data(), all.data() + row * (n + 1), alone.size() * sizeof(float)), 0)
                << code.instructions << " " << c.text() << " row " << row;
          }
          Floats apart = operands.product(code, 0, m, false);  // the bias is added behind a rounding
          for (int64_t row = 0; row < m; ++row)
            for (int64_t column = 0; column < n; ++column)
              apart[static_cast<size_t>(row * (n + 1) + column)] += operands.bias()[static_cast<size_t>(column)];
          ASSERT_EQ(all, apart) << code.instructions << " " << c.text();
          if (code.fused) {
            ASSERT_EQ(all, operands.product(codes[0], 0, m)) << code.instructions << " " << c.text();
          }
        }
}

// They are copied, and no other float of a row of c is touched.
TEST(RowProduct, EqualRowsAtTheEnd) {
  constexpr int64_t kRows = 5, kInner = 33, kColumns = 21, kStride = 24;
  Floats a = drawn(kRows * kInner, 1), b = drawn(kInner * kColumns, 2), c(kRows * kStride, 7.0F), each = c;
  for (int64_t row = 2; row < kRows; ++row) std::copy_n(a.begin() + kInner, kInner, a.begin() + row * kInner);
  RowProduct p{.a = a.data(), .b = b.data(), .c = c.data(), .m = kRows, .n = kColumns, .k = kInner, .b_stride = kInner};
  p.c_stride = kStride;
  p.transposed = true;
  multiply(p);
  for (int64_t row = 0; row < kRows; ++row) {
    RowProduct alone = p;
    alone.a += row * kInner, alone.c = each.data() + row * kStride, alone.m = 1;
    multiply(alone);
  }
  EXPECT_EQ(c, each);
}

// Weights of hidden keys are 0: what lies there is not read, here nan.
TEST(RowProduct, ZerosAtTheEndReadNothing) {
  constexpr int64_t kUsed = 5, kAll = 40, kColumns = 20;
  Floats a = drawn(kAll, 1), b = drawn(kAll * kColumns, 2), c(kColumns), shorter(kColumns);
  std::fill(a.begin() + kUsed, a.end(), 0.0F);
  std::fill(b.begin() + kUsed * kColumns, b.end(), NAN);
  for (const RowProductCode& code : row_product_codes()) {
    RowProduct p{.a = a.data(), .b = b.data(), .c = c.data(), .m = 1, .n = kColumns, .k = kAll, .b_stride = kColumns};
    p.c_stride = kColumns;
    p.ends_in_zeros = true;
    code.multiply(p);
    p.c = shorter.data();
    p.k = kUsed;
    p.ends_in_zeros = false;
    code.multiply(p);
    EXPECT_EQ(c, shorter) << code.instructions;
  }
}

}  // namespace
}  // namespace heddle::runtime
