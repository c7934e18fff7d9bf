#include "ir/evaluate/evaluate.h"

#include <fmt/format.h>

#include <deque>

#include "ir/check.h"
#include "ir/evaluate/evaluate_node.h"
#include "ir/scalars.h"
#include "ir/scan.h"

namespace heddle::ir {
namespace {

std::vector<Tensor> call(const Module& m, const Node& n, const Operands& operands, Precision precision) {
  const Graph* kernel = m.find_kernel(n.callee);
  HEDDLE_CHECK(kernel != nullptr, fmt::format("no kernel is called @{}", n.callee));
  if (kernel->scalars.empty()) return evaluate_values(m, *kernel, operands, kernel->outputs, precision);
  return evaluate_values(m, bind_scalars(*kernel, n.attrs), operands, kernel->outputs, precision);
}

Tensor row_of(const Tensor& all, const Type& row, int64_t at) {
  Tensor t(row);
  for (int64_t i = 0; i < t.elements(); ++i) t.copy(i, all, at * t.elements() + i);
  return t;
}

void put_row(Tensor& all, const Tensor& row, int64_t at) {
  for (int64_t i = 0; i < row.elements(); ++i) all.copy(at * row.elements() + i, row, i);
}

// Of one scan that is being evaluated.
class Turns {
 public:
  Turns(const Module& m, const Node& n, const Operands& operands) : body_(*m.find_body(n.callee)), operands_(operands) {
    carries_ = inputs_with(body_, Role::carry);
    const std::vector<ValueId> inputs = operand_inputs(body_);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (body_[inputs[i]].role == Role::carry) now_.push_back(*operands[i]);
    for (const ValueId v : carries_) requested_.push_back(next_of(body_, v));
    requested_.insert(requested_.end(), body_.outputs.begin(), body_.outputs.end());
    for (const ValueId v : body_.outputs) stacked_.emplace_back(stacked(body_[v].type, turns(n)));
  }

  template <class Run>
  void turn(int64_t row, Run run) {
    std::vector<Tensor> rows;
    rows.reserve(body_.inputs.size());
    Operands inputs;
    size_t carry = 0, operand = 0;
    for (const ValueId v : body_.inputs) {
      const Value& in = body_[v];
      if (in.role == Role::index) {
        rows.emplace_back(in.type).set(0, static_cast<double>(row));
        inputs.push_back(&rows.back());
        continue;
      }
      const Tensor& given = *operands_[operand++];
      if (in.role == Role::slice) rows.push_back(row_of(given, in.type, row));
      inputs.push_back(in.role == Role::carry ? &now_[carry++] : in.role == Role::slice ? &rows.back() : &given);
    }
    std::vector<Tensor> results = run(body_, inputs, requested_);
    for (size_t i = 0; i < stacked_.size(); ++i) put_row(stacked_[i], results[carries_.size() + i], row);
    results.resize(carries_.size());
    now_ = std::move(results);
  }

  std::vector<Tensor> results() {
    for (Tensor& t : stacked_) now_.push_back(std::move(t));
    return std::move(now_);
  }

 private:
  const Graph& body_;
  const Operands& operands_;
  std::vector<ValueId> carries_, requested_;
  std::vector<Tensor> now_, stacked_;  // of the carries; of the outputs
};

// The values of a run: inputs are borrowed, results owned until their last use.
class Slots {
 public:
  Slots(const Graph& g, const Operands& inputs, const std::vector<ValueId>& requested)
      : tensors_(g.value_count(), nullptr), owned_(g.value_count()), uses_(g.value_count()) {
    HEDDLE_CHECK(inputs.size() == g.inputs.size(), fmt::format("@{} takes {} inputs", g.name, g.inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) tensors_[index_of(g.inputs[i])] = inputs[i];
    for (size_t v = 0; v < uses_.size(); ++v) uses_[v] = g[ValueId{static_cast<int32_t>(v)}].uses.size();
    for (const ValueId v : requested) ++uses_[index_of(v)];
  }
  Operands operands(const Node& n) const {
    Operands list;
    for (const ValueId v : n.operands) list.push_back(tensors_[index_of(v)]);
    return list;
  }
  void define(ValueId v, Tensor t) {
    if (uses_[index_of(v)] == 0) return;
    owned_[index_of(v)] = std::move(t);
    tensors_[index_of(v)] = &owned_[index_of(v)];
  }
  void release(ValueId v) {
    if (--uses_[index_of(v)] == 0) owned_[index_of(v)] = Tensor();
  }
  Tensor take(ValueId v) {
    const size_t i = index_of(v);
    const bool last = --uses_[i] == 0 && tensors_[i] == &owned_[i];
    if (last) return std::move(owned_[i]);
    return *tensors_[i];
  }

 private:
  std::vector<const Tensor*> tensors_;
  std::vector<Tensor> owned_;
  std::vector<size_t> uses_;  // still to come
};

// The named tensors in the order of the graph's inputs; rounded copies where the precision asks for them.
class Inputs {
 public:
  Inputs(const Graph& g, const NamedTensors& named, Precision precision) {
    for (const ValueId v : g.inputs) {
      const auto it = named.find(g[v].name);
      if (it == named.end())
        throw UserError(ExitCode::failed, fmt::format("@{} needs a value for '%{}'", g.name, g[v].name));
      const Tensor& t = it->second;
      if (t.type != g[v].type)
        throw UserError(
            {}, fmt::format("'%{}' of @{} is {}, not {}", g[v].name, g.name, to_string(g[v].type), to_string(t.type)));
      const bool exact = precision == Precision::exact || !t.floating() || t.type.dtype == DType::f64;
      list.push_back(exact ? &t : &copies_.emplace_back(rounded(t)));
    }
  }
  Operands list;

 private:
  std::deque<Tensor> copies_;  // addresses stay valid
};

}  // namespace

std::vector<Tensor> evaluate_scan(const Module& m, const Node& n, const Operands& operands, Precision precision,
                                  EvaluateGraph evaluate_turn) {
  HEDDLE_CHECK(m.find_body(n.callee) != nullptr, fmt::format("no body is called @{}", n.callee));
  Turns all(m, n, operands);
  for (int64_t t = 0; t < turns(n); ++t)
    all.turn(is_reversed(n) ? turns(n) - 1 - t : t,
             [&](const Graph& body, const Operands& inputs, const std::vector<ValueId>& requested) {
               return evaluate_turn(m, body, inputs, requested, precision);
             });
  return all.results();
}

std::vector<Tensor> evaluate_node(const Module& m, const Graph& g, const Node& n, const Operands& operands,
                                  Precision precision) {
  if (std::holds_alternative<Call>(n.op->kind)) return call(m, n, operands, precision);
  if (is_scan(n)) return evaluate_scan(m, n, operands, precision, evaluate_values);
  if (n.op->traits.gathers_rows)
    throw UserError(n.loc, fmt::format("{} cannot be evaluated: it reads the data set, which is no value", n.op->name));
  if (!n.op->eval)
    throw UserError(n.loc, fmt::format("{} cannot be evaluated: run differentiate and decompose first", n.op->name));
  std::vector<Tensor> results = n.op->eval(signature(g, n), operands);
  HEDDLE_CHECK(results.size() == n.results.size(), fmt::format("{} computes a wrong number of results", n.op->name));
  for (size_t i = 0; i < results.size(); ++i) {
    HEDDLE_CHECK(results[i].type == g[n.results[i]].type, fmt::format("{} computes a wrong type", n.op->name));
    if (precision == Precision::rounded) results[i] = rounded(std::move(results[i]));
  }
  return results;
}

std::vector<Tensor> evaluate_values(const Module& m, const Graph& g, const Operands& inputs,
                                    const std::vector<ValueId>& requested, Precision precision) {
  Slots values(g, inputs, requested);
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    std::vector<Tensor> results = evaluate_node(m, g, n, values.operands(n), precision);
    for (size_t i = 0; i < results.size(); ++i) values.define(n.results[i], std::move(results[i]));
    for (const ValueId v : n.operands) values.release(v);
  }
  std::vector<Tensor> taken;
  taken.reserve(requested.size());
  for (const ValueId v : requested) taken.push_back(values.take(v));
  return taken;
}

Evaluation evaluate(const Module& m, const Graph& g, const NamedTensors& named, const EvaluateOptions& options) {
  const Inputs inputs(g, named, options.precision);
  std::vector<ValueId> requested = g.outputs;
  for (const Update& u : g.updates) requested.push_back(u.next);
  const auto run = options.through_arena ? evaluate_planned : evaluate_values;
  std::vector<Tensor> values = run(m, g, inputs.list, requested, options.precision);
  Evaluation result;
  const auto split = values.begin() + static_cast<std::ptrdiff_t>(g.outputs.size());
  for (size_t i = 0; i < g.updates.size(); ++i)
    result.updated[g[g.updates[i].state].name] = std::move(split[static_cast<std::ptrdiff_t>(i)]);
  values.erase(split, values.end());
  result.outputs = std::move(values);
  return result;
}

NamedTensors flatten_states(const Module& m, NamedTensors states) {
  for (const StateGroup& group : m.groups) {
    if (group.members.empty()) continue;
    Type type{group.members[0].type.dtype, {0}};
    for (const StateMember& member : group.members)
      type.dims[0] = std::max(type.dims[0], member.offset + member.type.elements());
    for (const Graph& g : m.graphs)  // padding may make it longer than its members
      if (const ValueId v = g.find(group.name); v.valid()) type = g[v].type;
    Tensor flat(type);
    for (const StateMember& member : group.members) {
      const auto it = states.find(member.name);
      if (it == states.end()) throw UserError(ExitCode::failed, fmt::format("no value for '%{}'", member.name));
      for (int64_t i = 0; i < member.type.elements(); ++i) flat.copy(member.offset + i, it->second, i);
      states.erase(it);
    }
    states[group.name] = std::move(flat);
  }
  return states;
}

NamedTensors unflatten_states(const Module& m, NamedTensors states) {
  for (const StateGroup& group : m.groups) {
    const auto it = states.find(group.name);
    if (it == states.end()) continue;
    const Tensor flat = std::move(it->second);
    states.erase(it);
    for (const StateMember& member : group.members) {
      Tensor t(member.type);
      for (int64_t i = 0; i < t.elements(); ++i) t.copy(i, flat, member.offset + i);
      states[member.name] = std::move(t);
    }
  }
  return states;
}

}  // namespace heddle::ir
