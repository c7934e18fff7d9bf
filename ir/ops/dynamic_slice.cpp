// Slices whose place is computed: dynamic_slice and its counterpart, dynamic_update_slice.
#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/mixed_precision.h"
#include "ir/ops/loops.h"
#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

// Throws InferError unless `sizes` is a part of x and `starts` a number for each axis.
void check_part(const Type& x, const Dims& sizes, const Type& starts) {
  if (!is_integer(starts.dtype) || starts.dims != Dims{x.rank()})
    throw InferError(fmt::format("expected an integer start for each axis, [{}], got {}", x.rank(), to_string(starts)));
  require_length("sizes", sizes, x.rank());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 1 || sizes[d] > x.dims[d])
      throw InferError(fmt::format("size {} of axis {} is not within the {} there are", sizes[d], d, x.dims[d]));
}

// The first element of the part, which is moved to where all of it is inside.
Dims clamped(const Tensor& starts, const Dims& x, const Dims& sizes) {
  Dims first;
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t start = starts.integer[d], most = x[d] - sizes[d];
    const bool beyond = starts.type.dtype == DType::u64 && start < 0;  // 2^63 and more
    first.push_back(beyond ? most : std::clamp<int64_t>(start, 0, most));
  }
  return first;
}

// Calls f(position in x, position in the part) for each element of the part.
template <class F>
void for_each_of_part(const Dims& x, const Dims& sizes, const Dims& first, F&& f) {
  int64_t of_part = 0;
  for_each_point(sizes, [&](const Dims& at) {
    Dims from = at;
    for (size_t d = 0; d < at.size(); ++d) from[d] += first[d];
    f(position(x, from), of_part++);
  });
}

// The start along an axis, so that `size` of `extent` elements follow: a scalar of a signed type.
ValueId start_along(Builder& b, ValueId starts, size_t axis, int64_t extent, int64_t size) {
  const auto d = static_cast<int64_t>(axis);
  ValueId start = b("slice", {starts}, {{"starts", Dims{d}}, {"limits", Dims{d + 1}}});
  start = b.reshape(start, {});
  const auto most = static_cast<double>(extent - size);
  if (b.type(start).dtype == DType::u64) start = b("min", {start, b.like(most, start)});
  start = b("clamp", {b.cast(start, DType::i64)}, {{"low", 0.0}, {"high", most}});
  return b.cast(start, extent > INT32_MAX ? DType::i64 : DType::i32);
}

ValueId count_up(Builder& b, int64_t size, ValueId like) {
  return b("iota", {}, {{"shape", Dims{size}}, {"dtype", to_string(b.type(like).dtype)}});
}

// --- dynamic_slice ---

std::vector<Type> infer_slice(const Signature& s) {
  check_part(s.operands[0], s.integers("sizes"), s.operands[1]);
  return {{s.operands[0].dtype, s.integers("sizes")}};
}

std::vector<Tensor> eval_slice(const Signature& s, std::span<const Tensor* const> in) {
  const Dims &x = in[0]->type.dims, &sizes = s.integers("sizes");
  Tensor y(s.results[0]);
  for_each_of_part(x, sizes, clamped(*in[1], x, sizes),
                   [&](int64_t of_x, int64_t of_y) { y.copy(of_y, *in[0], of_x); });
  return {std::move(y)};
}

Values decompose_slice(Builder& b, const Node& n) {
  ValueId y = n.operands[0];
  const Dims x = b.type(y).dims, sizes = b.type(n.results[0]).dims;
  for (size_t d = 0; d < x.size(); ++d) {
    if (sizes[d] == x[d]) continue;
    const ValueId start = start_along(b, n.operands[1], d, x[d], sizes[d]);
    const ValueId places = b("add", {b.broadcast_to(start, {sizes[d]}), count_up(b, sizes[d], start)});
    y = b("gather", {y, places}, {{"axis", static_cast<int64_t>(d)}});
  }
  return {y};
}

Grads slice_gradient(Builder& b, const Node& n, const Values& dy) {
  const ValueId zeros = b.constant(0, {b.type(dy[0]).dtype, b.type(n.operands[0]).dims});
  return {b("dynamic_update_slice", {zeros, dy[0], n.operands[1]}), {}};
}

Sample slice_sample(const Dims& x, const Dims& sizes) {
  return {.shapes = {x, {static_cast<int64_t>(x.size())}},
          .attrs = {{"sizes", sizes}},
          .below = x[0] + 1,
          .dtypes = {DType::f32, DType::i32}};
}

const RegisterOp dynamic_slice(
    {.name = "dynamic_slice",
     .doc =
         "the part of x of the given sizes that begins at starts; a start that is too small or too large is moved to "
         "where all of the part is inside",
     .operands = {"x", "starts"},
     .attrs = {{.name = "sizes",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "of y, one per axis",
                .required = true}},
     .kind = Composite{},
     .infer = infer_slice,
     .eval = eval_slice,
     .grad = slice_gradient,
     .decomposition = decompose_slice,
     .samples = {slice_sample({7, 33}, {3, 8}), slice_sample({5}, {5}), slice_sample({1}, {1}), slice_sample({9}, {4}),
                 slice_sample({4, 6, 3}, {2, 6, 1})}});

// --- dynamic_update_slice ---

std::vector<Type> infer_update(const Signature& s) {
  const Type &x = s.operands[0], &update = s.operands[1];
  if (update.dtype != x.dtype)
    throw InferError(fmt::format("the update is {}, x is {}", to_string(update.dtype), to_string(x.dtype)));
  check_part(x, update.dims, s.operands[2]);
  return {x};
}

std::vector<Tensor> eval_update(const Signature&, std::span<const Tensor* const> in) {
  const Dims &x = in[0]->type.dims, &sizes = in[1]->type.dims;
  Tensor y = *in[0];
  for_each_of_part(x, sizes, clamped(*in[2], x, sizes),
                   [&](int64_t of_x, int64_t of_update) { y.copy(of_x, *in[1], of_update); });
  return {std::move(y)};
}

// Each element of y looks for itself in the update.
Values decompose_update(Builder& b, const Node& n) {
  ValueId found = n.operands[1], inside;
  const Dims x = b.type(n.operands[0]).dims, sizes = b.type(found).dims;
  for (size_t d = 0; d < x.size(); ++d) {
    if (sizes[d] == x[d]) continue;
    const ValueId start = start_along(b, n.operands[2], d, x[d], sizes[d]);
    const ValueId places = b("sub", {count_up(b, x[d], start), b.broadcast_to(start, {x[d]})});
    found = b("gather", {found, places}, {{"axis", static_cast<int64_t>(d)}});
    const ValueId here = b("and", {b("ge", {places, b.like(0, places)}),
                                   b("lt", {places, b.like(static_cast<double>(sizes[d]), places)})});
    const ValueId wide = b("broadcast", {here}, {{"dims", Dims{static_cast<int64_t>(d)}}, {"shape", x}});
    inside = inside.valid() ? b("and", {inside, wide}) : wide;
  }
  return {inside.valid() ? b("select", {inside, found, n.operands[0]}) : found};
}

Grads update_gradient(Builder& b, const Node& n, const Values& dy) {
  const Dims sizes = b.type(n.operands[1]).dims;
  const ValueId zeros = b.constant(0, {b.type(dy[0]).dtype, sizes});
  return {b("dynamic_update_slice", {dy[0], zeros, n.operands[2]}),
          b("dynamic_slice", {dy[0], n.operands[2]}, {{"sizes", sizes}}),
          {}};
}

Sample update_sample(const Dims& x, const Dims& sizes) {
  return {.shapes = {x, sizes, {static_cast<int64_t>(x.size())}},
          .below = x[0] + 1,
          .dtypes = {DType::f32, DType::f32, DType::i32}};
}

const RegisterOp dynamic_update_slice(
    {.name = "dynamic_update_slice",
     .doc =
         "x with the update in the place of the part that begins at starts; a start that is too small or too large is "
         "moved to where all of the update is inside",
     .operands = {"x", "update", "starts"},
     .kind = Composite{},
     .infer = infer_update,
     .eval = eval_update,
     .grad = update_gradient,
     .decomposition = decompose_update,
     .samples = {update_sample({7, 33}, {3, 8}), update_sample({5}, {5}), update_sample({1}, {1}),
                 update_sample({9}, {4}), update_sample({4, 6, 3}, {2, 6, 1})}});

const StatesMixedPrecision moves({"dynamic_slice", "dynamic_update_slice"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
