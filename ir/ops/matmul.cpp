#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/precision.h"

namespace heddle::ir {
namespace {

// a: [batch..., m, k], or [batch..., k, m] transposed; b likewise with k and n.
struct Sizes {
  Dims batch;
  int64_t m = 0, n = 0, k = 0;
};

Sizes sizes(const Signature& s) {
  const Dims& a = s.operands[0].dims;
  const Dims& b = s.operands[1].dims;
  const size_t r = a.size();
  const bool ta = s.flag("transpose_a");
  const bool tb = s.flag("transpose_b");
  return {.batch = Dims(a.begin(), a.end() - 2),
          .m = a[ta ? r - 1 : r - 2],
          .n = b[tb ? r - 2 : r - 1],
          .k = a[ta ? r - 2 : r - 1]};
}

std::vector<Type> infer(const Signature& s) {
  check_precision(s);
  const Type& a = s.operands[0];
  const Type& b = s.operands[1];
  if (a.dtype != b.dtype)
    throw InferError(fmt::format("operands differ in type: {} vs {}", to_string(a), to_string(b)));
  if (a.rank() < 2 || b.rank() != a.rank())
    throw InferError(
        fmt::format("expected two operands of equal rank, 2 or more, got {} and {}", to_string(a), to_string(b)));
  const Sizes size = sizes(s);
  if (!std::equal(size.batch.begin(), size.batch.end(), b.dims.begin()))
    throw InferError(fmt::format("batch dimensions differ: {} vs {}", to_string(a), to_string(b)));
  const int64_t other = b.dims[b.dims.size() - (s.flag("transpose_b") ? 1 : 2)];
  if (other != size.k) throw InferError(fmt::format("inner dimensions differ: {} vs {}", size.k, other));
  Dims dims = size.batch;
  dims.insert(dims.end(), {size.m, size.n});
  return {{a.dtype, dims}};
}

ReductionDomain domain(const Signature& s) {
  const Sizes size = sizes(s);
  const int batch = static_cast<int>(size.batch.size());
  IndexMap a;
  a.extents = size.batch;
  a.extents.insert(a.extents.end(), {size.m, size.n, size.k});
  for (int d = 0; d < batch; ++d) a.results.push_back(IndexExpr::dim(d));
  IndexMap b = a;
  const auto add = [batch](IndexMap& map, int row, int column, bool transposed) {
    map.results.push_back(IndexExpr::dim(batch + (transposed ? column : row)));
    map.results.push_back(IndexExpr::dim(batch + (transposed ? row : column)));
  };
  add(a, 0, 2, s.flag("transpose_a"));
  add(b, 2, 1, s.flag("transpose_b"));
  return {.extents = {size.k}, .maps = {a, b}};
}

// y[i,j] = sum of a[i,k] * b[k,j] of one batch, at whatever strides; U is what products are summed in.
template <class U, class T>
void multiply(const Signature& s, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& y) {
  const Sizes size = sizes(s);
  const int64_t a_row = s.flag("transpose_a") ? 1 : size.k;
  const int64_t a_column = s.flag("transpose_a") ? size.m : 1;
  const int64_t b_row = s.flag("transpose_b") ? 1 : size.n;
  const int64_t b_column = s.flag("transpose_b") ? size.k : 1;
  const auto cell = [&](int64_t batch, int64_t i, int64_t j) {
    constexpr int64_t kRun = 16;  // whose sum is rounded as it comes
    U sum = 0;
    Sum of_runs;
    for (int64_t k = 0; k < size.k; ++k) {
      sum += static_cast<U>(a[static_cast<size_t>(batch * size.m * size.k + i * a_row + k * a_column)]) *
             static_cast<U>(b[static_cast<size_t>(batch * size.k * size.n + k * b_row + j * b_column)]);
      if constexpr (std::is_same_v<U, double>)
        if (k % kRun == kRun - 1) of_runs.add(std::exchange(sum, 0));
    }
    of_runs.add(static_cast<double>(sum));
    if constexpr (std::is_same_v<U, double>) return of_runs.total();
    return sum;
  };
  size_t o = 0;
  for (int64_t batch = 0; batch < product(size.batch); ++batch)
    for (int64_t i = 0; i < size.m; ++i)
      for (int64_t j = 0; j < size.n; ++j) y[o++] = static_cast<T>(cell(batch, i, j));
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  if (y.floating()) {
    multiply<double>(s, in[0]->real, in[1]->real, y.real);
  } else {
    multiply<uint64_t>(s, in[0]->integer, in[1]->integer, y.integer);  // unsigned, so that it may wrap
    for (int64_t& v : y.integer) v = wrap_to(y.type.dtype, v);
  }
  return {y};
}

// With c = op(a) op(b): d(op(a)) = dc op(b)^T and d(op(b)) = op(a)^T dc, each transposed again where the operand was.
Grads grad(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const bool ta = s.flag("transpose_a");
  const bool tb = s.flag("transpose_b");
  const ValueId x = n.operands[0];
  const ValueId w = n.operands[1];
  const auto multiply = [&](ValueId left, bool transpose_left, ValueId right, bool transpose_right) {
    Attrs attrs = n.attrs;
    attrs["transpose_a"] = transpose_left, attrs["transpose_b"] = transpose_right;
    return b("matmul", {left, right}, attrs);
  };
  const ValueId dx = ta ? multiply(w, tb, dy[0], true) : multiply(dy[0], false, w, !tb);
  const ValueId dw = tb ? multiply(dy[0], true, x, ta) : multiply(x, !ta, dy[0], false);
  return {dx, dw};
}

const RegisterOp matmul(
    {.name = "matmul",
     .doc = "y = a b over the last two dimensions, either side transposed first; leading dimensions are equal batches",
     .operands = {"a", "b"},
     .attrs = with_precision(
         {{.name = "transpose_a", .type = KeyType::flag, .doc = "swap a's last two dimensions", .fallback = false},
          {.name = "transpose_b", .type = KeyType::flag, .doc = "swap b's last two dimensions", .fallback = false}}),
     .dtypes = kArithmetic,
     .kind = Contraction{domain},
     .traits = {.matrix_product = true},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .samples = {{.shapes = {{4, 7}, {7, 5}}},
                 {.shapes = {{7, 4}, {7, 5}}, .attrs = {{"transpose_a", true}}},
                 {.shapes = {{4, 7}, {5, 7}}, .attrs = {{"transpose_b", true}}},
                 {.shapes = {{7, 4}, {5, 7}}, .attrs = {{"transpose_a", true}, {"transpose_b", true}}},
                 {.shapes = {{1, 33}, {33, 1}}},
                 {.shapes = {{3, 4, 1}, {3, 1, 6}}},
                 {.shapes = {{2, 3, 4, 5}, {2, 3, 6, 5}}, .attrs = {{"transpose_b", true}}},
                 {.shapes = {{17, 65}, {65, 19}}}}});

}  // namespace
}  // namespace heddle::ir
