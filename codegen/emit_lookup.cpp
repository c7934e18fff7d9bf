// Text of lookups: an index is loaded and checked once, and is then used as a coordinate.
//
//   gather(%table: f32[100,64], %ids: i32[8])   ->   const int id = hd::index<int>(ids_in[row]);
//                                                    const bool id_inside = hd::inside(id, 100);
//                                                    const int id_bound = id_inside ? id : 0;
//                                                    const float table = table_in[id_bound * 64 + column];
//                                                    const float y = id_inside ? table : hd::nothing<float>();
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "codegen/emit_body.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

bool depends_from(const IndexExpr& e, size_t first) {
  return std::any_of(e.terms.begin(), e.terms.end(), [&](const IndexTerm& t) {
    return t.kind == IndexTerm::Kind::dim ? static_cast<size_t>(t.dim) >= first : depends_from(t.inner[0], first);
  });
}

bool depends_from(const IndexMap& at, size_t first) {
  return std::any_of(at.results.begin(), at.results.end(),
                     [&](const IndexExpr& e) { return depends_from(e, first); }) ||
         std::any_of(at.guards.begin(), at.guards.end(), [&](const Guard& g) { return depends_from(g.expr, first); });
}

}  // namespace

Body::Bound Body::bind(const Node& n, const IndexMap& at, int64_t extent) {
  const Operand index = value(n.operands[1], at);
  const std::string name = text_.names.fresh(k_[n.operands[1]].name + "_bound"), inside = name + "_inside";
  line_in(index.scope, fmt::format("const bool {} = hd::inside({}, {});", inside, index.text, extent));
  line_in(index.scope, fmt::format("const {0} {1} = {2} ? ({0}){3} : 0;", text_.index_type, name, inside, index.text));
  return {name, inside, index.scope};
}

// The value at an access with bound coordinates. Known values of other lookups use the same coordinate numbers with
// other meanings, so they are hidden meanwhile.
Operand Body::at_bound(ValueId v, const IndexMap& at, size_t first, const std::vector<Bound>& bound) {
  const auto of_bound = [&](const Known& known) { return depends_from(known.at, first); };
  std::vector<Known> hidden;
  std::copy_if(known_.begin(), known_.end(), std::back_inserter(hidden), of_bound);
  std::erase_if(known_, of_bound);
  std::vector<std::string> coordinates = coordinates_;
  const auto before = std::make_pair(first_bound_, bound_scopes_);
  coordinates_.resize(first);
  if (first_bound_ >= first) bound_scopes_.clear(), first_bound_ = first;
  bound_scopes_.resize(first - first_bound_);
  for (const Bound& b : bound) {
    coordinates_.push_back(b.coordinate);
    bound_scopes_.push_back(b.scope);
  }
  Operand operand = value(v, at);
  coordinates_ = std::move(coordinates);
  std::tie(first_bound_, bound_scopes_) = before;
  std::erase_if(known_, of_bound);
  known_.insert(known_.end(), hidden.begin(), hidden.end());
  return operand;
}

Operand Body::lookup(ValueId v, const Node& n, const Signature& s, const IndexMap& at) {
  const LookupAccess access = lookup_access(s, std::get<Lookup>(n.op->kind), at);
  std::vector<Bound> bound;
  std::vector<std::string> inside;
  for (size_t b = 0; b < access.bound.size(); ++b) {
    bound.push_back(bind(n, access.indices[b], access.bound[b]));
    inside.push_back(bound.back().inside);
  }
  Operand element = at_bound(n.operands[0], access.element, at.extents.size(), bound);
  for (const Bound& b : bound) element.scope = std::max(element.scope, b.scope);
  return named(v,
               fmt::format("{} ? {} : hd::nothing<{}>()", joined(inside, " && "), element.text,
                           compute_type(s.results[0].dtype)),
               element.scope, n.loc);
}

}  // namespace heddle::codegen
