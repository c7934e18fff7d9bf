// Rules for matrix products that read more than they compute: they become elementwise operators and sums, which fuse
// with their neighbours.
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

struct Product {
  bool transpose_a, transpose_b, exact;  // exact: no operand may be rounded
};

Product product_of(const Node& n) {
  const auto flag = [&](const char* name) { return std::get<bool>(attribute(*n.op, n.attrs, name)); };
  return {flag("transpose_a"), flag("transpose_b"),
          std::get<std::string>(attribute(*n.op, n.attrs, "precision")) == "f32"};
}

// A product with an inner dimension of 1: each element of one side times each element of the other.
ValueId over_one(Builder& b, const Node& n) {
  const Dims to = b.type(n.results[0]).dims, left = b.type(n.operands[0]).dims;
  const Product p = product_of(n);
  const size_t rank = to.size();
  if (!p.exact || left[rank - (p.transpose_a ? 2 : 1)] != 1) return {};
  const auto spread = [&](ValueId v, size_t axis) {  // `axis` of the result: the only axis of v besides the batch axes
    Dims narrow(to.begin(), to.end() - 2), dims;
    for (size_t d = 0; d + 2 < rank; ++d) dims.push_back(static_cast<int64_t>(d));
    narrow.push_back(to[axis]);
    dims.push_back(static_cast<int64_t>(axis));
    return b("broadcast", {b.reshape(v, narrow)}, {{"dims", dims}, {"shape", to}});
  };
  return b("mul", {spread(n.operands[0], rank - 2), spread(n.operands[1], rank - 1)});
}

// The parts of a concatenation along the columns, or the value alone.
Values joined_from(Builder& b, ValueId v) {
  const Node* n = defined_by(b.graph, v, &Traits::joined_along);
  if (n == nullptr) return {v};
  const auto axis = static_cast<size_t>(normal_axis(n->op->traits.joined_along(*n), 2));
  return axis == 1 ? Values(n->operands) : Values{v};
}

// The sum along `axis` of rows * numbers, where numbers[i] belongs to index i of the axis.
ValueId weighted_sum(Builder& b, ValueId rows, ValueId numbers, int64_t axis) {
  const ValueId spread = b("broadcast", {numbers}, {{"dims", Dims{axis}}, {"shape", Dims(b.type(rows).dims)}});
  return b("reduce_sum", {b("mul", {rows, spread})}, {{"axes", Dims{axis}}});
}

// Rows times a vector: a sum in each row. The sum over a concatenation is the sum of the sums over its parts.
ValueId rows_times_vector(Builder& b, ValueId rows, ValueId vector) {
  const ValueId numbers = b.reshape(vector, {b.type(rows).dims[1]});
  ValueId sum;
  int64_t first = 0;
  for (const ValueId part : joined_from(b, rows)) {
    const int64_t last = first + b.type(part).dims[1];
    const ValueId here = last - first == b.type(rows).dims[1]
                             ? numbers
                             : b("slice", {numbers}, {{"starts", Dims{first}}, {"limits", Dims{last}}});
    const ValueId of_part = weighted_sum(b, part, here, 1);
    sum = sum.valid() ? b("add", {sum, of_part}) : of_part;
    first = last;
  }
  return sum;
}

// A vector times rows: a sum in each column. For a concatenation it is the concatenation of the sums of its parts.
ValueId vector_times_rows(Builder& b, ValueId vector, ValueId rows) {
  const ValueId numbers = b.reshape(vector, {b.type(rows).dims[0]});
  Values sums;
  for (const ValueId part : joined_from(b, rows)) sums.push_back(weighted_sum(b, part, numbers, 0));
  return sums.size() == 1 ? sums[0] : b("concat", sums, {{"axis", int64_t{0}}});
}

// A layer with one unit, and the gradient of its weight. The other operand must lie so that the sums run along its rows
// or columns as stored. For the gradient, a library is as fast with fewer than kLeastRows rows. For the layer there is
// no such limit: a row must have the same bits in a batch of any size.
ValueId with_vector(Builder& b, const Node& n) {
  constexpr int64_t kLeastRows = 64;
  const Type type = b.type(n.results[0]);
  const Product p = product_of(n);
  if (!p.exact || type.rank() != 2 || !(type.dtype == DType::f32 || type.dtype == DType::f64)) return {};
  const ValueId left = n.operands[0], right = n.operands[1];
  ValueId sum;
  if (type.dims[1] == 1 && !p.transpose_a)
    sum = rows_times_vector(b, left, right);
  else if (type.dims[0] == 1 && !p.transpose_b && b.type(right).dims[0] >= kLeastRows)
    sum = vector_times_rows(b, left, right);
  return sum.valid() ? b.reshape(sum, Dims(type.dims)) : ValueId{};
}

}  // namespace

const std::vector<Rule>& product_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"product over one", has<&Traits::matrix_product>, over_one, sign_of_zero},  // 0 + -0 is 0
      {"product with a vector", has<&Traits::matrix_product>, with_vector, rounding},
  };
  return rules;
}

}  // namespace heddle::passes
