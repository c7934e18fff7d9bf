// window_argmax and window_argmin find the largest (smallest) element of each window; select_and_scatter adds a value
// to it.
#include <fmt/format.h>

#include "ir/evaluate/arithmetic.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/windows.h"

namespace heddle::ir {
namespace {

// Places are i32, as those of argmax are.
void require_countable(const Type& x) {
  if (x.elements() > INT32_MAX)
    throw InferError(fmt::format("x has {} elements, more than the places that i32 counts", x.elements()));
}

// --- window_argmax, window_argmin ---

std::vector<Type> infer_place(const Signature& s) {
  require_countable(s.operands[0]);
  return {{DType::i32, windowed(windows(s, s.operands[0].dims))}};
}

ReductionDomain place_domain(const Signature& s) {
  ReductionDomain domain = windows_domain(s);
  const Dims& dims = s.operands[0].dims;
  IndexExpr place(0);
  for (size_t d = 0; d < dims.size(); ++d) place = place * dims[d] + domain.maps[0].results[d];
  domain.k = place;
  return domain;
}

std::vector<Tensor> eval_place(const Signature& s, std::span<const Tensor* const> in, bool largest) {
  const std::vector<Window> axes = windows(s, in[0]->type.dims);
  Tensor y(s.results[0]);
  size_t to = 0;
  for_each_point(y.type.dims, [&](const Dims& at) { y.integer[to++] = place_in_window(axes, *in[0], at, largest); });
  return {std::move(y)};
}

OpDef place(const std::string& name, const std::string& which, const Monoid& monoid, bool largest) {
  return {
      .name = name,
      .doc = "y = the place, in the row-major order of x, of the " + which +
             " element in the window at each place, the first of equals; padding does not count",
      .operands = {"x"},
      .attrs = windows_attributes(),
      .dtypes = kArithmetic,
      .kind = Reduction{monoid, "x", {"acc.index"}, place_domain},
      .infer = infer_place,
      .eval = [largest](const Signature& s, std::span<const Tensor* const> in) { return eval_place(s, in, largest); },
      .no_gradient = "an index is piecewise constant",
      .samples = windows_samples(/*with_source=*/false)};
}

const RegisterOp window_argmax(place("window_argmax", "largest", monoids::kArgMax, true));
const RegisterOp window_argmin(place("window_argmin", "smallest", monoids::kArgMin, false));

// --- select_and_scatter ---

bool selects_largest(const Signature& s) {
  const std::string& select = s.text("select");
  if (select != "max" && select != "min") throw InferError(fmt::format("select is '{}', expected max or min", select));
  return select == "max";
}

std::vector<Type> infer_scattered(const Signature& s) {
  const Type &x = s.operands[0], &source = s.operands[1];
  selects_largest(s);
  require_countable(x);
  const Type expected{x.dtype, windowed(windows(s, x.dims))};
  if (source != expected)
    throw InferError(fmt::format("expected a source {}, an element for each window, got {}", to_string(expected),
                                 to_string(source)));
  return {x};
}

std::vector<Tensor> eval_scattered(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor &x = *in[0], &source = *in[1];
  const std::vector<Window> axes = windows(s, x.type.dims);
  const bool largest = selects_largest(s);
  Tensor y(s.results[0]);
  Sums sums(y.real.size());
  size_t from = 0;
  for_each_point(source.type.dims, [&](const Dims& at) {
    const auto to = static_cast<size_t>(place_in_window(axes, x, at, largest));
    if (y.floating())
      sums.add(to, source.real[from++]);
    else
      y.integer[to] = wrap_to(y.type.dtype, wrapping(pattern(y.integer[to]) + pattern(source.integer[from++])));
  });
  y.real = sums.totals();
  return {std::move(y)};
}

Attrs without_select(Attrs attrs) {
  attrs.erase("select");
  return attrs;
}

// i32 [windows]: where each window's element lies.
ValueId places(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  const ValueId found =
      b(selects_largest(s) ? "window_argmax" : "window_argmin", {n.operands[0]}, without_select(n.attrs));
  return b.reshape(found, {b.type(found).elements()});
}

Values decompose_scattered(Builder& b, const Node& n) {
  const Type x = b.type(n.operands[0]);
  const ValueId source = b.reshape(n.operands[1], {b.type(n.operands[1]).elements()});
  const ValueId zeros = b.constant(0, {x.dtype, {x.elements()}}), found = places(b, n);
  return {b.reshape(b("scatter", {zeros, found, source}), x.dims)};
}

// Which element is chosen is piecewise constant in x.
Grads scattered_gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims source = b.type(n.operands[1]).dims;
  const ValueId flat = b.reshape(dy[0], {b.type(dy[0]).elements()});
  const ValueId found = places(b, n);
  return {{}, b.reshape(b("gather", {flat, found}), source)};
}

std::vector<Key> scattered_attributes() {
  std::vector<Key> attrs = windows_attributes();
  attrs.push_back({.name = "select", .type = KeyType::text, .doc = "max or min", .fallback = "max"});
  return attrs;
}

std::vector<Sample> scattered_samples() {
  std::vector<Sample> samples = windows_samples(/*with_source=*/true);
  for (size_t i = 0; i < samples.size(); i += 2) samples[i].attrs["select"] = std::string("min");
  return apart(std::move(samples));
}

const RegisterOp select_and_scatter(
    {.name = "select_and_scatter",
     .doc = "y = zeros of x's shape, where each window adds its element of the source to the place of its largest, or "
            "smallest, element of x, the first of equals; windows add in order. The gradient of window_max",
     .operands = {"x", "source"},
     .attrs = scattered_attributes(),
     .dtypes = kArithmetic,
     .kind = Composite{},
     .infer = infer_scattered,
     .eval = eval_scattered,
     .grad = scattered_gradient,
     .decomposition = decompose_scattered,
     .samples = scattered_samples()});

}  // namespace
}  // namespace heddle::ir
