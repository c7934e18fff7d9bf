#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/conv2d.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s) { return conv(s, {s.operands[0].dtype, checked_list(s, "input", 4, 1)}, s.operands[1]); }

std::vector<Type> infer(const Signature& s) {
  const Conv c = of(s);
  require_result(c, s.operands[0], s.operands[1].dtype);
  return {{s.operands[0].dtype, c.image}};
}

// Along one axis, input element i meets filter element k at the output (i + low - k * dilation) / stride, where that
// divides.
void read_output(IndexMap& map, const Window& w, int input, int tap) {
  const IndexExpr at = IndexExpr::dim(input) + IndexExpr(w.low) - IndexExpr::dim(tap) * w.dilation;
  const IndexExpr output = floor_div(at, w.stride, map.extents);
  map.add_guard(modulo(at, w.stride, map.extents), 0, 1);
  map.add_guard(output, 0, w.output);
  map.results.push_back(output);
}

// Result (n, h, w, c), summed over (kh, kw, o within the group of c).
ReductionDomain domain(const Signature& s) {
  const Conv c = of(s);
  ReductionDomain domain;
  domain.extents = {c.height.size, c.width.size, c.out_per_group};
  IndexMap dy;
  dy.extents = {c.image[0], c.image[1], c.image[2], c.image[3], c.height.size, c.width.size, c.out_per_group};
  const IndexExpr group = floor_div(IndexExpr::dim(3), c.in_per_group, dy.extents);
  const IndexExpr output = group * c.out_per_group + IndexExpr::dim(6);
  const IndexExpr input = modulo(IndexExpr::dim(3), c.in_per_group, dy.extents);
  IndexMap w{.extents = dy.extents, .results = {output, IndexExpr::dim(4), IndexExpr::dim(5), input}, .guards = {}};
  dy.results.push_back(IndexExpr::dim(0));
  read_output(dy, c.height, 1, 4);
  read_output(dy, c.width, 2, 5);
  dy.results.push_back(output);
  domain.maps = {dy, w};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor dx(s.results[0]);
  Sums sums(dx.real.size());
  for_each_product(of(s), [&](size_t x, size_t w, size_t y) { sums.add(x, in[0]->real[y] * in[1]->real[w]); });
  dx.real = sums.totals();
  return {dx};
}

Grads grad(Builder& b, const Node& n, const Values& g) {
  const ValueId dy = n.operands[0];
  const ValueId w = n.operands[1];
  const Attrs forward = without_shape(n.attrs, "input");
  const ValueId ddy = b("conv2d", {g[0], w}, forward);
  return {ddy, b("conv2d_filter_grad", {g[0], dy}, with_shape(forward, "filter", b.type(w).dims))};
}

const RegisterOp conv2d_data_grad(
    {.name = "conv2d_data_grad",
     .doc = "gradient of conv2d by its image: each dy times the filter, added where the filter read",
     .operands = {"dy", "w"},
     .results = {"dx"},
     .attrs = with_shape(conv_attributes(), "input", "shape of the image, NHWC"),
     .dtypes = kFloating,
     .kind = Contraction{domain},
     .traits = {.convolution = ConvolutionRoles{.filter = 1, .result = 0}},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .samples = conv_samples([](const ConvCase& c) -> Sample {
       return {.shapes = {c.result, c.filter}, .attrs = with_shape(c.attrs, "input", c.image)};
     })});

}  // namespace
}  // namespace heddle::ir
