#include "ir/builder.h"

namespace heddle::ir {
namespace {

bool is_outside(int64_t index, int64_t below) { return index < 0 || index >= below; }  // u64 from 2^63 on is negative

std::vector<Type> infer(const Signature& s) {
  if (s.integer("below") < 1) throw InferError("'below' must be positive");
  return {{DType::i64, {2}}};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  Tensor y(s.results[0]);
  y.integer = {-1, 0};
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t index = x.integer[static_cast<size_t>(i)];
    if (!is_outside(index, s.integer("below"))) continue;
    y.integer = {i, index};
    break;
  }
  return {std::move(y)};
}

// The least of the places that are outside, and what is there.
class Decomposition {
 public:
  Decomposition(Builder& b, ValueId x) : b_(b), count_(b.type(x).elements()), indices_(b.reshape(x, {count_})) {}

  ValueId operator()(int64_t below) {
    const ValueId place = b_("iota", {}, {{"shape", Dims{count_}}, {"dtype", std::string("i64")}});
    const ValueId first =
        b_("reduce_min", {b_("select", {outside(below), place, number(count_, {count_})})}, {{"axes", Dims{0}}});
    const ValueId found = b_("lt", {first, number(count_, {})});
    const ValueId somewhere = b_("min", {first, number(count_ - 1, {})});
    const ValueId there = b_.cast(b_("gather", {indices_, somewhere}), DType::i64);
    const ValueId of_place = b_("select", {found, first, number(-1, {})});
    const ValueId of_index = b_("select", {found, there, number(0, {})});
    return b_("concat", {b_.reshape(of_place, {1}), b_.reshape(of_index, {1})});
  }

 private:
  ValueId number(int64_t n, const Dims& dims) { return b_.constant(static_cast<double>(n), {DType::i64, dims}); }
  ValueId outside(int64_t below) {
    const ValueId negative = b_("lt", {indices_, b_.like(0, indices_)});
    if (!holds(b_.type(indices_).dtype, below)) return negative;
    return b_("or", {negative, b_("ge", {indices_, b_.like(static_cast<double>(below), indices_)})});
  }

  Builder& b_;
  int64_t count_;
  ValueId indices_;
};

Values decompose(Builder& b, const Node& n) {
  return {Decomposition(b, n.operands[0])(std::get<int64_t>(attribute(*n.op, n.attrs, "below")))};
}

Sample sample(const Dims& x, int64_t below, int64_t drawn_below, DType dtype = DType::i32) {
  return {.shapes = {x}, .attrs = {{"below", below}}, .below = drawn_below, .dtypes = {dtype}};
}

const RegisterOp op(
    {.name = "first_outside",
     .doc = "[place, x[place]] of the first element of x, in row-major order, that is outside of [0, below); [-1, 0] "
            "where none is",
     .operands = {"x"},
     .attrs = {{.name = "below", .type = KeyType::integer, .doc = "how many indices there are", .required = true}},
     .dtypes = kIntegers,
     .kind = Composite{},
     .infer = infer,
     .eval = eval,
     .decomposition = decompose,
     .samples = {sample({7, 33}, 3, 4), sample({5}, 4, 4), sample({1}, 1, 3), sample({}, 2, 9),
                 sample({3, 1, 9}, 30, 31, DType::i64), sample({1025}, 99, 100), sample({40, 64}, 255, 256, DType::u8),
                 sample({9, 2}, 3, 7, DType::u64)}});

}  // namespace
}  // namespace heddle::ir
