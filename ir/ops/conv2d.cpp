#include "ir/ops/conv2d.h"

#include "ir/builder.h"
#include "ir/evaluate/sums.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s) { return conv(s, s.operands[0], s.operands[1]); }

// Result (n, oh, ow, o), summed over (kh, kw, i).
ReductionDomain domain(const Signature& s) {
  const Conv c = of(s);
  ReductionDomain domain;
  domain.extents = {c.height.size, c.width.size, c.in_per_group};
  IndexMap x;
  x.extents = {c.result[0], c.result[1], c.result[2], c.result[3], c.height.size, c.width.size, c.in_per_group};
  IndexMap w{.extents = x.extents,
             .results = {IndexExpr::dim(3), IndexExpr::dim(4), IndexExpr::dim(5), IndexExpr::dim(6)},
             .guards = {}};
  x.results.push_back(IndexExpr::dim(0));
  read_input(x, c.height, 1, 4);
  read_input(x, c.width, 2, 5);
  x.results.push_back(floor_div(IndexExpr::dim(3), c.out_per_group, x.extents) * c.in_per_group + IndexExpr::dim(6));
  domain.maps = {x, w};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  Sums sums(y.real.size());
  for_each_product(of(s), [&](size_t x, size_t w, size_t o) { sums.add(o, in[0]->real[x] * in[1]->real[w]); });
  y.real = sums.totals();
  return {y};
}

Grads grad(Builder& b, const Node& n, const Values& dy) {
  const ValueId x = n.operands[0];
  const ValueId w = n.operands[1];
  const ValueId dx = b("conv2d_data_grad", {dy[0], w}, with_shape(n.attrs, "input", b.type(x).dims));
  return {dx, b("conv2d_filter_grad", {x, dy[0]}, with_shape(n.attrs, "filter", b.type(w).dims))};
}

const RegisterOp conv2d(
    {.name = "conv2d",
     .doc = "y[n,oh,ow,o] = sum over kh,kw,i of x[n, oh*stride+kh*dilation-pad, ..., i] * w[o,kh,kw,i]; x is NHWC, w "
            "is OHWI (KRSC), output channels see the input channels of their group. A cross-correlation, as in PyTorch",
     .operands = {"x", "w"},
     .attrs = conv_attributes(),
     .dtypes = kFloating,
     .kind = Contraction{domain},
     .traits = {.convolution = ConvolutionRoles{.image = 0, .filter = 1}},
     .infer = [](const Signature& s) -> std::vector<Type> {
       return {{s.operands[0].dtype, of(s).result}};
     },
     .eval = eval,
     .grad = grad,
     .decoding = &conv2d_decoding(),
     .samples = conv_samples([](const ConvCase& c) -> Sample {
       return {.shapes = {c.image, c.filter}, .attrs = c.attrs};
     })});

}  // namespace
}  // namespace heddle::ir
