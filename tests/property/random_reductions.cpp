// Contractions, reductions, windows, composites; and sources, which have operands no more than shapes.
#include <algorithm>

#include "ir/op_def.h"
#include "tests/property/random_values.h"

namespace heddle::testing {
using namespace ir;

void add_contraction(RandomValues& r) {
  const ValueId x = r.recent();
  const Dims dims = r.type(x).dims;
  if (dims.size() == 4 && r.chance(70)) {
    const ValueId w =
        r.param({2, 1 + r.below(std::min<int64_t>(3, dims[1])), 1 + r.below(std::min<int64_t>(3, dims[2])), dims[3]});
    r.keep(r.b("conv2d", {x, w}, {{"strides", Dims{1 + r.below(2), 1}}}));
  } else if (dims.size() == 2) {
    const bool ta = r.chance(30), tb = r.chance(50);
    const int64_t k = dims[ta ? 0 : 1], n = 1 + r.below(6);
    const ValueId w = r.param(tb ? Dims{n, k} : Dims{k, n});
    r.keep(r.b("matmul", {x, r.chance(20) && tb ? r.b("transpose", {r.param({k, n})}, {{"perm", Dims{1, 0}}}) : w},
               {{"transpose_a", ta}, {"transpose_b", tb}}));
  }
}

void add_reduction(RandomValues& r) {
  const ValueId x = r.recent();
  Dims axes;
  for (int64_t i = 0; i < r.type(x).rank(); ++i)
    if (r.chance(50)) axes.push_back(i);
  const char* ops[] = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"};
  if (r.options.smooth) return r.keep(r.b(ops[r.below(2)], {x}, {{"axes", axes}}));
  if (r.type(x).rank() > 0 && r.chance(15)) return r.keep(r.b("argmax", {r.pick(r.exact)}, {{"axis", int64_t{0}}}));
  r.keep(r.b(ops[r.below(4)], {x}, {{"axes", axes}}));
}

void add_pooling(RandomValues& r) {
  const ValueId x = r.recent();
  const Dims dims = r.type(x).dims;
  if (dims.size() != 4 || dims[1] < 2 || dims[2] < 2) return;
  const Attrs attrs{
      {"window", Dims{2, 2}}, {"strides", Dims{1 + r.below(2), 1 + r.below(2)}}, {"pads", Dims{0, 0, 0, 0}}};
  r.keep(r.b.multi(r.chance(50) ? "max_pool2d" : "avg_pool2d", {x}, attrs)[0]);
}

void add_composite(RandomValues& r) {
  const ValueId x = r.recent();
  const Dims dims = r.type(x).dims;
  if (dims.empty()) return;
  switch (r.below(r.options.smooth ? 2 : 5)) {
    case 0:
      return r.keep(
          r.b(r.chance(50) ? "softmax" : "log_softmax", {x}, {{"axis", r.below(static_cast<int64_t>(dims.size()))}}));
    case 1: return r.keep(r.b("layer_norm", {x, r.param({dims.back()}), r.param({dims.back()})}));
    case 2: return r.keep(r.b("squared_norm", {within(r, x, op_def("square")), r.partner(x)}));
    case 3: return r.keep(r.b("dropout", {x, r.seed, r.step}, {{"rate", 0.5}, {"stream", r.below(1000)}}));
    default: break;
  }
  if (dims.size() != 2) return;
  const ValueId labels = r.b("iota", {}, {{"shape", Dims{dims[0]}}});
  const ValueId last = r.b.like(static_cast<double>(dims[1] - 1), labels);
  r.keep(r.b("cross_entropy", {x, r.b("min", {labels, last})}));
}

void add_source(RandomValues& r) {
  const Dims dims = r.small_shape();
  if (r.chance(50))
    return r.keep(r.b(r.chance(50) ? "random_uniform" : "random_normal", {r.seed, r.step},
                      {{"shape", dims}, {"stream", r.below(3)}}));
  r.keep(r.b("iota", {}, {{"shape", dims}, {"dtype", "f32"}, {"axis", r.below(static_cast<int64_t>(dims.size()))}}));
}

}  // namespace heddle::testing
