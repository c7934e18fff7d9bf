#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/convolution.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s, size_t axes) {
  return conv(s, axes, {s.operands[0].dtype, checked_list(s, "input", axes + 2, 1)}, s.operands[1]);
}

std::vector<Type> infer(const Signature& s, size_t axes) {
  const Conv c = of(s, axes);
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
ReductionDomain domain(const Conv& c) {
  const int channel = c.rank() + 1, tap = channel + 1, of_group = tap + c.rank();
  ReductionDomain domain;
  domain.extents = c.taps();
  domain.extents.push_back(c.out_per_group);
  IndexMap dy;
  dy.extents = c.image;
  dy.extents.insert(dy.extents.end(), domain.extents.begin(), domain.extents.end());
  const IndexExpr group = floor_div(IndexExpr::dim(channel), c.in_per_group, dy.extents);
  const IndexExpr output = group * c.out_per_group + IndexExpr::dim(of_group);
  const IndexExpr input = modulo(IndexExpr::dim(channel), c.in_per_group, dy.extents);
  IndexMap w{.extents = dy.extents, .results = {output}, .guards = {}};
  for (int d = tap; d < of_group; ++d) w.results.push_back(IndexExpr::dim(d));
  w.results.push_back(input);
  dy.results.push_back(IndexExpr::dim(0));
  for (int i = 0; i < c.rank(); ++i) read_output(dy, c.axes[static_cast<size_t>(i)], i + 1, tap + i);
  dy.results.push_back(output);
  domain.maps = {dy, w};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, const Conv& c, std::span<const Tensor* const> in) {
  Tensor dx(s.results[0]);
  Sums sums(dx.real.size());
  for_each_product(c, [&](size_t x, size_t w, size_t y) { sums.add(x, in[0]->real[y] * in[1]->real[w]); });
  dx.real = sums.totals();
  return {dx};
}

Grads grad(Builder& b, const Node& n, const Values& g, size_t axes) {
  const ValueId dy = n.operands[0];
  const ValueId w = n.operands[1];
  const Attrs forward = without_shape(n.attrs, "input");
  const ValueId ddy = b(conv_name(axes), {g[0], w}, forward);
  return {ddy, b(conv_name(axes) + "_filter_grad", {g[0], dy}, with_shape(forward, "filter", b.type(w).dims))};
}

OpDef data_grad(size_t axes) {
  const std::string name = conv_name(axes);
  return {.name = name + "_data_grad",
          .doc = "gradient of " + name + " by its image: each dy times the filter, added where the filter read",
          .operands = {"dy", "w"},
          .results = {"dx"},
          .attrs = with_shape(conv_attributes(axes), "input",
                              axes == 2 ? "shape of the image, NHWC" : "shape of the volume, NDHWC"),
          .dtypes = kFloating,
          .kind = Contraction{[axes](const Signature& s) { return domain(of(s, axes)); }},
          .traits = {.convolution = ConvolutionRoles{.filter = 1, .result = 0}},
          .infer = [axes](const Signature& s) { return infer(s, axes); },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval(s, of(s, axes), in); },
          .grad = [axes](Builder& b, const Node& n, const Values& g) { return grad(b, n, g, axes); },
          .samples = conv_samples(axes, [](const ConvCase& c) -> Sample {
            return {.shapes = {c.result, c.filter}, .attrs = with_shape(c.attrs, "input", c.image)};
          })};
}

const RegisterOp conv2d_data_grad(data_grad(2));
const RegisterOp conv3d_data_grad(data_grad(3));

}  // namespace
}  // namespace heddle::ir
