#include "frontend/training/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/training/parameter_patterns.h"

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

namespace {

constexpr int64_t kNeighbours = 4;  // of "2:4"

std::string state_of(const std::string& path) { return path + ".pruned"; }

// --- when, and how many ---

ValueId both(ir::Builder& b, ValueId first, ValueId second) { return b("and", {first, second}, {}, "prune.due"); }

// Whether the step that is being taken prunes; `next` is its number, i64[].
ValueId is_due(ir::Builder& b, const Prune& prune, ValueId next) {
  const auto number = [&](int64_t v) { return b.like(static_cast<double>(v), next); };
  const ValueId last = b("eq", {next, number(prune.end)}, {}, "prune.last");
  if (prune.begin == prune.end) return last;
  const ValueId since = b("sub", {next, number(prune.begin)}, {}, "prune.since");
  const ValueId rest = b("mod", {since, number(prune.every)}, {}, "prune.rest");
  const ValueId turn = b("or", {b("eq", {rest, number(0)}, {}, "prune.turn"), last}, {}, "prune.turn_or_last");
  return both(b, both(b, b("ge", {since, number(0)}, {}, "prune.begun"), turn),
              b("le", {next, number(prune.end)}, {}, "prune.not_over"));
}

// The share that is 0 behind the step, f64[].
ValueId share_at(ir::Builder& b, const Prune& prune, ValueId next) {
  if (prune.begin == prune.end) return b.constant(prune.amount, {DType::f64, {}});
  const ValueId left = b("sub", {b.like(static_cast<double>(prune.end), next), next}, {}, "prune.left");
  const ValueId steps = b.cast(left, DType::f64);
  const ValueId part = b("div", {steps, b.like(static_cast<double>(prune.end - prune.begin), steps)}, {}, "prune.part");
  const ValueId cube = b("mul", {b("mul", {part, part}, {}, "prune.square"), part}, {}, "prune.cube");
  const ValueId missing = b("mul", {cube, b.like(prune.amount, cube)}, {}, "prune.missing");
  return b("sub", {b.like(prune.amount, missing), missing}, {}, "prune.share");
}

// Of `elements`, i32[]: 0 in steps that do not prune.
ValueId count_at(ir::Builder& b, const Prune& prune, int64_t elements, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "prune.step");
  const ValueId share = share_at(b, prune, next);
  const ValueId exact = b("mul", {share, b.like(static_cast<double>(elements), share)}, {}, "prune.exact");
  const ValueId whole = b.cast(b("round", {exact}, {}, "prune.rounded"), DType::i32);
  return b("select", {is_due(b, prune, next), whole, b.like(0, whole)}, {}, "prune.count");
}

// --- in which order the elements stand ---

// The order of axes that makes the memory's [..] what the search takes; empty where that is as it is.
ir::Layout order_of(const Prune& prune, const Parameter& p) {
  if (!prune.two_of_four) return ir::inverse(p.layout);
  const int64_t input = p.outputs == 0 ? 1 : 0;
  ir::Layout order(p.type.dims.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = p.layout.empty() ? order.begin() + input
                                   : order.begin() + (std::ranges::find(p.layout, input) - p.layout.begin());
  std::iter_swap(at, order.end() - 1);
  return order;
}

bool moves(const ir::Layout& order) { return !std::ranges::is_sorted(order); }

Dims rows_of(const Prune& prune, const Parameter& p) {
  const int64_t elements = p.type.elements();
  return prune.two_of_four ? Dims{elements / kNeighbours, kNeighbours} : Dims{elements};
}

}  // namespace

bool is_pruned(const Train& train, const Parameter& p) {
  return train.prune && p.role == ir::Role::param && matches(train.prune->match, p.path) && !is_frozen(train, p);
}

ValueId pruned_state(ir::Graph& g, const Parameter& p) {
  const ValueId known = g.find(state_of(p.path));
  if (known.valid()) return known;
  return g.add_input(state_of(p.path), memory_type({DType::boolean, p.type.dims}, p.layout), ir::Role::state, p.layout);
}

ValueId zero_where(ir::Builder& b, ValueId pruned, ValueId v, std::string name) {
  b.prefix = name + ".zero";
  return b("select", {pruned, b.like(0, v), v}, {}, std::move(name) + ".kept");
}

ValueId prune_more(ir::Builder& b, const Prune& prune, const Parameter& p, ValueId next, ValueId step,
                   const SharedNumber& shared) {
  const Dims rows = rows_of(prune, p);
  const int64_t elements = rows.back();
  const ValueId count = shared(fmt::format("prune.{}", elements), [&] { return count_at(b, prune, elements, step); });
  const ValueId before = pruned_state(b.graph, p);
  b.prefix = p.path + ".prune";
  const ValueId size = b("abs", {next}, {}, p.path + ".magnitude");
  const ValueId key = b("select", {before, b.like(-1, size), size}, {}, p.path + ".key");
  const ir::Layout order = order_of(prune, p);
  const ValueId turned = moves(order) ? b("transpose", {key}, {{"perm", order}}, p.path + ".key.turned") : key;
  const Dims dims = b.type(turned).dims;
  const ValueId found = b("smallest", {b.reshape(turned, rows), count}, {}, p.path + ".chosen");
  ValueId chosen = b.reshape(found, dims);
  if (moves(order)) chosen = b("transpose", {chosen}, {{"perm", ir::inverse(order)}}, p.path + ".chosen.turned");
  return b("or", {before, chosen}, {}, p.path + ".pruned.next");
}

std::vector<const Parameter*> pruned_parameters(const Train& train, const std::vector<Parameter>& parameters) {
  std::vector<const Parameter*> found;
  for (const Parameter& p : parameters)
    if (is_pruned(train, p)) found.push_back(&p);
  return found;
}

void add_sparsity(ir::Graph& metrics, const std::vector<const Parameter*>& pruned) {
  ir::Builder b(metrics);
  const std::string name = kSparsity;
  ValueId zeros;
  int64_t elements = 0;
  for (const Parameter* p : pruned) {
    b.prefix = p->path + ".sparsity";
    const ir::Type type = memory_type(p->type, p->layout);
    const ValueId v = metrics.add_input(p->path, type, ir::Role::param, p->layout);
    Dims axes(type.dims.size());
    std::iota(axes.begin(), axes.end(), 0);
    const ValueId is_zero = b.cast(b("eq", {v, b.like(0, v)}, {}, p->path + ".is_zero"), DType::i64);
    const ValueId sum = axes.empty() ? is_zero : b("reduce_sum", {is_zero}, {{"axes", axes}}, p->path + ".zeros");
    zeros = zeros.valid() ? b("add", {zeros, sum}, {}, name + ".zeros") : sum;
    elements += type.elements();
  }
  const ValueId all = b.cast(zeros, DType::f64);
  b.prefix = name + ".elements";
  metrics.outputs.push_back(b("div", {all, b.like(static_cast<double>(elements), all)}, {}, name));
}

namespace {

Diagnostic from(const Parameter& p) { return {Severity::note, p.where, "the parameter comes from here", {}, {}}; }

// Why these weights have no "2:4", or "".
std::string misfit(const Parameter& p) {
  const std::string shape = fmt::format("'{}' is {}", p.path, ir::to_string(p.type));
  if (p.outputs < 0) return shape + ", which no product, convolution or lookup reads";
  const int64_t inputs = p.type.dims[p.outputs == 0 ? 1 : 0];
  return inputs % kNeighbours == 0 ? "" : fmt::format("{}: {} inputs are no multiple of 4", shape, inputs);
}

}  // namespace

void check_prune(const Train& train, const Instance& e, Diagnostics& errors) {
  const Prune& prune = *train.prune;
  check_patterns(prune.match, e, "prunes no parameter", errors);
  for (const Named& pattern : prune.match) {
    bool trained = false, known = false;
    for (const Parameter& p : e.parameters) {
      if (p.role != ir::Role::param || !matches({pattern}, p.path)) continue;
      known = true;
      if (is_frozen(train, p)) continue;
      trained = true;
      if (p.sparse)
        return errors.error(
            *p.sparse,
            fmt::format("train.prune compares all rows of '{}', and \"sparse\" renews a batch's alone", p.path),
            "leave out \"sparse\", or match other parameters",
            {{Severity::note, pattern.where, "it is pruned here", {}, {}}});
      if (const std::string fault = prune.two_of_four ? misfit(p) : ""; !fault.empty())
        return errors.error(pattern.where, fmt::format("\"2:4\" prunes four neighbouring inputs, and {}", fault),
                            "match other weights, or write a share such as \"amount\": 0.5", {from(p)});
    }
    if (known && !trained)
      errors.error(pattern.where,
                   fmt::format("{} prunes frozen parameters alone, which stay as they are", quote(pattern.text)),
                   "leave them out of \"freeze\", or match others");
  }
}

}  // namespace heddle::frontend
