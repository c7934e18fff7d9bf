#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/coordinates.h"
#include "ir/ops/loops.h"
#include "ir/ops/scatter.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  check_target(s);
  const Type &x = s.operands[0], &updates = s.operands[2];
  const Coordinates c = coordinates(s);
  const Type expected{x.dtype, in_a_row(c.points, c.rest)};
  if (updates != expected)
    throw InferError(fmt::format("expected updates {}, got {}", to_string(expected), to_string(updates)));
  if (product(c.points) > INT32_MAX)
    throw InferError(fmt::format("{} updates, expected fewer than 2^31", product(c.points)));
  return {x};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Coordinates c = coordinates(s);
  const int64_t width = product(c.rest), count = product(c.points);
  Tensor x = *in[0], updates = *in[2], rows({DType::i64, {count}});
  int64_t i = 0;
  for_each_point(c.points, [&](const Dims& p) { rows.integer[static_cast<size_t>(i++)] = row_at(c, *in[1], p); });
  x.type.dims = {x.elements() / width, width};
  updates.type.dims = {count, width};
  Tensor y = scatter_in_order(x, rows, updates, s.text("combine"));
  y.type = s.results[0];
  return {std::move(y)};
}

// The row of x that each point means: a number in row-major order, -1 where a coordinate is outside.
class Rows {
 public:
  Rows(Builder& b, const Coordinates& c, ValueId indices)
      : b_(b), c_(c), indices_(indices), points_(product(c.points)) {
    Dims of(c.points.begin(), c.points.begin() + static_cast<std::ptrdiff_t>(c.batch));
    batches_ = product(of);
    dtype_ = batches_ * product(c.indexed) > INT32_MAX ? DType::i64 : DType::i32;
  }

  ValueId operator()() {
    ValueId row = c_.batch > 0 ? batch() : ValueId{};
    for (size_t i = 0; i < c_.indexed.size(); ++i) {
      const ValueId index = coordinate(static_cast<int64_t>(i));
      check(index, c_.indexed[i]);
      const ValueId narrow = b_.cast(index, dtype_);
      row = row.valid() ? b_("add", {times(row, c_.indexed[i]), narrow}) : narrow;
    }
    return b_("select", {inside_, row, b_.like(-1, row)});
  }

 private:
  ValueId times(ValueId v, int64_t factor) { return b_("mul", {v, b_.like(static_cast<double>(factor), v)}); }
  ValueId batch() {
    const Dims matrix{batches_, points_ / batches_};
    return b_.reshape(b_("iota", {}, {{"shape", matrix}, {"axis", int64_t{0}}, {"dtype", to_string(dtype_)}}),
                      {points_});
  }
  ValueId coordinate(int64_t i) {
    const int64_t each = static_cast<int64_t>(c_.indexed.size());
    const ValueId all = b_.reshape(indices_, {points_, each});
    if (each == 1) return b_.reshape(all, {points_});
    const ValueId one = b_("slice", {all}, {{"starts", Dims{0, i}}, {"limits", Dims{points_, i + 1}}});
    return b_.reshape(one, {points_});
  }
  // As far as the indices' type has numbers that are outside.
  void check(ValueId index, int64_t size) {
    const DType dtype = b_.type(index).dtype;
    require(b_("ge", {index, b_.like(0, index)}));
    if (holds(dtype, size)) require(b_("lt", {index, b_.like(static_cast<double>(size), index)}));
  }
  void require(ValueId condition) { inside_ = inside_.valid() ? b_("and", {inside_, condition}) : condition; }

  Builder& b_;
  const Coordinates& c_;
  ValueId indices_, inside_;
  int64_t points_, batches_ = 1;
  DType dtype_ = DType::i32;
};

Values decompose(Builder& b, const Node& n) {
  const Coordinates c = coordinates(signature(b.graph, n));
  const Dims x = b.type(n.operands[0]).dims;
  const int64_t width = product(c.rest), points = product(c.points);
  const ValueId rows = Rows(b, c, n.operands[1])();
  const auto combine = std::get<std::string>(attribute(*n.op, n.attrs, "combine"));
  const ValueId y =
      b("scatter",
        {b.reshape(n.operands[0], {product(x) / width, width}), rows, b.reshape(n.operands[2], {points, width})},
        {{"combine", combine}});
  return {b.reshape(y, x)};
}

Sample sample(const Dims& x, const Dims& indices, const Dims& updates, int64_t batch, const std::string& combine) {
  return {.shapes = {x, indices, updates},
          .attrs = {{"batch", batch}, {"combine", combine}},
          .below = x[static_cast<size_t>(batch)] + 1,
          .dtypes = {DType::f32, DType::i32, DType::f32}};
}

const RegisterOp op(
    {.name = "scatter_nd",
     .doc = "y = x, where the part at the coordinates that the last axis of indices holds, "
            "x[b.., indices[b.., i.., 0], indices[b.., i.., 1], .., ..], is combined with updates[b.., i.., ..], one "
            "after the other in row-major order; coordinates outside of x change nothing",
     .operands = {"x", "indices", "updates"},
     .attrs = {batch_attr(), combine_attr()},
     .dtypes = kArithmetic,
     .kind = Composite{},
     .traits = {.adds_to_first = combines_by_adding},
     .infer = infer,
     .eval = eval,
     .decomposition = decompose,
     .places = indexed_axes,
     .samples = {sample({4, 6, 3}, {5, 2}, {5, 3}, 0, "add"), sample({9, 33}, {7, 1}, {7, 33}, 0, "set"),
                 sample({3, 5, 2}, {3, 4, 1}, {3, 4, 2}, 1, "add"), sample({7}, {2, 3, 1}, {2, 3}, 0, "max"),
                 sample({1, 1}, {1, 2}, {1}, 0, "mul"), sample({2, 4, 5, 3}, {2, 2}, {2, 3}, 1, "min"),
                 sample({3, 8}, {3, 6, 1}, {3, 6}, 1, "set")}});

}  // namespace
}  // namespace heddle::ir
