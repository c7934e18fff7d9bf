// cosine_embedding, by torch.nn.CosineEmbeddingLoss.
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr double kLeast = 1e-12;  // PyTorch's, added to squared lengths

// How rows are alike, [N] of f32: 1 or -1.
ValueId check(MeasureContext& c) {
  check_values(c);
  const ir::Type values = c.b.type(c.in[0]), alike = c.b.type(c.in[2]);
  if (values.dims.size() != 2 || values.dims[0] != c.rows)
    c.fail(fmt::format("expected vectors [N, features], found {}", c.shape_text(values.dims)),
           "{\"op\": \"flatten\"} makes one axis of several");
  if ((!ir::is_floating(alike.dtype) && alike.dtype != ir::DType::i32) || alike.dims != Dims{c.rows})
    c.fail(fmt::format("expected targets {} of 1 and -1, floating-point or i32, found {}{}", c.shape_text({c.rows}),
                       ir::to_string(alike.dtype), c.shape_text(alike.dims)),
           "a target is 1 where two vectors are alike, -1 where they are not");
  c.b.prefix = c.name + ".target";
  return c.b.cast(c.in[2], ir::DType::f32);
}

// Over the roots of both lengths, one after the other: their product would overflow.
ValueId cosine(MeasureContext& c) {
  const auto wide = [&](size_t i) {
    c.b.prefix = c.name + ".f32";
    return c.b.cast(c.in[i], ir::DType::f32);
  };
  const auto length = [&](ValueId v, const std::string& what) {
    const ValueId squares = sum_of(c, c.emit("square", {v}, {}, what + "_squares"), {1}, what + "_square");
    return c.emit("sqrt", {c.emit("add", {squares, like(c, kLeast, squares)}, {}, what + "_above")}, {}, what);
  };
  const ValueId a = wide(0), b = wide(1);
  const ValueId product = sum_of(c, c.emit("mul", {a, b}, {}, "products"), {1}, "product");
  const ValueId part = c.emit("div", {product, length(a, "length1")}, {}, "projection");
  return c.emit("div", {part, length(b, "length2")}, {}, "cosine");
}

ValueId mean(MeasureContext& c) {
  const ValueId target = check(c), alike = cosine(c);
  const ValueId apart = c.emit("sub", {like(c, 1, alike), alike}, {}, "apart");
  const ValueId above = c.emit("sub", {alike, like(c, c.settings.real("margin"), alike)}, {}, "above");
  const ValueId close = c.emit("relu", {above}, {}, "too_close"), zero = like(c, 0, alike);
  const auto where = [&](double value, ValueId v, const std::string& what) {
    const ValueId is = c.emit("eq", {target, like(c, value, target)}, {}, "is_" + what);
    return c.emit("select", {is, v, zero}, {}, what + "_cost");
  };
  ValueId cost = c.emit("add", {where(1, apart, "alike"), where(-1, close, "unlike")}, {}, "values");
  if (c.weights.valid()) cost = c.emit("mul", {cost, c.weights}, {}, "weighed");
  const ValueId count =
      c.weights.valid() ? sum_of(c, c.weights, {}, "weight_of_rows") : c.count(static_cast<double>(c.rows));
  return ratio(c, sum_of(c, cost, {}, "cost_sum"), count);
}

const RegisterLoss cosine_embedding(
    {.name = "cosine_embedding",
     .doc = "mean over rows of 1 - cos(x1, x2) where the target is 1, and max(0, cos(x1, x2) - margin) where it is -1",
     .inputs = {"x1", "x2", "target"},
     .settings = {{.name = "margin",
                   .type = KeyType::real,
                   .doc = "the cosine up to which unlike vectors cost nothing",
                   .fallback = 0.0,
                   .range = ir::between(-1, 1)}},
     .mean = mean,
     .count = [](MeasureContext& c) {
       return c.weights.valid() ? sum_of(c, c.weights, {}, "weight_of_rows") : c.count(static_cast<double>(c.rows));
     }});

}  // namespace
}  // namespace heddle::frontend
