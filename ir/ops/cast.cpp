#include <fmt/format.h>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

DType target(const Signature& s) {
  const std::optional<DType> dtype = parse_dtype(s.text("dtype"));
  if (!dtype) throw InferError(fmt::format("'{}' is not a dtype", s.text("dtype")));
  return *dtype;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> operands) {
  const Tensor& x = *operands[0];
  Tensor y(s.results[0]);
  const DType to = y.type.dtype;
  for (int64_t i = 0; i < y.elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (y.floating()) {
      y.real[at] = x.floating() ? x.real[at] : real_of(x.integer[at], x.type.dtype, to);
    } else if (to == DType::boolean) {
      y.integer[at] = x.floating() ? int64_t{x.real[at] != 0} : int64_t{x.integer[at] != 0};
    } else {
      y.integer[at] = x.floating() ? saturated(x.real[at], to) : wrap_to(to, x.integer[at]);
    }
  }
  return {std::move(y)};
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const DType from = b.type(n.operands[0]).dtype;
  if (!is_floating(from)) return {ValueId{}};
  return {b.cast(dy[0], from)};
}

Sample sample(const Dims& dims, DType from, const std::string& to) {
  return {.shapes = {dims}, .attrs = {{"dtype", to}}, .low = -3, .high = 3, .dtypes = {from}};
}

const RegisterOp op(
    {.name = "cast",
     .doc =
         "x in another dtype (ir/evaluate/arithmetic.h). Floating values round half to even; to integers they truncate "
         "toward zero and saturate, nan gives 0; integers wrap; to bool everything but 0 is true.",
     .operands = {"x"},
     .attrs = {{.name = "dtype", .type = KeyType::dtype, .doc = "the result's dtype", .required = true}},
     .kind = Elementwise{"hd::cast<To>(x)"},  // To: the result's storage type, so that the value is rounded
     .traits = {.converts = true},
     .infer = [](const Signature& s) -> std::vector<Type> {
       return {{target(s), s.operands[0].dims}};
     },
     .eval = eval,
     .grad = gradient,
     .samples = {sample({4, 33}, DType::f32, "f64"), sample({1}, DType::f32, "i32"), sample({}, DType::f32, "f64"),
                 sample({3, 1, 5}, DType::i32, "f32"), sample({64}, DType::f32, "f64"),
                 sample({2, 7, 3}, DType::f32, "bool"), sample({5}, DType::i64, "u8")}});

}  // namespace
}  // namespace heddle::ir
