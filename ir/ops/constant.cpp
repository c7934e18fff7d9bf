#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const>) {
  Tensor y(s.results[0]);
  for (int64_t i = 0; i < y.elements(); ++i) y.set(i, s.real("value"));
  return {std::move(y)};
}

Sample sample(double value, const Dims& shape, const std::string& dtype) {
  return {.shapes = {}, .attrs = {{"value", value}, {"shape", shape}, {"dtype", dtype}}};
}

const RegisterOp op(
    {.name = "constant",
     .doc = "the same value in every element",
     .operands = {},
     .attrs = {{.name = "value", .type = KeyType::real, .doc = "the value", .fallback = 0.0, .scalar = true},
               {.name = "shape",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "the result's shape",
                .fallback = Dims{}},
               {.name = "dtype", .type = KeyType::dtype, .doc = "the result's dtype", .fallback = "f32"}},
     .kind = Source{"T(value)"},
     .traits = {.splat = [](const Node& n) { return std::get<double>(attribute(*n.op, n.attrs, "value")); }},
     .infer = [](const Signature& s) -> std::vector<Type> {
       return {checked_type(checked_dtype(s.text("dtype")), s.integers("shape"))};
     },
     .eval = eval,
     .no_gradient = "it has no operands",
     .flops = 0,
     .samples = {sample(1.5, {4, 33}, "f32"), sample(-2, {1}, "i32"), sample(0.25, {}, "f64"),
                 sample(1, {3, 1, 5}, "bool"), sample(200, {64}, "u8")}});

}  // namespace
}  // namespace heddle::ir
