#include "ir/ops/all_elements.h"

namespace heddle::ir {
namespace {

DType wide(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

std::vector<Type> infer_of_all(const Signature& s) {
  for (const Type& x : s.operands)
    if (x.dtype != s.operands[0].dtype)
      throw InferError("operands differ in type: " + to_string(s.operands[0]) + " vs " + to_string(x));
  return {{wide(s.operands[0].dtype), {}}};
}

ValueId decompose_of_all(Builder& b, const Node& n, const OfAll& how) {
  ValueId all;
  for (const ValueId x : n.operands) {
    const ValueId own = b(how.reduction, {b(how.element, {b.cast(x, wide(b.type(x).dtype))})});
    all = all.valid() ? b(how.join, {all, own}) : own;
  }
  return all;
}

std::vector<Sample> samples_of_all() {
  return {{.shapes = {{33}}},
          {.shapes = {{4, 7}, {5}}},
          {.shapes = {{1}, {3, 1, 5}, {2, 2}}},
          {.shapes = {{}}},
          {.shapes = {{1025}, {17}}}};
}

}  // namespace heddle::ir
