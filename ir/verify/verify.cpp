#include "ir/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/builder.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/kernel/plan_primitive.h"
#include "ir/scalars.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/verify/verify_memory.h"
#include "ir/verify/verify_states.h"

namespace heddle::ir {
namespace {

class Verifier {
 public:
  Verifier(const Graph& g, const Module* m) : g_(g), m_(m), defined_(g.value_count(), false), met_(g.value_count()) {}

  std::vector<std::string> run() {
    for (const ValueId v : g_.inputs) define(v);
    roles();
    scalars();
    for (const NodeId n : g_.order) node(n);
    outputs();
    use_lists();
    if (g_.schedule && problems_.empty()) schedule();
    if (problems_.empty()) memory();
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format("@{}: {}", g_.name, fmt::format(text, std::forward<Args>(args)...)));
  }
  bool defined(ValueId v) const { return v.valid() && defined_[static_cast<size_t>(v.index)]; }
  const std::string& name(ValueId v) const { return g_[v].name; }

  void define(ValueId v) {
    if (defined(v)) problem("%{} is defined twice", name(v));
    defined_[static_cast<size_t>(v.index)] = true;
    if (!g_.is_found(v)) problem("the name %{} leads to another value", name(v));
    for (const int64_t d : g_[v].type.dims)
      if (d < 1) problem("%{} has dimension {}", name(v), d);
  }

  void roles() {
    if (g_.body)
      for (const std::string& text : body_problems(g_)) problem("{}", text);
    for (const Role r : {Role::cursor, Role::ring}) feeding(r);
    for (const ValueId v : g_.inputs) {
      const Role r = g_[v].role;
      const bool of_body = r == Role::fixed || r == Role::carry || r == Role::slice || r == Role::index;
      if (of_body && !g_.body) problem("%{} is {}, which only a body has", name(v), to_string(r));
      if (g_.body && !g_[v].layout.empty()) problem("%{} has a layout, and lies in no file", name(v));
    }
  }

  // The cursor, or the ring: words, and one of a graph.
  void feeding(Role role) {
    int count = 0;
    for (const ValueId v : g_.inputs) {
      if (g_[v].role != role) continue;
      if (++count > 1) problem("%{} is a second {}", name(v), to_string(role));
      const Type& t = g_[v].type;
      if (t.dtype != DType::u64 || t.rank() != 1) problem("%{} is {}, expected words u64[n]", name(v), to_string(t));
    }
  }

  void scalars() {
    if (!g_.schedule && !g_.scalars.empty()) problem("only a kernel takes scalars");
    for (size_t i = 0; i < g_.scalars.size(); ++i) {
      const Scalar& s = g_.scalars[i];
      const auto same = [&](const Scalar& earlier) { return earlier.name == s.name; };
      if (std::any_of(g_.scalars.begin(), g_.scalars.begin() + static_cast<std::ptrdiff_t>(i), same))
        problem("two scalars are called ${}", s.name);
      if (op_def("call").find_attr(s.name) != nullptr) problem("${} is an attribute of every call", s.name);
    }
  }

  void node(NodeId id) {
    const Node& n = g_[id];
    if (n.erased) return problem("an erased node is scheduled");
    for (const ValueId v : n.operands) {
      if (!defined(v)) return problem("{} reads %{} before it is defined", n.op->name, name(v));
      meet(v, id);
    }
    for (size_t i = 0; i < n.results.size(); ++i) {
      const Value& r = g_[n.results[i]];
      if (r.def != id || r.result_index != static_cast<int32_t>(i)) problem("%{} does not know its node", r.name);
      define(n.results[i]);
    }
    types(n);
    overwrites(n);
  }

  // What lies over an operand leaves nothing of it to others. A view of it would be one.
  void overwrites(const Node& n) {
    std::vector<OverwrittenInput> all;
    if (const auto* primitive = std::get_if<Primitive>(&n.op->kind))
      for (const Overwrite& o : primitive->overwrites) all.push_back({o.operand, o.result});
    if (const Graph* k = m_ == nullptr || n.callee.empty() ? nullptr : m_->find_kernel(n.callee))
      all = overwritten_inputs(*k);
    for (const OverwrittenInput& o : all) {
      if (o.input >= n.operands.size()) continue;  // told already
      const ValueId v = n.operands[o.input];
      const Node* def = g_.def(v);
      const std::string by = n.op->name + (n.callee.empty() ? "" : " @" + n.callee);
      if (g_.body) problem("{} overwrites %{}, which a turn must leave as it is", by, name(v));
      if (g_[v].uses.size() > 1 || g_.is_output(v) || g_.is_next(v) ||
          (def != nullptr && std::holds_alternative<Movement>(def->op->kind)))
        problem("{} overwrites %{}, which others read, too", by, name(v));
    }
  }

  // As canonical_attrs leaves them, found without a copy.
  static bool is_canonical(const Node& n) {
    const auto written = [&](const auto& attr) {
      const Key* def = n.op->find_attr(attr.first);
      return def != nullptr && holds(*def, attr.second) && def->fallback != attr.second;
    };
    const auto given = [&](const Key& def) { return !def.required || n.attrs.count(def.name) != 0; };
    return std::all_of(n.attrs.begin(), n.attrs.end(), written) &&
           std::all_of(n.op->attrs.begin(), n.op->attrs.end(), given);
  }

  void types(const Node& n) {
    std::vector<Type> expected;
    try {
      check_scalars(g_, n);
      const bool calls = std::holds_alternative<Call>(n.op->kind), scans = is_scan(n);
      if (scans) {
        if (!is_canonical(n)) canonical(n, canonical_attrs(*n.op, n.attrs));
        if (!scanned_types(n, expected)) return;
      } else if (!calls) {
        if (!is_canonical(n)) canonical(n, canonical_attrs(*n.op, n.attrs));
        applied_.op = n.op;
        applied_.attrs = n.attrs;
        applied_.operands.resize(n.operands.size());
        for (size_t i = 0; i < n.operands.size(); ++i) applied_.operands[i] = g_[n.operands[i]].type;
        expected = infer_types(applied_);
      } else if (!callee_types(n, expected)) {
        return;
      }
    } catch (const InferError& error) {
      return problem("%{}: {}", name(n.results.at(0)), error.what());
    }
    if (!are_of(n.results, expected)) problem("%{} has another type than {} gives", name(n.results.at(0)), n.op->name);
  }

  bool are_of(const Values& values, const std::vector<Type>& types) const {
    const auto is_of = [&](ValueId v, const Type& type) { return g_[v].type == type; };
    return std::equal(values.begin(), values.end(), types.begin(), types.end(), is_of);
  }

  void canonical(const Node& n, const Attrs& attrs) {
    if (!same(attrs, n.attrs)) problem("attributes of %{} are not canonical", name(n.results.at(0)));
  }

  // False when there is nothing to compare with.
  bool callee_types(const Node& n, std::vector<Type>& results) {
    if (m_ == nullptr) return false;
    const Graph* k = m_->find_kernel(n.callee);
    if (k == nullptr) {
      problem("no kernel @{}", n.callee);
      return false;
    }
    canonical(n, canonical_call_attrs(*n.op, *k, n.attrs));
    std::vector<Type> expected;
    for (const ValueId v : k->inputs) expected.push_back((*k)[v].type);
    for (const ValueId v : k->outputs) results.push_back((*k)[v].type);
    if (!are_of(n.operands, expected)) problem("operands of call @{} do not fit", n.callee);
    return true;
  }

  // The same of a scan. Bodies stand above what scans them, so that none runs itself.
  bool scanned_types(const Node& n, std::vector<Type>& results) {
    if (m_ == nullptr) return false;
    const Graph* body = m_->find_body(n.callee);
    if (body == nullptr || (g_.body && !stands_above(*body))) {
      problem("no body @{}{}", n.callee, body == nullptr ? "" : " above");
      return false;
    }
    std::vector<Type> operands;
    for (const ValueId v : n.operands) operands.push_back(g_[v].type);
    results = scan_types(*m_, *body, operands, n.attrs);
    return true;
  }

  bool stands_above(const Graph& body) const {
    for (const Graph& b : m_->bodies) {
      if (b.name == g_.name) return false;
      if (&b == &body) return true;
    }
    return false;
  }

  void outputs() {
    for (const ValueId v : g_.outputs)
      if (!defined(v)) problem("an output is not defined");
    std::set<ValueId> updated;
    for (const Update& u : g_.updates) {
      if (!defined(u.state) || !defined(u.next)) {
        problem("an update names an undefined value");
        continue;
      }
      if (!is_state(g_[u.state])) problem("update of %{}, which is no state", name(u.state));
      if (g_[u.state].type != g_[u.next].type) problem("update of %{} by another type", name(u.state));
      if (!updated.insert(u.state).second) problem("%{} is updated twice", name(u.state));
    }
  }

  // Most lists name the uses in the order of the graph: then counting them is enough.
  void meet(ValueId v, NodeId user) {
    size_t& met = met_[index_of(v)];
    const std::vector<NodeId>& listed = g_[v].uses;
    if (met < listed.size() && listed[met] == user)
      ++met;
    else
      met = kOutOfOrder;
  }

  void use_lists() {
    std::vector<std::vector<NodeId>> users(g_.value_count());
    for (const NodeId n : g_.order)
      for (const ValueId v : g_[n].operands)
        if (defined(v) && met_[index_of(v)] == kOutOfOrder) users[index_of(v)].push_back(n);
    for (size_t i = 0; i < users.size(); ++i) {
      const Value& v = g_[ValueId{static_cast<int32_t>(i)}];
      if (!defined_[i] || met_[i] == v.uses.size()) continue;
      std::vector<NodeId> listed = v.uses;
      std::sort(listed.begin(), listed.end());
      std::sort(users[i].begin(), users[i].end());
      if (listed != users[i]) problem("the use list of %{} is wrong", v.name);
    }
  }

  void schedule() {
    const std::string reason = calls_library(g_) ? library_conflict(g_) : conflict_with_plan(*g_.schedule);
    if (!reason.empty()) problem("cannot be executed as {}: {}", to_string(*g_.schedule), reason);
  }

  std::string conflict_with_plan(const KernelSchedule& f) const {
    const KernelPlan plan = plan_kernel(g_);
    return plan.ok() ? schedule_conflict(f, plan) : plan.reason;
  }

  void memory() {
    for (const std::string& text : verify_memory(g_, m_)) problem("{}", text);
  }

  const Graph& g_;
  const Module* m_;
  std::vector<char> defined_;
  static constexpr size_t kOutOfOrder = static_cast<size_t>(-1);
  std::vector<size_t> met_;  // by ValueId index: how many entries of its use list were met, in their order
  Signature applied_;        // of the last node that was no call: its memory serves the next one
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Graph& g, const Module* m) { return Verifier(g, m).run(); }

std::vector<std::string> verify(const Module& m) {
  std::vector<std::string> problems = verify_states(m);
  for (const auto* list : {&m.kernels, &m.bodies, &m.graphs})
    for (const Graph& g : *list)
      for (std::string& p : verify(g, &m)) problems.push_back(std::move(p));
  return problems;
}

}  // namespace heddle::ir
