// An operator applied to types, made from the operator's samples alone: a new operator takes part without a line here.
//
//   matmul, sample f32[7,33] x f32[33,5], to read f16[16,1]   ->   matmul(f16[16,1], f16[1,17])
//
// Equal sizes in a sample stay equal, other sizes are drawn anew; the operator's own shape rule decides what is legal.
#pragma once
#include <optional>
#include <random>

#include "ir/op_def.h"

namespace heddle::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t bound) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;  // its sequence is fixed by the standard
};

struct Limits {
  int64_t elements = 2000;    // of a value
  int64_t length = 65;        // of a dimension
  int64_t products = 400000;  // of a contraction
};

struct Instance {
  const ir::OpDef* op = nullptr;
  ir::Attrs attrs;
  std::vector<ir::Type> operands, results;
  std::vector<int64_t> below;  // by operand: its integers lie in [0, below); 0: it takes all
  bool positive = false;       // the sample's reals are not below 0
  size_t given = 0;            // the operand that has the type asked for
};

// Operators that graphs can hold before any pass, but gradient: a graph asks for gradients of whole chains.
const std::vector<const ir::OpDef*>& random_ops();

// A dimension as kernels meet it: 1, 2, odd, a multiple of 16 and its neighbours.
int64_t random_size(Random& r, int64_t most);
ir::Dims random_dims(Random& r, const Limits& limits);
ir::DType random_dtype(Random& r, const std::vector<ir::DType>& among);

// With types of its own, or with one operand of the type `reads`; nothing where no sample fits.
std::optional<Instance> random_instance(const ir::OpDef& op, Random& r, const Limits& limits,
                                        const std::optional<ir::Type>& reads = {});

// The dtypes an operator's operands may have, and its results.
const std::vector<ir::DType>& operand_dtypes(const ir::OpDef& op);
const std::vector<ir::DType>& result_dtypes(const ir::OpDef& op);

}  // namespace heddle::testing
