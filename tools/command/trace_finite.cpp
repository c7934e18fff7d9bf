#include "tools/command/trace_finite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ir/builder.h"
#include "ir/dependencies.h"
#include "ir/evaluate/evaluate_node.h"
#include "ir/scan.h"

namespace heddle::tools {
namespace {

using ir::Graph;
using ir::Node;
using ir::Tensor;
using ir::ValueId;

constexpr size_t kMostElements = 64;               // of a value that are followed
constexpr int64_t kMostPoints = int64_t{1} << 20;  // of a reduction, for one element

size_t index(ValueId v) { return static_cast<size_t>(v.index); }

bool is_bad(const Tensor& t, int64_t i) { return t.floating() && !std::isfinite(t.real[static_cast<size_t>(i)]); }
bool has_bad(const Tensor& t) {
  return std::ranges::any_of(t.real, [](double x) { return !std::isfinite(x); });
}
std::vector<int64_t> bad_elements(const Tensor& t) {
  std::vector<int64_t> list;
  for (size_t i = 0; i < t.real.size() && list.size() < kMostElements; ++i)
    if (!std::isfinite(t.real[i])) list.push_back(static_cast<int64_t>(i));
  return list;
}

// A mean computes a sum first. On a device that adds floats, this sum can overflow where the oracle's sum of doubles
// does not.
void overflow_sums(const Graph& g, const Node& n, size_t result, Tensor& made) {
  const auto* reduction = std::get_if<ir::Reduction>(&n.op->kind);
  if (reduction == nullptr || !made.floating() || made.type.dtype == ir::DType::f64) return;
  if (reduction->finish.at(result).find("count") == std::string::npos) return;
  const auto count = static_cast<double>(reduction->domain(ir::signature(g, n)).counted());
  for (double& x : made.real)
    if (std::abs(x) * count > std::numeric_limits<float>::max())
      x = std::copysign(std::numeric_limits<double>::infinity(), x);
}

enum class Sums { wide, narrow };

// The values of a graph, evaluated on demand. Keeps what the search needs: operands and results of nodes with nan or
// infinities.
class Values {
 public:
  Values(const ir::Module& m, const Graph& g, Sums sums)
      : m_(m), g_(g), sums_(sums), tensors_(g.value_count()), kept_(g.value_count()) {}
  Sums sums() const { return sums_; }
  void set(ValueId v, Tensor t) { tensors_[index(v)] = std::move(t), kept_[index(v)] = true; }
  const Tensor& operator[](ValueId v) const { return tensors_[index(v)]; }

  // The results of a node for these operands.
  std::vector<Tensor> results_of(const Node& n, const ir::Operands& operands) const {
    std::vector<Tensor> results;
    if (sums_ == Sums::narrow) results = evaluate_parts(n, operands);
    if (results.empty()) results = ir::evaluate_node(m_, g_, n, operands, ir::Precision::rounded);
    for (size_t i = 0; sums_ == Sums::narrow && i < results.size(); ++i) overflow_sums(g_, n, i, results[i]);
    return results;
  }

  // Those of `targets`, which stay.
  void evaluate(const std::vector<ValueId>& targets) {
    const std::vector<char> wanted = ir::dependencies(g_, targets);
    for (const ValueId v : targets) kept_[index(v)] = true;
    std::vector<size_t> uses(g_.value_count());
    const auto runs = [&](const Node& n) {
      return std::ranges::any_of(n.results, [&](ValueId v) { return wanted[index(v)]; });
    };
    for (const ir::NodeId id : g_.order)
      if (runs(g_[id]))
        for (const ValueId v : g_[id].operands) ++uses[index(v)];
    for (const ir::NodeId id : g_.order) {
      const Node& n = g_[id];
      if (!runs(n)) continue;
      evaluate(n);
      for (const ValueId v : n.operands)
        if (--uses[index(v)] == 0 && !kept_[index(v)]) tensors_[index(v)] = Tensor();
    }
  }

 private:
  // Of a composite by the operators that define it, as a device does: its own oracle has no sum on its way. Nothing of
  // another operator.
  std::vector<Tensor> evaluate_parts(const Node& n, const ir::Operands& operands) const {
    if (!std::holds_alternative<ir::Composite>(n.op->kind) || !n.op->decomposition) return {};
    Graph part;
    Node node = n;
    for (ValueId& v : node.operands) v = part.add_input(g_[v].name, g_[v].type, ir::Role::input);
    std::vector<std::string> names;
    std::vector<ir::Type> types;
    for (const ValueId v : n.results) names.push_back(g_[v].name), types.push_back(g_[v].type);
    node.results = part[part.add_node(*n.op, node.operands, n.attrs, names, types, n.loc)].results;
    ir::Builder b(part);
    const ir::Values made = n.op->decomposition(b, node);
    if (made.empty()) return {};
    Values values(m_, part, sums_);
    for (size_t i = 0; i < operands.size(); ++i) values.set(node.operands[i], *operands[i]);
    values.evaluate(made);
    std::vector<Tensor> results;
    results.reserve(made.size());
    for (const ValueId v : made) results.push_back(values[v]);
    return results;
  }

  void evaluate(const Node& n) {
    ir::Operands operands;
    for (const ValueId v : n.operands) operands.push_back(&tensors_[index(v)]);
    std::vector<Tensor> results = results_of(n, operands);
    const bool bad = std::ranges::any_of(results, has_bad);
    for (size_t i = 0; i < results.size(); ++i) {
      tensors_[index(n.results[i])] = std::move(results[i]);
      kept_[index(n.results[i])] = kept_[index(n.results[i])] || bad;
    }
    if (bad)
      for (const ValueId v : n.operands) kept_[index(v)] = true;
  }

  const ir::Module& m_;
  const Graph& g_;
  Sums sums_;
  std::vector<Tensor> tensors_;
  std::vector<bool> kept_;
};

ir::Dims coordinates_of(int64_t element, const ir::Dims& dims) {
  ir::Dims at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) at[d] = element % dims[d], element /= dims[d];
  return at;
}
int64_t element_at(const ir::Dims& at, const ir::Dims& dims) {
  int64_t element = 0;
  for (size_t d = 0; d < dims.size(); ++d) element = element * dims[d] + at[d];
  return element;
}

struct Read {
  size_t operand = 0;
  int64_t element = 0;
};

// Which elements that are not finite an element of a node's result is made of.
class Reads {
 public:
  Reads(const Graph& g, const Node& n, const Values& values) : n_(n), values_(values), s_(ir::signature(g, n)) {}

  std::vector<Read> of(size_t result, int64_t element) const {
    if (std::holds_alternative<ir::Elementwise>(n_.op->kind)) return of_elementwise(element);
    const ir::Dims at = coordinates_of(element, s_.results[result].dims);
    if (const auto* m = std::get_if<ir::Movement>(&n_.op->kind)) return of_movement(*m, at);
    if (const auto* r = std::get_if<ir::Reduction>(&n_.op->kind)) return of_domain(r->domain(s_), at);
    if (const auto* c = std::get_if<ir::Contraction>(&n_.op->kind)) return of_domain(c->domain(s_), at);
    if (std::holds_alternative<ir::Composite>(n_.op->kind)) return of_composite(result, element);
    return all();
  }

 private:
  const Tensor& operand(size_t i) const { return values_[n_.operands[i]]; }

  std::vector<Read> all() const {
    std::vector<Read> reads;
    for (size_t i = 0; i < n_.operands.size(); ++i)
      for (const int64_t e : bad_elements(operand(i))) reads.push_back({i, e});
    return reads;
  }

  // Of several such elements, a small set, found by bisection, that still makes the result not finite. The others may
  // lie in other rows, or be masked.
  std::vector<Read> of_composite(size_t result, int64_t element) const {
    std::vector<Read> reads;
    for (size_t i = 0; i < n_.operands.size(); ++i)
      for (int64_t e = 0; e < operand(i).elements(); ++e)
        if (is_bad(operand(i), e)) reads.push_back({i, e});
    while (reads.size() > 1) {
      const auto middle = reads.begin() + std::ssize(reads) / 2;
      const std::vector<Read> front(reads.begin(), middle), back(middle, reads.end());
      if (is_bad_with(front, result, element))
        reads = front;
      else if (is_bad_with(back, result, element))
        reads = back;
      else
        break;
    }
    if (reads.size() > kMostElements) reads.resize(kMostElements);
    return reads;
  }
  // Whether the result is not finite where these are the only ones that are not; the others are 1.
  bool is_bad_with(const std::vector<Read>& reads, size_t result, int64_t element) const {
    std::vector<Tensor> given;
    for (size_t i = 0; i < n_.operands.size(); ++i) {
      Tensor& t = given.emplace_back(operand(i));
      for (int64_t e = 0; e < t.elements(); ++e)
        if (is_bad(t, e)) t.set(e, 1);
    }
    for (const Read& r : reads) given[r.operand].set(r.element, operand(r.operand).at(r.element));
    ir::Operands all;
    all.reserve(given.size());
    for (const Tensor& t : given) all.push_back(&t);
    return is_bad(values_.results_of(n_, all)[result], element);
  }

  // Of several such operands, those that change the result: a select uses one of its operands; nan propagates.
  std::vector<Read> of_elementwise(int64_t element) const {
    std::vector<Read> reads, needed;
    for (size_t i = 0; i < n_.operands.size(); ++i)
      if (is_bad(operand(i), element)) reads.push_back({i, element});
    const double made = with(element, n_.operands.size());
    for (const Read& r : reads) {
      const double other = with(element, r.operand);
      if (other != made && !(std::isnan(other) && std::isnan(made))) needed.push_back(r);
    }
    return needed.empty() ? reads : needed;
  }
  // The result where operand i is 1 there.
  double with(int64_t element, size_t i) const {
    ir::Signature one = s_;
    for (ir::Type& t : one.operands) t.dims.clear();
    for (ir::Type& t : one.results) t.dims.clear();
    std::vector<Tensor> given;
    std::vector<const Tensor*> operands;
    given.reserve(n_.operands.size());
    for (size_t k = 0; k < n_.operands.size(); ++k) {
      Tensor& t = given.emplace_back(one.operands[k]);
      t.copy(0, operand(k), element);
      if (k == i) t.set(0, 1);
    }
    operands.reserve(given.size());
    for (const Tensor& t : given) operands.push_back(&t);
    return ir::rounded(std::move(n_.op->eval(one, operands).at(0))).at(0);
  }

  void add(std::vector<Read>& reads, size_t i, const ir::IndexMap& map, const ir::Dims& at) const {
    const int64_t element = element_at(map.apply(at), s_.operands[i].dims);
    if (reads.size() < kMostElements && is_bad(operand(i), element)) reads.push_back({i, element});
  }
  std::vector<Read> of_movement(const ir::Movement& movement, const ir::Dims& at) const {
    std::vector<Read> reads;
    const std::vector<ir::IndexMap> maps = movement.maps(s_);
    const auto map = std::ranges::find_if(maps, [&](const ir::IndexMap& m) { return m.contains(at); });
    if (map != maps.end()) add(reads, static_cast<size_t>(map - maps.begin()), *map, at);
    return reads;
  }
  std::vector<Read> of_domain(const ir::ReductionDomain& domain, const ir::Dims& at) const {
    const int64_t points = ir::product(domain.extents);
    if (points > kMostPoints) return all();
    std::vector<Read> reads;
    for (int64_t p = 0; p < points; ++p) {
      ir::Dims point = at;
      const ir::Dims turn = coordinates_of(p, domain.extents);
      point.insert(point.end(), turn.begin(), turn.end());
      const bool counts = std::ranges::all_of(domain.maps, [&](const ir::IndexMap& m) { return m.contains(point); });
      for (size_t i = 0; counts && i < domain.maps.size() && i < n_.operands.size(); ++i)
        if (operand(i).floating()) add(reads, i, domain.maps[i], point);
    }
    return reads;
  }

  const Node& n_;
  const Values& values_;
  ir::Signature s_;
};

// An element that is not finite and has reached a target, with what it was read for.
struct Met {
  ValueId value;
  int64_t element = 0;
  const Met* by = nullptr;  // nullptr: a target
};

class Trace {
 public:
  Trace(const ir::Module& m, const Graph& g, const Values& values)
      : m_(m), g_(g), values_(values), met_(g.value_count()) {}

  std::optional<Origin> back_from(const std::vector<ValueId>& targets) {
    for (const ValueId v : targets)
      for (const int64_t e : bad_elements(values_[v])) meet({v, e, nullptr});
    for (auto it = g_.order.rbegin(); it != g_.order.rend(); ++it) walk(g_[*it]);
    for (const ValueId v : g_.inputs)
      for (const auto& [element, met] : met_[index(v)]) (g_.body ? given_ : made_).push_back(&met);
    if (const Met* first = first_of(made_)) return origin(*first);
    if (const Met* first = first_of(given_)) return origin(maker_behind(*first));
    return std::nullopt;
  }

 private:
  void meet(const Met& met) {
    std::map<int64_t, Met>& known = met_[index(met.value)];
    if (known.size() < kMostElements) known.emplace(met.element, met);
  }

  void walk(const Node& n) {
    const Reads reads(g_, n, values_);
    for (size_t r = 0; r < n.results.size(); ++r)
      for (const auto& [element, met] : met_[index(n.results[r])]) {
        const std::vector<Read> list = reads.of(r, element);
        for (const Read& read : list) meet({n.operands[read.operand], read.element, &met});
        if (list.empty()) (n.operands.empty() ? given_ : made_).push_back(&met);
      }
  }

  int place_of(const Met& met) const {
    const Node* n = g_.def(met.value);
    if (n == nullptr) return -1;
    const auto at = std::ranges::find_if(g_.order, [&](ir::NodeId id) { return &g_[id] == n; });
    return static_cast<int>(at - g_.order.begin());
  }
  const Met* first_of(const std::vector<const Met*>& list) const {
    const auto at =
        std::ranges::min_element(list, {}, [&](const Met* m) { return std::pair(place_of(*m), m->element); });
    return at == list.end() ? nullptr : *at;
  }

  // Of infinities that are given: the first result that is nan, else the first that is no copy of them.
  const Met& maker_behind(const Met& given) const {
    const Met* other = nullptr;
    for (const Met* m = &given; m != nullptr; m = m->by) {
      const Node* n = g_.def(m->value);
      if (std::isnan(value_of(*m)) && m != &given) return *m;
      const bool copies = n == nullptr || n->operands.empty() || std::holds_alternative<ir::Movement>(n->op->kind);
      if (other == nullptr && !copies) other = m;
    }
    return other != nullptr ? *other : given;
  }
  double value_of(const Met& met) const { return values_[met.value].at(met.element); }

  Origin origin(const Met& met) const {
    Origin made{.graph = &g_,
                .node = g_.def(met.value),
                .result = met.value,
                .element = met.element,
                .value = value_of(met),
                .operands = {},
                .largest = 0,
                .turns = {}};
    if (made.node == nullptr) return made;
    if (ir::is_scan(*made.node))
      if (std::optional<Origin> inside = in_turns(*made.node)) return *inside;
    for (const ValueId v : made.node->operands) {
      const Tensor& t = values_[v];
      if (!t.floating()) continue;
      if (std::holds_alternative<ir::Elementwise>(made.node->op->kind)) made.operands.push_back(t.at(met.element));
      for (const double x : t.real) made.largest = std::max(made.largest, std::abs(x));
    }
    return made;
  }

  std::optional<Origin> in_turns(const Node& scan) const;

  const ir::Module& m_;
  const Graph& g_;
  const Values& values_;
  std::vector<std::map<int64_t, Met>> met_;  // by value and element; addresses stay
  std::vector<const Met*> made_, given_;     // of finite operands, or in the graph's inputs; constants
};

Tensor row_of(const Tensor& all, const ir::Type& row, int64_t at) {
  Tensor t(row);
  for (int64_t i = 0; i < t.elements(); ++i) t.copy(i, all, at * t.elements() + i);
  return t;
}

// Turn after turn, up to the first whose results are not finite where the scan's are.
std::optional<Origin> Trace::in_turns(const Node& scan) const {
  const Graph& body = *m_.find_body(scan.callee);
  const std::vector<ValueId> carries = ir::inputs_with(body, ir::Role::carry);
  std::map<ValueId, Tensor> now;
  const int64_t count = ir::turns(scan);
  for (int64_t t = 0; t < count; ++t) {
    const int64_t row = ir::is_reversed(scan) ? count - 1 - t : t;
    Values values(m_, body, values_.sums());
    size_t operand = 0;
    for (const ValueId v : body.inputs) {
      const ir::Value& in = body[v];
      if (in.role == ir::Role::index) {
        Tensor number(in.type);
        number.set(0, static_cast<double>(row));
        values.set(v, std::move(number));
        continue;
      }
      const Tensor& given = values_[scan.operands[operand++]];
      if (in.role == ir::Role::slice)
        values.set(v, row_of(given, in.type, row));
      else if (in.role == ir::Role::carry && t > 0)
        values.set(v, now.at(v));
      else
        values.set(v, given);
    }
    std::vector<ValueId> results, wanted;
    for (const ValueId v : carries) results.push_back(ir::next_of(body, v));
    results.insert(results.end(), body.outputs.begin(), body.outputs.end());
    values.evaluate(results);
    for (size_t i = 0; i < results.size(); ++i)
      if (!met_[index(scan.results[i])].empty() && has_bad(values[results[i]])) wanted.push_back(results[i]);
    if (!wanted.empty()) {
      std::optional<Origin> found = Trace(m_, body, values).back_from(wanted);
      const auto at = std::ranges::find_if(g_.order, [&](ir::NodeId id) { return &g_[id] == &scan; });
      if (found) found->turns.insert(found->turns.begin(), {static_cast<size_t>(at - g_.order.begin()), row});
      if (found && found->node == nullptr) return std::nullopt;
      return found;
    }
    for (size_t i = 0; i < carries.size(); ++i) now.insert_or_assign(carries[i], values[results[i]]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Origin> trace_not_finite(const ir::Module& m, const Graph& g, const ir::NamedTensors& inputs,
                                       const std::vector<std::vector<ValueId>>& targets) {
  for (const Sums sums : {Sums::wide, Sums::narrow})
    for (const std::vector<ValueId>& some : targets) {
      Values values(m, g, sums);
      for (const ValueId v : g.inputs) values.set(v, ir::rounded(inputs.at(g[v].name)));
      values.evaluate(some);
      if (std::ranges::none_of(some, [&](ValueId v) { return has_bad(values[v]); })) continue;
      return Trace(m, g, values).back_from(some);
    }
  return std::nullopt;
}

}  // namespace heddle::tools
