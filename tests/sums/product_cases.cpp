// Products with a long inner side, and convolutions with theirs: forward and both gradients.
#include <fmt/format.h>

#include <cmath>

#include "ir/builder.h"
#include "ir/ops/convolution.h"
#include "tests/sums/sum_case.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr int64_t kMostProducts = 100'000'000;  // of the exact sums

// What the other side of a product is: 1, one number, or numbers around 1.
Column factors(const Draw& d, const Type& type, int64_t which) {
  const double one = which == 0 ? 1 : 0.7;
  return column_of(
      type, [&](int64_t i) { return which < 2 ? one : 0.5 + unit(mixed(d.seed + 1, static_cast<uint64_t>(i))); });
}

// So many products a library adds in order (runtime/host/onednn_builder.h), each with half a unit's
// rounding: beside the rule. Kernels of matrix products that are not cut begin anew every few
// hundred.
int64_t of_products(int64_t k) { return k > 4096 ? 0 : 512; }
constexpr int64_t kOfConvolutions = 2048;

Expected held(const std::vector<Exact>& sums, int64_t n, DType dtype, int64_t in_order) {
  Expected e{dtype, {}, {}};
  const double of_library = static_cast<double>(std::min(n, in_order)) / 2;
  for (const Exact& sum : sums) e.add(sum, allowed(n, dtype, sum.size, 2 + of_library));
  return e;
}

struct Sides {
  int64_t m, n, k;
  bool ta, tb;
};

Sides draw_sides(Draw& d) {
  const int64_t most = d.pick<int64_t>({1, 4, 16, 64}), m = d.length(1, most), n = d.length(1, most);
  const int64_t k = d.terms(1, std::min(d.most / std::max(m, n), kMostProducts / (m * n)));
  return {m, n, k, d.chance(50), d.chance(50)};
}

}  // namespace

SumCase product(Draw& d) {
  const Sides s = draw_sides(d);
  const DType dtype = d.dtype();
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, s.k, d.seed);
  SumCase c;
  c.library = d.chance(60);
  c.module.graphs.emplace_back().name = "sums";
  const Dims left = s.ta ? Dims{s.k, s.m} : Dims{s.m, s.k}, right = s.tb ? Dims{s.n, s.k} : Dims{s.k, s.n};
  const auto numbered = [&](int64_t i) { return s.ta ? numbers.at(i % s.m, i / s.m) : numbers.at(i / s.k, i % s.k); };
  const ValueId a = add_input(c, "a", column_of({dtype, left}, numbered));
  const ValueId w = add_input(c, "w", factors(d, {dtype, right}, d.below(3)));
  const Column &x = c.inputs.at("a"), &y = c.inputs.at("w");
  std::vector<Exact> sums(static_cast<size_t>(s.m * s.n));
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t k = 0; k < s.k; ++k)
        sums[static_cast<size_t>(i * s.n + j)].add_product(x.at(s.ta ? k * s.m + i : i * s.k + k),
                                                           y.at(s.tb ? j * s.k + k : k * s.n + j));
  c.graph().outputs = {Builder(c.graph())("matmul", {a, w}, {{"transpose_a", s.ta}, {"transpose_b", s.tb}})};
  c.outputs = {held(sums, s.k, dtype, c.library && dtype == DType::f32 ? of_products(s.k) : 0)};
  c.title = fmt::format("{}: {} x {} x {} of {} {}, {}", c.library ? "library" : "generated", s.m, s.k, s.n,
                        to_string(kind), to_string(dtype),
                        s.ta   ? s.tb ? "both transposed" : "left transposed"
                        : s.tb ? "right transposed"
                               : "as they lie");
  return c;
}

namespace {

// The operands of a convolution and of its gradients, of which each is a sum over another one's axes.
struct Convolved {
  Type image, filter, result;
  Attrs attrs;
  Conv geometry;
};

Convolved draw_convolution(Draw& d, DType dtype) {
  constexpr int64_t kMostChannels = 8, kMostSide = 512;
  const int64_t tap = d.pick<int64_t>({1, 3, 3, 5}), stride = d.chance(70) ? 1 : 2, pad = d.below(1 + tap / 2);
  const int64_t in = 1 + d.below(kMostChannels), out = 1 + d.below(kMostChannels), each = tap * tap * in * out;
  const int64_t positions = d.terms(1, std::min(d.most / std::max(in, out), kMostProducts / each));
  const int64_t side =
      std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(positions)), tap, 1 + d.below(kMostSide) + tap);
  const int64_t images = std::max<int64_t>(1, positions / (side * side));
  Convolved c{{dtype, {images, side, side, in}}, {dtype, {out, tap, tap, in}}, {}, {}, {}};
  c.attrs = {{"strides", Dims{stride, stride}}, {"pads", Dims{pad, pad, pad, pad}}};
  c.result = infer_types(op_def("conv2d"), {c.image, c.filter}, c.attrs)[0];
  Signature s;
  s.op = &op_def("conv2d");
  s.operands = {c.image, c.filter};
  s.results = {c.result};
  s.attrs = canonical_attrs(*s.op, c.attrs);
  c.geometry = conv(s, 2, c.image, c.filter);
  return c;
}

enum class Of { result, image, filter };

// By element of what is asked for: the exact sums, and how many products each holds.
void add_products(const Convolved& g, Of of, const Column& a, const Column& b, std::vector<Exact>& sums) {
  for_each_product(g.geometry, [&](size_t image, size_t filter, size_t result) {
    const auto at = [](const Column& c, size_t i) { return c.at(static_cast<int64_t>(i)); };
    if (of == Of::result) sums[result].add_product(at(a, image), at(b, filter));
    if (of == Of::image) sums[image].add_product(at(a, result), at(b, filter));
    if (of == Of::filter) sums[filter].add_product(at(a, image), at(b, result));
  });
}

}  // namespace

SumCase convolution(Draw& d) {
  const DType dtype = d.chance(60) ? DType::f32 : d.dtype();
  const Convolved g = draw_convolution(d, dtype);
  const Of of = d.pick<Of>({Of::result, Of::image, Of::filter, Of::filter, Of::filter});
  const Dims &image = g.image.dims, &filter = g.filter.dims, &result = g.result.dims;
  const int64_t taps = filter[1] * filter[2], positions = result[0] * result[1] * result[2];
  const int64_t terms = of == Of::filter ? positions : taps * (of == Of::result ? image[3] : result[3]);
  const Kind kind = d.kind();
  const Numbers numbers(kind, dtype, terms, d.seed);
  SumCase c;
  c.library = d.chance(70);
  c.module.graphs.emplace_back().name = "sums";
  const Type &first = of == Of::image ? g.result : g.image, &second = of == Of::filter ? g.result : g.filter;
  const int64_t channels = first.dims[3];
  const auto numbered = [&](int64_t i) { return numbers.at(i % channels, i / channels % terms); };
  const ValueId a = add_input(c, "a", column_of(first, numbered));
  const ValueId b = add_input(c, "b", factors(d, second, d.below(3)));
  Attrs attrs = g.attrs;
  std::string op = "conv2d";
  if (of == Of::image) attrs["input"] = image, op = "conv2d_data_grad";
  if (of == Of::filter) attrs["filter"] = filter, op = "conv2d_filter_grad";
  c.graph().outputs = {Builder(c.graph())(op, {a, b}, attrs)};
  const Type& made = of == Of::result ? g.result : of == Of::image ? g.image : g.filter;
  std::vector<Exact> sums(static_cast<size_t>(made.elements()));
  add_products(g, of, c.inputs.at("a"), c.inputs.at("b"), sums);
  c.outputs = {held(sums, terms, dtype, c.library && dtype == DType::f32 ? kOfConvolutions : 0)};
  c.title = fmt::format("{}: {} of image {} and filter {}, {} {}", c.library ? "library" : "generated", op,
                        to_string(image), to_string(filter), to_string(kind), to_string(dtype));
  return c;
}

}  // namespace heddle::testing
