#include "tests/property/random_values.h"

#include <algorithm>

namespace heddle::testing {
using namespace ir;

RandomValues::RandomValues(const std::string& name, uint32_t random_seed, const RandomGraphOptions& graph_options)
    : options(graph_options), random(random_seed), b(g) {
  g.name = name;
  seed = g.add_input(name + ".seed", {DType::i64, {}}, Role::state);
  step = g.add_input(name + ".step", {DType::i64, {}}, Role::state);
  for (const Dims& dims : {Dims{6, 5}, Dims{2, 6, 5, 3}, small_shape()}) exact.push_back(input(dims));
  if (!options.smooth) exact.push_back(g.add_input(name + ".i", {DType::i32, {6, 5}}, Role::input));
  values = exact;
}

Dims RandomValues::small_shape() {
  Dims dims;
  for (int64_t rank = 1 + below(3); rank > 0; --rank) dims.push_back(1 + below(6));
  return dims;
}

ValueId RandomValues::param(const Dims& dims) {
  params.push_back(g.add_input(g.name + ".w", {DType::f32, dims}, Role::param));
  return params.back();
}

void RandomValues::keep(ValueId v) {
  if (g[v].type.elements() <= kMaxElements) values.push_back(v);
}

ValueId RandomValues::recent() {
  for (int attempt = 0; attempt < 30; ++attempt) {
    const ValueId v =
        chance(50) ? values[values.size() - 1 -
                            static_cast<size_t>(below(std::min<int64_t>(5, static_cast<int64_t>(values.size()))))]
                   : pick(values);
    if (type(v).dtype == DType::f32) return v;
  }
  return values[0];
}

ValueId RandomValues::partner(ValueId v) {
  const Type t = type(v);
  Values same;
  for (ValueId other : values)
    if (type(other) == t) same.push_back(other);
  if (chance(60)) return pick(same);
  const double constants[] = {0, 1, -1, 2, 0.5};
  if (t.dtype != DType::f32 || chance(40))
    return b.constant(
        t.dtype == DType::boolean || is_integer(t.dtype) ? static_cast<double>(below(2)) : constants[below(5)], t);
  const ValueId w = param(t.dims.empty() || chance(50) ? t.dims : Dims{t.dims.back()});
  return b.broadcast_to(w, t.dims);
}

}  // namespace heddle::testing
