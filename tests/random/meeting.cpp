// What kernels of several phases are made for: a row is reduced, the result meets the row again, and elements of one
// value meet at two indices.
#include <algorithm>

#include "tests/random/growing_graph.h"

namespace heddle::testing {
using namespace ir;
namespace {

// An operator of two or more operands reads v and w's value `other`, which is of v's type.
void join(GrowingGraph& w, ValueId v, ValueId other) {
  std::vector<const OpDef*> list;
  for (const OpDef* op : random_ops())
    if (op->operands.size() > 1 && std::holds_alternative<Elementwise>(op->kind)) list.push_back(op);
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto i = random_instance(*w.random.pick(list), w.random, w.limits, w.type(v));
    if (!i) continue;
    Values operands;
    bool first = true;
    for (size_t k = 0; k < i->operands.size(); ++k) {
      const bool alike = i->operands[k] == w.type(v);
      operands.push_back(alike ? (first ? v : other) : choose_operand(w, *i, k));
      first = first && !alike;
    }
    w.add(*i, operands);
    return;
  }
}

Dims all_but(const Dims& axes, int64_t rank) {
  Dims kept;
  for (int64_t d = 0; d < rank; ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) kept.push_back(d);
  return kept;
}

// v with what remains of it where some axes are reduced, repeated along them: v - mean(v).
ValueId reduced_and_repeated(GrowingGraph& w, ValueId v) {
  static const std::vector<std::string> reductions = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"};
  const int64_t rank = w.type(v).rank();
  Dims axes;
  for (int64_t d = 0; d < rank; ++d)
    if (w.random.chance(d + 1 == rank ? 70 : 30)) axes.push_back(d);
  if (axes.empty()) axes.push_back(rank - 1);
  const ValueId r = w.b(w.random.pick(reductions), {v}, {{"axes", axes}});
  w.values.push_back(r);
  const Dims shape = w.type(v).dims;
  return w.b("broadcast", {r}, {{"dims", all_but(axes, rank)}, {"shape", shape}});
}

}  // namespace

void add_meeting(GrowingGraph& w) {
  if (w.values.empty()) return;
  const ValueId v = w.recent();
  const bool reduces = is_floating(w.type(v).dtype) && w.type(v).rank() > 0 && w.random.chance(50);
  join(w, v, reduces ? reduced_and_repeated(w, v) : reread(w, v));
}

}  // namespace heddle::testing
