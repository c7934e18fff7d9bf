// Column: a tensor as a device holds it, of up to 1e8 elements, and the five kinds of numbers that
// long sums are tried on.
//
//   Numbers(Kind::alternating, f32, 1000, seed).at(line, i)   ->  0.1, -0.1, 0.1, ... along each line of 1000 terms
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/evaluate/tensor.h"

namespace heddle::testing {

struct Column {
  ir::Type type;
  std::vector<std::byte> bytes;

  double at(int64_t i) const;
};

// One element after another, each rounded to the type.
class ColumnWriter {
 public:
  explicit ColumnWriter(const ir::Type& type);
  void add(double x);
  Column finish();

 private:
  void flush();
  Column column_;
  ir::Tensor chunk_;
  size_t filled_ = 0;
};
Column column_of(const ir::Type& type, const std::function<double(int64_t)>& element);
Column indices(const ir::Dims& dims, const std::function<int64_t(int64_t)>& element);  // i32

// Constants; one number with alternating signs; one large among many small; an arithmetic series; random.
enum class Kind { constant, alternating, one_large, series, random };
constexpr int kKinds = 5;
std::string to_string(Kind kind);
using ir::to_string;

double epsilon(ir::DType dtype);   // the distance from 1 to the next number
double smallest(ir::DType dtype);  // above 0
uint64_t mixed(uint64_t a, uint64_t b);
double unit(uint64_t bits);  // [0, 1)

// What the elements of a line of n are. Sums of n sizes stay below the largest f16.
class Numbers {
 public:
  Numbers(Kind kind, ir::DType dtype, int64_t n, uint64_t seed);
  double at(int64_t line, int64_t i) const;  // a value of the type

 private:
  Kind kind_;
  ir::DType dtype_;
  int64_t n_;
  uint64_t seed_;
  double scale_;
};

}  // namespace heddle::testing
