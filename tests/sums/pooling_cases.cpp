// Averages of windows, of whole images too, and the way back, where an element collects from all windows that hold it.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/ops/window.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

struct Pooled {
  Type image, result;
  Attrs attrs;
  Pool geometry;
};

Pooled draw_pool(Draw& d, DType dtype) {
  constexpr int64_t kMostWindows = 1'000'000'000;  // elements of all windows
  const int64_t channels = d.length(1, 16), images = d.length(1, 4);
  const int64_t most = std::max<int64_t>(1, d.most / (channels * images));
  const bool whole = d.chance(40);
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(d.terms(1, most))));
  const int64_t size = whole ? side : std::max<int64_t>(1, d.length(1, side));
  const int64_t each = channels * images * size * size, outputs = std::max<int64_t>(1, kMostWindows / 10 / each);
  const int64_t apart =
      static_cast<int64_t>(std::sqrt(static_cast<double>(side * side) / static_cast<double>(outputs)));
  const int64_t stride = std::max<int64_t>({1, apart, d.length(1, size) / (d.chance(50) ? 1 : 4)});
  const int64_t pad = whole ? 0 : d.below(1 + std::min<int64_t>(size / 2, 3));
  Pooled p{{dtype, {images, side, side, channels}}, {}, {}, {}};
  p.attrs = {{"window", Dims{size, size}}, {"strides", Dims{stride, stride}}, {"pads", Dims{pad, pad, pad, pad}}};
  Signature s;
  s.op = &op_def("avg_pool2d");
  s.operands = {p.image};
  s.attrs = canonical_attrs(*s.op, p.attrs);
  p.result = {dtype, pooled_operand(s, 2)};
  p.geometry = pool(s, 2, p.image.dims);
  return p;
}

template <class F>
void each_window(const Pooled& p, F&& f) {
  int64_t o = 0;
  for_each_point(p.result.dims, [&](const Dims& at) {
    for_each_tap(p.geometry, p.image.dims, at, [&](int64_t, int64_t element) {
      if (element >= 0) f(o, element);
    });
    ++o;
  });
}

std::string words(const Pooled& p, Kind kind) {
  return fmt::format("{} {} image {}, windows {} every {}", to_string(kind), to_string(p.image.dtype),
                     to_string(p.image.dims), p.geometry.axes[0].size, p.geometry.axes[0].stride);
}

}  // namespace

SumCase pooling(Draw& d) {
  const DType dtype = d.dtype();
  const Pooled p = draw_pool(d, dtype);
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, p.image.dims[1] * p.image.dims[2], d.seed);
  const int64_t channels = p.image.dims[3], positions = p.image.dims[1] * p.image.dims[2];
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  const ValueId x = add_input(
      c, "x", column_of(p.image, [&](int64_t i) { return numbers.at(i % channels, i / channels % positions); }));
  const bool counted = d.chance(50);
  Attrs attrs = p.attrs;
  attrs["count_include_pad"] = counted;
  c.graph().outputs = {Builder(c.graph())("avg_pool2d", {x}, attrs)};
  std::vector<Exact> sums(static_cast<size_t>(p.result.elements()));
  std::vector<int64_t> inside(sums.size());
  each_window(p, [&](int64_t window, int64_t element) {
    sums[static_cast<size_t>(window)].add(c.inputs.at("x").at(element));
    ++inside[static_cast<size_t>(window)];
  });
  Expected e{dtype, {}, {}};
  for (size_t i = 0; i < sums.size(); ++i) {
    const Exact mean = sums[i].over(static_cast<double>(counted ? p.geometry.taps() : inside[i]));
    e.add(mean, allowed(inside[i], dtype, mean.size, 2));
  }
  c.outputs = {std::move(e)};
  c.title = words(p, kind);
  return c;
}

SumCase pooling_gradient(Draw& d) {
  const DType dtype = d.dtype();
  const Pooled p = draw_pool(d, dtype);
  const Kind kind = d.kind();
  const int64_t channels = p.result.dims[3], windows = p.result.dims[1] * p.result.dims[2];
  const Numbers numbers(kind, dtype, windows, d.seed);
  SumCase c;
  c.module.graphs.emplace_back().name = "sums";
  const ValueId dy = add_input(
      c, "dy", column_of(p.result, [&](int64_t i) { return numbers.at(i % channels, i / channels % windows); }));
  Attrs attrs = p.attrs;
  attrs["input"] = p.image.dims;
  c.graph().outputs = {Builder(c.graph())("avg_pool2d_grad", {dy}, attrs)};
  std::vector<Exact> sums(static_cast<size_t>(p.image.elements()));
  each_window(p, [&](int64_t window, int64_t element) {
    sums[static_cast<size_t>(element)].add(c.inputs.at("dy").at(window));
  });
  Expected e{dtype, {}, {}};
  for (const Exact& sum : sums) {
    const Exact mean = sum.over(static_cast<double>(p.geometry.taps()));
    e.add(mean, allowed(std::min(windows, p.geometry.taps()), dtype, mean.size, 2));
  }
  c.outputs = {std::move(e)};
  c.title = words(p, kind);
  return c;
}

}  // namespace heddle::testing
