#include "ir/kernel/access.h"

#include <algorithm>
#include <cctype>

#include "ir/check.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

IndexExpr row() { return IndexExpr::dim(kRow); }
IndexExpr column() { return IndexExpr::dim(kColumn); }

// The value of one expression over the coordinates that `map` yields.
IndexExpr through(const IndexMap& map, const IndexExpr& e, const Dims& dims) {
  return compose(map, {.extents = dims, .results = {e}, .guards = {}}).results[0];
}

Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Coordinates of the result and of the reduction at a point -> what each operand is read at.
ReductionAccess reduction_at(const ReductionDomain& d, const Dims& result, const IndexMap& point) {
  ReductionAccess access;
  for (const IndexMap& m : d.maps) access.operands.push_back(compose(point, m));
  const Dims coordinates = joined(result, d.extents);
  IndexExpr k;
  if (d.k) {
    k = *d.k;
  } else {
    const Dims strides = row_major_strides(d.extents);
    for (size_t i = 0; i < strides.size(); ++i)
      k = k + IndexExpr::dim(static_cast<int>(result.size() + i)) * strides[i];
  }
  access.k = through(point, k, coordinates);
  access.count = d.counted();
  return access;
}

}  // namespace

IndexMap access_at(const Dims& extents, const IndexExpr& linear, const Dims& dims) {
  IndexMap map{.extents = extents, .results = {}, .guards = {}};
  const Dims strides = row_major_strides(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    const IndexExpr rest = floor_div(linear, std::max<int64_t>(strides[d], 1), extents);
    map.results.push_back(modulo(rest, std::max<int64_t>(dims[d], 1), extents));
  }
  return map;
}

IndexMap access_of(Extent extent, const Dims& space, const Dims& dims) {
  switch (extent) {
    case Extent::full: return access_at(space, simplify(row() * space[kColumn] + column(), space), dims);
    case Extent::row: return access_at(space, row(), dims);
    case Extent::column: return access_at(space, column(), dims);
    case Extent::scalar: break;
  }
  return access_at(space, 0, dims);
}

IndexMap computed_at(const IndexMap& at, const Dims& dims) {
  return product(dims) == 1 ? access_at(at.extents, 0, dims) : at;
}

Extent extent_of(const IndexExpr& e) {
  return depends_on(e, kColumn) ? Extent::full : depends_on(e, kRow) ? Extent::row : Extent::scalar;
}

Extent extent_of(const IndexMap& access) {
  Extent most = Extent::scalar;
  const auto add = [&](const IndexExpr& e) {
    const Extent here = extent_of(e);
    if (here == Extent::full || most == Extent::scalar) most = here;
  };
  for (const IndexExpr& e : access.results) add(e);
  for (const Guard& g : access.guards) add(g.expr);
  return most;
}

std::vector<IndexMap> operand_accesses(const Signature& s, const Movement& m, const IndexMap& result) {
  std::vector<IndexMap> accesses;
  for (const IndexMap& map : m.maps(s)) accesses.push_back(compose(result, map));
  return accesses;
}

LookupAccess lookup_access(const Signature& s, const Lookup& lookup, const IndexMap& result) {
  const LookupDomain d = lookup.domain(s);
  LookupAccess access{.bound = d.extents, .indices = {}, .element = {}};
  for (const IndexMap& map : d.indices) access.indices.push_back(compose(result, map));
  IndexMap point = result;
  point.extents = joined(result.extents, d.extents);
  for (size_t b = 0; b < d.extents.size(); ++b)
    point.results.push_back(IndexExpr::dim(static_cast<int>(result.extents.size() + b)));
  access.element = compose(point, d.map);
  return access;
}

IndexExpr source_k(const Signature& s, const Source& source, const IndexMap& result) {
  return source.k ? through(result, source.k(s), s.results[0].dims) : IndexExpr(0);
}

bool is_reduction(const OpDef& op) {
  return visit_kind(
      op, [](const OneOf<Reduction, Contraction> auto&) { return true; },
      [](const OneOf<Source, Elementwise, Movement, Lookup, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return false;
      });
}

const ReductionDomain* reduction_domain(const Signature& s, ReductionDomain& storage) {
  const auto reduces = [&](const OneOf<Reduction, Contraction> auto& kind) {
    storage = kind.domain(s);
    return true;
  };
  const auto maps =
      [](const OneOf<Source, Elementwise, Movement, Lookup, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return false;
      };
  return visit_kind(*s.op, reduces, maps) ? &storage : nullptr;
}

ReductionAccess inner_reduction(const Signature& s, const ReductionDomain& d, const IndexMap& result) {
  IndexMap point = result;
  point.extents = joined(result.extents, d.extents);
  for (size_t i = 0; i < d.extents.size(); ++i)
    point.results.push_back(IndexExpr::dim(static_cast<int>(result.extents.size() + i)));
  ReductionAccess access = reduction_at(d, s.results[0].dims, point);
  access.loops = d.extents;
  return access;
}

ReductionAccess single_reduction(const Signature& s, const ReductionDomain& d, const Dims& space) {
  const Dims extents = joined(space, {product(d.extents)});
  IndexMap point = access_at(extents, 0, s.results[0].dims);
  const IndexMap domain = access_at(extents, IndexExpr::dim(static_cast<int>(space.size())), d.extents);
  point.results.insert(point.results.end(), domain.results.begin(), domain.results.end());
  ReductionAccess access = reduction_at(d, s.results[0].dims, point);
  access.loops = {product(d.extents)};
  return access;
}

ReductionAccess spread_reduction(const Signature& s, const ReductionDomain& d, ReductionPlan plan, const Dims& space) {
  IndexExpr at, over;
  switch (plan) {
    case ReductionPlan::row:
      at = row();
      over = column();
      break;
    case ReductionPlan::column:
      at = column();
      over = row();
      break;
    default:
      over = product(d.extents) == space[kRow] && space[kRow] != 1 ? row()
                                                                   : simplify(row() * space[kColumn] + column(), space);
  }
  IndexMap point = access_at(space, at, s.results[0].dims);
  const IndexMap domain = access_at(space, over, d.extents);
  point.results.insert(point.results.end(), domain.results.begin(), domain.results.end());
  return reduction_at(d, s.results[0].dims, point);
}

std::vector<Read> reads_at(const Graph& g, const Node& n, const IndexMap& result) {
  const Signature s = signature(g, n);
  const auto reads = [&](const std::vector<IndexMap>& accesses) {
    std::vector<Read> all;
    for (size_t i = 0; i < accesses.size(); ++i) all.push_back({n.operands[i], accesses[i]});
    return all;
  };
  return visit_kind(
      *n.op, [&](const Movement& m) { return reads(operand_accesses(s, m, result)); },
      [&](const Elementwise&) { return reads(std::vector<IndexMap>(n.operands.size(), result)); },
      [&](const Lookup& lookup) {
        const LookupAccess access = lookup_access(s, lookup, result);
        std::vector<Read> all{{n.operands[0], access.element}};
        for (const IndexMap& at : access.indices) all.push_back({n.operands[1], at});
        return all;
      },
      [&](const Source&) {  // operands of one element each
        std::vector<IndexMap> accesses;
        for (const Type& operand : s.operands) accesses.push_back(access_at(result.extents, 0, operand.dims));
        return reads(accesses);
      },
      [&](const OneOf<Reduction, Contraction> auto& kind) {
        return reads(inner_reduction(s, kind.domain(s), result).operands);
      },
      [](const OneOf<Primitive, Composite, Gradient, Call, Scan> auto&) { return std::vector<Read>(); });
}

bool is_overwritten(const Graph& g, ValueId operand) {
  return std::any_of(g.outputs.begin(), g.outputs.end(), [&](ValueId out) { return g[out].place.base == operand; });
}

std::optional<std::vector<size_t>> runs_of(const IndexMap& map, const Dims& operand) {
  if (!map.guards.empty()) return std::nullopt;
  std::vector<size_t> place(map.extents.size(), 0);  // among the operand's wide dimensions, from 1
  size_t wide = 0;
  for (size_t d = 0; d < operand.size(); ++d) {
    const IndexExpr& e = map.results[d];
    if (operand[d] == 1) continue;
    const bool plain = e.constant == 0 && e.terms.size() == 1 && e.terms[0].kind == IndexTerm::Kind::dim &&
                       e.terms[0].coefficient == 1 && place[static_cast<size_t>(e.terms[0].dim)] == 0 &&
                       map.extents[static_cast<size_t>(e.terms[0].dim)] == operand[d];
    if (!plain) return std::nullopt;
    place[static_cast<size_t>(e.terms[0].dim)] = ++wide;
  }
  std::vector<size_t> runs(place.size(), 0);
  size_t last = 0, run = 0;
  for (size_t i = 0; i < place.size(); ++i) {
    if (map.extents[i] == 1) continue;
    if (place[i] != 0) runs[i] = place[i] == last + 1 && last != 0 ? run : ++run;
    last = place[i];
  }
  return runs;
}

bool mentions(std::string_view text, std::string_view identifier) {
  const auto word = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (size_t at = text.find(identifier); at != std::string_view::npos; at = text.find(identifier, at + 1)) {
    const bool member = at > 0 && (text[at - 1] == '.' || text[at - 1] == ':');
    if (!member && (at == 0 || !word(at - 1)) && !word(at + identifier.size())) return true;
  }
  return false;
}

const Monoid& monoid_of(const OpDef& op) {
  return visit_kind(
      op, [](const Reduction& r) -> const Monoid& { return r.monoid; },
      [](const Contraction&) -> const Monoid& { return monoids::kSum; },
      [&](const OneOf<Source, Elementwise, Movement, Lookup, Primitive, Composite, Gradient, Call, Scan> auto&)
          -> const Monoid& {
        HEDDLE_CHECK(false, op.name + " reduces nothing");
        return monoids::kSum;
      });
}

int64_t accumulator_bytes(const Signature& s) {
  const int64_t value = std::max<int64_t>(bits(s.operands[0].dtype) / 8, is_floating(s.operands[0].dtype) ? 4 : 1);
  const int words = monoid_of(*s.op).words;
  return words > 1 ? words * std::max<int64_t>(value, 4) : value;
}

}  // namespace heddle::ir
