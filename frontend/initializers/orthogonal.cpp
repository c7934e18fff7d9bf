// orthogonal: rows or columns of length 1 that are at right angles (Saxe et al. 2013, arXiv:1312.6120).
#include <fmt/format.h>

#include "frontend/initializers/parts.h"

namespace heddle::frontend {
namespace {

using ir::Builder;
using ir::Dims;
using ir::ValueId;

// A singular value grows by half in each step until it is near 1: from 1e-7, below which f32 knows nothing.
constexpr int kSteps = 45;

ValueId scaled(Builder& b, ValueId v, ValueId by) {
  return b("mul", {v, b("broadcast", {by}, {{"shape", b.type(v).dims}})});
}

// x x^t, or x^t x where that is smaller.
ValueId gram(Builder& b, ValueId x, bool wide) {
  return b("matmul", {x, x}, {{wide ? "transpose_b" : "transpose_a", true}});
}

// The orthogonal factor of the polar decomposition, by Newton and Schulz: x <- 1.5 x - 0.5 x x^t x
// (Higham 2008, "Functions of Matrices", chapter 8). All singular values of the first x are at most
// 1: their fourth powers add up to the squares of the Gram matrix.
ValueId nearest_orthogonal(Builder& b, ValueId x) {
  const Dims dims = b.type(x).dims;
  const bool wide = dims[0] <= dims[1];
  const ValueId squares = b("reduce_sum", {b("square", {gram(b, x, wide)})});
  const ValueId bound = b("sqrt", {b("sqrt", {squares})});
  x = scaled(b, x, b("div", {b.like(1, bound), bound}));
  for (int i = 0; i < kSteps; ++i) {
    const ValueId g = gram(b, x, wide);
    const ValueId cube = b("matmul", wide ? ir::Values{g, x} : ir::Values{x, g});
    x = b("sub", {b("mul", {x, b.like(1.5, x)}), b("mul", {cube, b.like(0.5, cube)})});
  }
  return x;
}

// As torch.nn.init.orthogonal_ a matrix [first dimension, all others]. Its QR decomposition with
// corrected signs and this polar factor, both of normal numbers, have one distribution: that which
// no rotation changes.
ValueId build(Builder& b, const ir::Type& type, const Initializer& init, const Random& random) {
  const int64_t rows = type.dims[0];
  const ValueId normal = b.reshape(random("random_normal"), {rows, type.elements() / rows});
  const ValueId matrix = nearest_orthogonal(b, normal);
  return b.reshape(b("mul", {matrix, b.like(init.values.at("gain"), matrix)}), type.dims);
}

const RegisterInitializer orthogonal({
    .name = "orthogonal",
    .doc = "gain times a random orthogonal matrix [first dimension, all others]",
    .settings = {{.name = "gain", .type = KeyType::real, .doc = "the factor", .fallback = 1.0}},
    .build = build,
    .least_rank = 2,
});

}  // namespace
}  // namespace heddle::frontend
