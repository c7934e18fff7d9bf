#include "codegen/emit_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "codegen/scalar_functions.h"
#include "ir/check.h"
#include "ir/inner_text.h"
#include "ir/visit.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

size_t highest_coordinate(const IndexExpr& e) {
  size_t covers = 0;
  for (const IndexTerm& t : e.terms)
    covers = std::max(covers,
                      t.kind == IndexTerm::Kind::dim ? static_cast<size_t>(t.dim) + 1 : highest_coordinate(t.inner[0]));
  return covers;
}

std::string place_comment(const Location& loc) {
  if (!loc.valid()) return {};
  // The folder is left out, so that copies of a model in other folders have equal text and share an entry in the kernel
  // cache.
  std::string place = own_place(to_string(loc));
  place.erase(0, place.rfind('/') + 1);
  return "  // " + comment_text(place);
}

Body::Body(KernelText& text)
    : text_(text), k_(text.kernel), coordinates_{"row", "column"}, written_(text.plan.kept.size()) {
  open(/*covers=*/0);
}

void Body::add_coordinates(const std::vector<std::string>& names) {
  coordinates_.insert(coordinates_.end(), names.begin(), names.end());
}

void Body::open(size_t covers, bool packet) { scopes_.push_back({covers, packet, {}}); }

std::vector<std::string> Body::close() {
  const size_t closed = scopes_.size() - 1;
  std::erase_if(known_, [&](const Known& known) { return known.operand.scope >= closed; });
  std::vector<std::string> lines = std::move(scopes_.back().lines);
  scopes_.pop_back();
  return lines;
}

void Body::lines(const std::vector<std::string>& all) {
  scopes_.back().lines.insert(scopes_.back().lines.end(), all.begin(), all.end());
}

size_t Body::scope_for(size_t covers, bool on_column) const {
  for (size_t i = 0; i < scopes_.size(); ++i)
    if (scopes_[i].covers >= covers && !(scopes_[i].packet && on_column)) return i;
  return scopes_.size() - 1;
}

size_t Body::loops_covered(const IndexExpr& e, size_t& scope) const {
  size_t covers = 0;
  for (const IndexTerm& t : e.terms) {
    if (t.kind != IndexTerm::Kind::dim)
      covers = std::max(covers, loops_covered(t.inner[0], scope));
    else if (static_cast<size_t>(t.dim) < first_bound_)
      covers = std::max(covers, static_cast<size_t>(t.dim) + 1);
    else
      scope = std::max(scope, bound_scopes_[static_cast<size_t>(t.dim) - first_bound_]);
  }
  return covers;
}

size_t Body::scope_of(const IndexExpr& e) const {
  size_t scope = 0;
  const size_t covers = loops_covered(e, scope);
  return std::max(scope, scope_for(covers, depends_on(e, kColumn)));
}

size_t Body::scope_of(const IndexMap& access) const {
  size_t scope = 0;
  for (const IndexExpr& e : access.results) scope = std::max(scope, scope_of(e));
  for (const Guard& g : access.guards) scope = std::max(scope, scope_of(g.expr));
  return scope;
}

Operand Body::named(ValueId v, const std::string& expression, size_t scope, const Location& loc) {
  const std::string name = text_.names.fresh(k_[v].name);
  line_in(scope,
          fmt::format("const {} {} = {};{}", compute_type(k_[v].type.dtype), name, expression, place_comment(loc)));
  return {name, scope};
}

Operand Body::value(ValueId v, const IndexMap& wanted) {
  const IndexMap at = computed_at(wanted, k_[v].type.dims);
  for (const Known& known : known_)
    if (known.v == v && known.at == at) return known.operand;
  Operand got = compute_or_load(v, at);
  know(v, at, got);
  return got;
}

Operand Body::compute_or_load(ValueId v, const IndexMap& at) {
  for (size_t i = 0; phase_ && i < text_.kept.size(); ++i) {
    const KeptValue& kept = text_.plan.kept[i];
    if (kept.value == v && kept.at == at && written_[i] && kept.phase < *phase_)
      return named(v, kept_at(i), scopes_.size() - 1, {});
  }
  const Node* n = k_.def(v);
  return n == nullptr ? load(v, at) : compute(v, *n, at);
}

void Body::know(ValueId v, const IndexMap& at, const Operand& operand) {
  known_.push_back({v, at, operand});
  for (size_t i = 0; phase_ && i < text_.kept.size(); ++i) {
    const KeptValue& kept = text_.plan.kept[i];
    if (kept.value != v || kept.at != at || kept.phase != *phase_ || scopes_[operand.scope].covers <= kColumn) continue;
    line_in(operand.scope, fmt::format("{} = {};", kept_at(i), operand.text));
    written_[i] = true;
  }
}

std::string Body::kept_at(size_t i) const {
  return fmt::format("{}[slot]{}", text_.kept[i], text_.vector_width > 1 ? "[k]" : "[0]");
}

// --- nodes ---

// Replaces the names of the kernel's scalars in the attributes by the names of parameters in the text.
Signature Body::with_parameters(Signature s) const {
  for (auto& [name, value] : s.attrs)
    if (auto* scalar = std::get_if<ScalarName>(&value); scalar != nullptr)
      value = ScalarName(text_.scalars.at(scalar->name));
  return s;
}

Operand Body::compute(ValueId v, const Node& n, const IndexMap& at) {
  if (const auto it = defined_.find(v); it != defined_.end()) {
    const size_t covers = defined_covers(v);
    return {it->second, scope_for(covers, covers > kColumn)};
  }
  const Signature s = with_parameters(signature(k_, n));
  return visit_kind(
      *n.op, [&](const Movement&) { return move(v, n, s, at); }, [&](const Source&) { return source(v, n, s, at); },
      [&](const Elementwise&) { return elementwise(v, n, s, at); }, [&](const Lookup&) { return lookup(v, n, s, at); },
      [&](const OneOf<Reduction, Contraction> auto&) { return reduce(v, n, s, at); },
      [&](const OneOf<Primitive, Composite, Gradient, Call, Scan> auto&) -> Operand {
        HEDDLE_CHECK(false, n.op->name + " is in no kernel's text");
        return {};
      });
}

Operand Body::elementwise(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  std::vector<std::string> arguments;
  size_t scope = 0;
  for (const ValueId o : n.operands) {
    const Operand operand = value(o, at);
    arguments.push_back(operand.text);
    scope = std::max(scope, operand.scope);
  }
  return named(v, elementwise_call(s, arguments), scope, n.loc);
}

// The first operand whose guards hold, else the fill. A movement that only changes the index has no statement of its
// own.
Operand Body::move(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  const std::vector<IndexMap> accesses = operand_accesses(s, std::get<Movement>(n.op->kind), at);
  std::string expression;
  size_t scope = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const std::string guard = guard_text(accesses[i], coordinates_);
    if (guard == "false") continue;  // no element of this part of the columns comes from this operand
    Operand operand = value(n.operands[i], accesses[i]);
    scope = std::max({scope, operand.scope, guard.empty() ? 0 : scope_of(accesses[i])});
    if (guard.empty() && expression.empty()) return operand;
    if (guard.empty()) return named(v, expression + operand.text, scope, n.loc);
    expression += fmt::format("{} ? {} : ", guard, operand.text);
  }
  const double fill = s.op->find_attr("fill") != nullptr ? s.real("fill") : 0;
  return named(v, expression + literal(fill, s.results[0].dtype), scope, n.loc);
}

// The linear index. If it runs along a group of four random numbers, it is the index of the group and the position in
// it.
std::string Body::element_index(const IndexExpr& linear, const IndexMap& at) const {
  if (!text_.groups || !neighbours_in_packets(linear, 4)) return index(linear, at.extents);
  return fmt::format("hd::Element{{{}, k}}", index_text(linear, at.extents, at_packet()));
}

Operand Body::source(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  const auto& source = std::get<Source>(n.op->kind);
  std::vector<std::string> arguments;
  size_t scope = 0;
  for (size_t i = 0; i < n.operands.size(); ++i) {
    const Operand operand = value(n.operands[i], access_at(at.extents, 0, s.operands[i].dims));
    arguments.push_back(operand.text);
    scope = std::max(scope, operand.scope);
  }
  std::string i_text, k_text;
  if (mentions(source.expr, "i")) {
    const IndexExpr linear = linear_offset(at, s.results[0].dims);
    i_text = element_index(linear, at);
    scope = std::max(scope, scope_of(linear));
  }
  if (source.k) {
    const IndexExpr k = source_k(s, source, at);
    k_text = index(k, at.extents);
    scope = std::max(scope, scope_of(k));
  }
  const std::string call = source_call(s, arguments, i_text, k_text);
  return i_text.empty() && k_text.empty() && arguments.empty() ? Operand{call, 0} : named(v, call, scope, n.loc);
}

// --- what the schedules add ---

void Body::define(ValueId v, const std::string& text) { defined_[v] = text; }

size_t Body::defined_covers(ValueId v) const {
  const Extent extent = text_.plan.of(v).extent;
  return extent == Extent::row ? 1 : extent == Extent::column ? 2 : 0;
}

void Body::take(ValueId v, const IndexMap& at, const std::string& expression) {
  known_.push_back({v, at, named(v, expression, scopes_.size() - 1, {})});
}

void Body::store(const loop::Store& store, const std::string& condition) {
  const Operand operand = value(store.value, store.at);
  const IndexExpr linear = linear_offset(store.at, k_[store.value].type.dims);
  if (store.extent == Extent::full && text_.vector_width > 1)
    return store_packet(store.value, operand, linear, store.at);
  std::vector<std::string>& to = store.extent == Extent::full ? stores_ : scopes_.back().lines;
  for (const std::string& pointer : text_.outputs.at(store.value))
    to.push_back(fmt::format("{}{}[{}] = {};", condition, pointer, index(linear, store.at.extents), operand.text));
}

void Body::accumulate(const loop::Accumulate& add, const std::string& accumulator, const std::string& condition) {
  const Node& n = k_[add.reduction];
  std::string guards;
  const std::string statement = add_text(n, signature(k_, n), add.element, accumulator, guards);
  line(condition + statement);
}

}  // namespace heddle::codegen
