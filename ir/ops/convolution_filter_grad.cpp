#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/ops/convolution.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s, size_t axes) {
  return conv(s, axes, s.operands[0], {s.operands[0].dtype, checked_list(s, "filter", axes + 2, 1)});
}

std::vector<Type> infer(const Signature& s, size_t axes) {
  const Conv c = of(s, axes);
  require_result(c, s.operands[1], s.operands[0].dtype);
  return {{s.operands[0].dtype, c.filter}};
}

// Result (o, kh, kw, i), summed over (n, oh, ow).
ReductionDomain domain(const Conv& c) {
  const int input = c.rank() + 1, image = input + 1;
  ReductionDomain domain;
  domain.extents = Dims(c.result.begin(), c.result.end() - 1);
  IndexMap x;
  x.extents = c.filter;
  x.extents.insert(x.extents.end(), domain.extents.begin(), domain.extents.end());
  IndexMap dy{.extents = x.extents, .results = {}, .guards = {}};
  for (int d = image; d <= image + c.rank(); ++d) dy.results.push_back(IndexExpr::dim(d));
  dy.results.push_back(IndexExpr::dim(0));
  x.results.push_back(IndexExpr::dim(image));
  for (int i = 0; i < c.rank(); ++i) read_input(x, c.axes[static_cast<size_t>(i)], image + 1 + i, 1 + i);
  x.results.push_back(floor_div(IndexExpr::dim(0), c.out_per_group, x.extents) * c.in_per_group +
                      IndexExpr::dim(input));
  domain.maps = {x, dy};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, const Conv& c, std::span<const Tensor* const> in) {
  Tensor dw(s.results[0]);
  Sums sums(dw.real.size());
  for_each_product(c, [&](size_t x, size_t w, size_t y) { sums.add(w, in[0]->real[x] * in[1]->real[y]); });
  dw.real = sums.totals();
  return {dw};
}

Grads grad(Builder& b, const Node& n, const Values& g, size_t axes) {
  const ValueId x = n.operands[0];
  const ValueId dy = n.operands[1];
  const Attrs forward = without_shape(n.attrs, "filter");
  const ValueId dx = b(conv_name(axes) + "_data_grad", {dy, g[0]}, with_shape(forward, "input", b.type(x).dims));
  return {dx, b(conv_name(axes), {x, g[0]}, forward)};
}

OpDef filter_grad(size_t axes) {
  const std::string name = conv_name(axes);
  return {.name = name + "_filter_grad",
          .doc = "gradient of " + name + " by its filter: each dy times the element its filter element read",
          .operands = {"x", "dy"},
          .results = {"dw"},
          .attrs = with_shape(conv_attributes(axes), "filter",
                              axes == 2 ? "shape of the filter, OHWI" : "shape of the filter, ODHWI"),
          .dtypes = kFloating,
          .kind = Contraction{[axes](const Signature& s) { return domain(of(s, axes)); }},
          .traits = {.convolution = ConvolutionRoles{.image = 0, .result = 1}},
          .infer = [axes](const Signature& s) { return infer(s, axes); },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval(s, of(s, axes), in); },
          .grad = [axes](Builder& b, const Node& n, const Values& g) { return grad(b, n, g, axes); },
          .samples = conv_samples(axes, [](const ConvCase& c) -> Sample {
            return {.shapes = {c.image, c.result}, .attrs = with_shape(c.attrs, "filter", c.filter)};
          })};
}

const RegisterOp conv2d_filter_grad(filter_grad(2));
const RegisterOp conv3d_filter_grad(filter_grad(3));

}  // namespace
}  // namespace heddle::ir
