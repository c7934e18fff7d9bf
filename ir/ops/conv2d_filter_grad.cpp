#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/conv2d.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s) { return conv(s, s.operands[0], {s.operands[0].dtype, checked_list(s, "filter", 4, 1)}); }

std::vector<Type> infer(const Signature& s) {
  const Conv c = of(s);
  require_result(c, s.operands[1], s.operands[0].dtype);
  return {{s.operands[0].dtype, c.filter}};
}

// Result (o, kh, kw, i), summed over (n, oh, ow).
ReductionDomain domain(const Signature& s) {
  const Conv c = of(s);
  ReductionDomain domain;
  domain.extents = {c.result[0], c.result[1], c.result[2]};
  IndexMap x;
  x.extents = {c.filter[0], c.filter[1], c.filter[2], c.filter[3], c.result[0], c.result[1], c.result[2]};
  IndexMap dy{.extents = x.extents,
              .results = {IndexExpr::dim(4), IndexExpr::dim(5), IndexExpr::dim(6), IndexExpr::dim(0)},
              .guards = {}};
  x.results.push_back(IndexExpr::dim(4));
  read_input(x, c.height, 5, 1);
  read_input(x, c.width, 6, 2);
  x.results.push_back(floor_div(IndexExpr::dim(0), c.out_per_group, x.extents) * c.in_per_group + IndexExpr::dim(3));
  domain.maps = {x, dy};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor dw(s.results[0]);
  Sums sums(dw.real.size());
  for_each_product(of(s), [&](size_t x, size_t w, size_t y) { sums.add(w, in[0]->real[x] * in[1]->real[y]); });
  dw.real = sums.totals();
  return {dw};
}

Grads grad(Builder& b, const Node& n, const Values& g) {
  const ValueId x = n.operands[0];
  const ValueId dy = n.operands[1];
  const Attrs forward = without_shape(n.attrs, "filter");
  const ValueId dx = b("conv2d_data_grad", {dy, g[0]}, with_shape(forward, "input", b.type(x).dims));
  return {dx, b("conv2d", {x, g[0]}, forward)};
}

const RegisterOp conv2d_filter_grad(
    {.name = "conv2d_filter_grad",
     .doc = "gradient of conv2d by its filter: each dy times the element its filter element read",
     .operands = {"x", "dy"},
     .results = {"dw"},
     .attrs = with_shape(conv_attributes(), "filter", "shape of the filter, OHWI"),
     .dtypes = kFloating,
     .kind = Contraction{domain},
     .traits = {.convolution = ConvolutionRoles{.image = 0, .result = 1}},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .samples = conv_samples([](const ConvCase& c) -> Sample {
       return {.shapes = {c.image, c.result}, .attrs = with_shape(c.attrs, "filter", c.filter)};
     })});

}  // namespace
}  // namespace heddle::ir
