// Long sums whose values are known: every operator that adds up, along every kind of axes, as a
// graph of its own. The error may be 4 log2(n) eps times the sum of the magnitudes.
//
//   LongSums sums(DType::f32, known_terms()[0], 200000);   // sums.module has @total, @row, @column, @window ...
//   sums.fault("row", run("row", sums.inputs("row")))      // "": as exact as it has to be
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

// The j-th of n terms.
struct Terms {
  std::string name;
  double (*at)(int64_t j, int64_t n);
};
// Constants, alternating signs, one large among many small, an arithmetic series.
std::vector<Terms> known_terms();

// A way of adding n terms up: which term an element of the operand is, and what a result is of their sum.
struct WayOfAdding {
  std::string name;
  std::function<ir::Dims(int64_t n)> shape;
  int64_t (*term)(int64_t element, int64_t n);
  std::function<ir::ValueId(ir::Builder&, ir::ValueId x)> build;
  bool mean = false;
  bool prefixes = false;  // a result for each number of terms
  bool signs = true;      // terms may be negative
};

class LongSums {
 public:
  // n is a multiple of 2000.
  LongSums(ir::DType dtype, Terms terms, int64_t n);
  ir::Module module;
  std::vector<std::string> names() const;
  ir::NamedTensors inputs(const std::string& name) const;
  std::string fault(const std::string& name, const ir::Tensor& got) const;

 private:
  const WayOfAdding& way(const std::string& name) const;
  double term(int64_t j) const;

  ir::DType dtype_;
  Terms terms_;
  int64_t n_;
  std::vector<WayOfAdding> ways_;
};

}  // namespace heddle::testing
