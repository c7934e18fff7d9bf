#include "ir/ops/shape.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type type = checked_type(checked_dtype(s.text("dtype")), s.integers("shape"));
  if (type.dtype == DType::boolean) throw InferError("expected a dtype of numbers, got bool");
  normal_axis(s.integer("axis"), type.rank());
  return {type};
}

size_t axis_of(const Signature& s) {
  return static_cast<size_t>(normal_axis(s.integer("axis"), static_cast<int64_t>(s.integers("shape").size())));
}

// Counts once along the axis, then repeats the count in every other dimension.
std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const>) {
  Tensor y(s.results[0]);
  const size_t axis = axis_of(s);
  Tensor count({y.type.dtype, {y.type.dims[axis]}});
  for (int64_t i = 0; i < count.elements(); ++i) count.set(i, static_cast<double>(i));
  Dims strides(y.type.dims.size(), 0);
  strides[axis] = 1;
  copy_strided(y, {0, row_major_strides(y.type.dims)}, count, {0, strides}, y.type.dims);
  return {std::move(y)};
}

Sample sample(const Dims& shape, int64_t axis, const std::string& dtype) {
  return {.shapes = {}, .attrs = {{"shape", shape}, {"axis", axis}, {"dtype", dtype}}};
}

const RegisterOp op(
    {.name = "iota",
     .doc = "each element's coordinate along the axis: 0, 1, 2, ...",
     .operands = {},
     .attrs = {{.name = "shape",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "the result's shape",
                .required = true},
               {.name = "axis", .type = KeyType::integer, .doc = "where it counts", .fallback = int64_t{0}},
               {.name = "dtype", .type = KeyType::dtype, .doc = "the result's dtype", .fallback = "i32"}},
     .kind = Source{.expr = "T(k)",
                    .k = [](const Signature& s) { return IndexExpr::dim(static_cast<int>(axis_of(s))); }},
     .infer = infer,
     .eval = eval,
     .no_gradient = "it has no operands",
     .flops = 0,
     .samples = {sample({5}, 0, "i32"), sample({4, 33}, 1, "i32"), sample({4, 33}, 0, "i64"), sample({1}, 0, "f32"),
                 sample({3, 1, 5}, -1, "f32")}});

}  // namespace
}  // namespace heddle::ir
