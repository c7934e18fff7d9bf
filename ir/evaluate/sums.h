// Compensated sums of doubles, for the oracles. A second double adds up the rounding errors, so a sum of a hundred
// million elements is accurate to the last digits.
//
//   Sums sums(y.real.size());  sums.add(i, x) ...  y.real = sums.totals();
#pragma once
#include <cstddef>
#include <vector>

namespace heddle::ir {

struct Sum {
  double value = 0, lost = 0;
  void add(double x) {
    const double sum = value + x, of_x = sum - value;
    lost += (value - (sum - of_x)) + (x - of_x);
    value = sum;
  }
  // The errors of an infinite sum are NaN: return the sum alone.
  double total() const {
    const double all = value + lost;
    return all == all ? all : value;
  }
};

class Sums {
 public:
  explicit Sums(size_t count) : sums_(count) {}
  void add(size_t i, double x) { sums_[i].add(x); }
  double total(size_t i) const { return sums_[i].total(); }
  std::vector<double> totals() const {
    std::vector<double> all(sums_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = total(i);
    return all;
  }

 private:
  std::vector<Sum> sums_;
};

}  // namespace heddle::ir
