#include "ir/ops/convolution.h"

#include "ir/builder.h"
#include "ir/evaluate/sums.h"

namespace heddle::ir {
namespace {

Conv of(const Signature& s, size_t axes) { return conv(s, axes, s.operands[0], s.operands[1]); }

// Result (n, oh, ow, o), summed over (kh, kw, i).
ReductionDomain domain(const Conv& c) {
  const int channel = c.rank() + 1, tap = channel + 1, input = tap + c.rank();
  ReductionDomain domain;
  domain.extents = c.taps();
  domain.extents.push_back(c.in_per_group);
  IndexMap x;
  x.extents = c.result;
  x.extents.insert(x.extents.end(), domain.extents.begin(), domain.extents.end());
  IndexMap w{.extents = x.extents, .results = {IndexExpr::dim(channel)}, .guards = {}};
  for (int d = tap; d <= input; ++d) w.results.push_back(IndexExpr::dim(d));
  x.results.push_back(IndexExpr::dim(0));
  for (int i = 0; i < c.rank(); ++i) read_input(x, c.axes[static_cast<size_t>(i)], i + 1, tap + i);
  x.results.push_back(floor_div(IndexExpr::dim(channel), c.out_per_group, x.extents) * c.in_per_group +
                      IndexExpr::dim(input));
  domain.maps = {x, w};
  return domain;
}

std::vector<Tensor> eval(const Signature& s, const Conv& c, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  if (!y.floating()) {  // unsigned, so that it may wrap
    for_each_product(c, [&](size_t x, size_t w, size_t o) {
      const uint64_t term = static_cast<uint64_t>(in[0]->integer[x]) * static_cast<uint64_t>(in[1]->integer[w]);
      y.integer[o] = static_cast<int64_t>(static_cast<uint64_t>(y.integer[o]) + term);
    });
    for (int64_t& v : y.integer) v = wrap_to(y.type.dtype, v);
    return {y};
  }
  Sums sums(y.real.size());
  for_each_product(c, [&](size_t x, size_t w, size_t o) { sums.add(o, in[0]->real[x] * in[1]->real[w]); });
  y.real = sums.totals();
  return {y};
}

Grads grad(Builder& b, const Node& n, const Values& dy) {
  const ValueId x = n.operands[0];
  const ValueId w = n.operands[1];
  const ValueId dx = b(n.op->name + "_data_grad", {dy[0], w}, with_shape(n.attrs, "input", b.type(x).dims));
  return {dx, b(n.op->name + "_filter_grad", {x, dy[0]}, with_shape(n.attrs, "filter", b.type(w).dims))};
}

// Floating, and i32: what sums of whole numbers in bytes are of.
std::vector<DType> dtypes() {
  std::vector<DType> all = kFloating;
  all.push_back(DType::i32);
  return all;
}

OpDef convolution(size_t axes, const std::string& doc, const Decoding* decoding) {
  return {.name = conv_name(axes),
          .doc = doc,
          .operands = {"x", "w"},
          .attrs = conv_attributes(axes),
          .dtypes = dtypes(),
          .kind = Contraction{[axes](const Signature& s) { return domain(of(s, axes)); }},
          .traits = {.convolution = ConvolutionRoles{.image = 0, .filter = 1}},
          .infer = [axes](const Signature& s) -> std::vector<Type> {
            return {{s.operands[0].dtype, of(s, axes).result}};
          },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval(s, of(s, axes), in); },
          .grad = grad,
          .decoding = decoding,
          .samples = conv_samples(axes, [](const ConvCase& c) -> Sample {
            return {.shapes = {c.image, c.filter}, .attrs = c.attrs};
          })};
}

const RegisterOp conv2d(convolution(
    2,
    "y[n,oh,ow,o] = sum over kh,kw,i of x[n, oh*stride+kh*dilation-pad, ..., i] * w[o,kh,kw,i]; x is NHWC, w "
    "is OHWI (KRSC), output channels see the input channels of their group. A cross-correlation, as in PyTorch",
    &conv2d_decoding()));
const RegisterOp conv3d(convolution(
    3,
    "y[n,od,oh,ow,o] = sum over kd,kh,kw,i of x[n, od*stride+kd*dilation-pad, ..., i] * w[o,kd,kh,kw,i]: conv2d over "
    "volumes; x is NDHWC, w is ODHWI",
    /*decoding=*/nullptr));

}  // namespace
}  // namespace heddle::ir
