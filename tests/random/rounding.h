// What computing a result in its dtype adds to its bound.
#pragma once
#include "ir/evaluate/evaluate.h"
#include "ir/op_def.h"

namespace heddle::testing {

class Rounding {
 public:
  Rounding(const ir::Signature& s, size_t result, ir::Precision precision);
  // Rounds each element: elements that are passed on (0, an operand's) are exact, others get units of their magnitude.
  // Where the dtype overflows for some and not for other right kernels, the bound becomes infinite.
  void add(std::vector<double>& errors, const ir::Tensor& value, const std::vector<ir::Tensor>& operands) const;
  double of_sum(double magnitude) const;  // of adding up terms of this total magnitude
  double largest_sum() const;

 private:
  bool passed_on(double value, size_t i, const std::vector<ir::Tensor>& operands) const;

  static double largest_operand(size_t i, const std::vector<ir::Tensor>& operands);
  double largest_part(size_t i, const std::vector<ir::Tensor>& operands) const;  // of what cancels on the way

  const ir::Signature& s_;
  double unit_ = 0, sum_unit_ = 0, sum_units_ = 0, smallest_ = 0, largest_ = 0, largest_sum_ = 0;
  double units_ = 0, absolute_ = 0;
  bool narrow_ = false, pointwise_ = false, source_ = false, chooses_ = false, composed_ = false;
};

}  // namespace heddle::testing
