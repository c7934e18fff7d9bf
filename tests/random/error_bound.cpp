#include "tests/random/error_bound.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "tests/random/operator_bound.h"

namespace heddle::testing {
using namespace ir;

namespace {

void widen(Bounded& b, double relative) {
  for (size_t i = 0; i < b.error.size(); ++i) b.error[i] += relative * std::abs(b.value.real[i]);
}

}  // namespace

BoundedEvaluation evaluate_with_bounds(const Graph& g, const NamedTensors& inputs, Precision precision,
                                       double normal_f64) {
  std::vector<Bounded> values(g.value_count());
  const auto at = [&](ValueId v) -> Bounded& { return values[static_cast<size_t>(v.index)]; };
  for (const ValueId v : g.inputs) {
    const Tensor& t = inputs.at(g[v].name);
    at(v) = {t, std::vector<double>(static_cast<size_t>(t.elements()), 0)};
  }
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    std::vector<const Bounded*> operands;
    for (const ValueId v : n.operands) operands.push_back(&at(v));
    std::vector<Bounded> results = evaluate_bounded(signature(g, n), operands, precision);
    if (n.op->name == "random_normal" && results[0].value.type.dtype == DType::f64) widen(results[0], normal_f64);
    for (size_t i = 0; i < results.size(); ++i) at(n.results[i]) = std::move(results[i]);
  }
  BoundedEvaluation done;
  for (const ValueId v : g.outputs) done.outputs.push_back(at(v));
  for (const Update& u : g.updates) done.updated[g[u.state].name] = at(u.next);
  return done;
}

std::string compare(const Bounded& expected, const Tensor& got) {
  if (expected.value.type != got.type)
    return fmt::format("is {}, expected {}", to_string(got.type), to_string(expected.value.type));
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double bound = expected.error[static_cast<size_t>(i)];
    if (bound == std::numeric_limits<double>::infinity()) continue;
    const double apart = distance(expected.value, got, i);
    if (!(apart <= bound))
      return fmt::format("element {} of {}: expected {}, got {}, {} apart where {} are allowed", i, to_string(got.type),
                         element_text(expected.value, i), element_text(got, i), apart, bound);
  }
  return {};
}

}  // namespace heddle::testing
