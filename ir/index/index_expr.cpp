#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <numeric>

#include "ir/check.h"
#include "ir/index/index_map.h"

namespace heddle::ir {
namespace {

using Kind = IndexTerm::Kind;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
int64_t modulo(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

std::strong_ordering compare(const IndexExpr& a, const IndexExpr& b);

// Orders atoms, then coefficients; `atoms_only` takes terms that differ in their coefficient alone for equal.
std::strong_ordering compare(const IndexTerm& a, const IndexTerm& b, bool atoms_only) {
  if (auto c = a.kind <=> b.kind; c != 0) return c;
  if (auto c = a.dim <=> b.dim; c != 0) return c;
  if (auto c = a.divisor <=> b.divisor; c != 0) return c;
  if (a.kind != Kind::dim)
    if (auto c = compare(a.inner[0], b.inner[0]); c != 0) return c;
  return atoms_only ? std::strong_ordering::equal : a.coefficient <=> b.coefficient;
}

std::strong_ordering compare(const IndexExpr& a, const IndexExpr& b) {
  if (auto c = a.terms.size() <=> b.terms.size(); c != 0) return c;
  for (size_t i = 0; i < a.terms.size(); ++i)
    if (auto c = compare(a.terms[i], b.terms[i], /*atoms_only=*/false); c != 0) return c;
  return a.constant <=> b.constant;
}

IndexExpr atom(Kind kind, IndexExpr inner, int64_t divisor) {
  IndexExpr e;
  e.terms.push_back({.kind = kind, .divisor = divisor, .inner = {std::move(inner)}});
  return e;
}

// Two sorted lists as one: equal atoms merged, zeros dropped.
std::vector<IndexTerm> merged(const std::vector<IndexTerm>& a, const std::vector<IndexTerm>& b) {
  std::vector<IndexTerm> all;
  all.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const auto order = compare(a[i], b[j], /*atoms_only=*/true);
    if (order != 0) {
      all.push_back(order < 0 ? a[i++] : b[j++]);
      continue;
    }
    const int64_t coefficient = a[i].coefficient + b[j++].coefficient;
    if (coefficient != 0) all.push_back(a[i]), all.back().coefficient = coefficient;
    ++i;
  }
  all.insert(all.end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
  all.insert(all.end(), b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
  return all;
}

// How hard an expression is to compute: what a rewriting must lower.
int64_t weight(const IndexExpr& e) {
  int64_t sum = 0;
  for (const IndexTerm& t : e.terms) sum += t.kind == Kind::dim ? 1 : 4 + weight(t.inner[0]);
  return sum;
}

// Puts digits together again: (x mod b) + b * floor(x / b) is x, and (x mod b) + b * ((y + floor(x / b)) mod d) is
// (b * y + x) mod (b * d). `low` is the term of the least digit. Returns `e` itself when neither form is in it.
IndexExpr join(const IndexExpr& e, const IndexTerm& low, const Dims& extents) {
  const IndexExpr& x = low.inner[0];
  const int64_t b = low.divisor, c = low.coefficient;
  const IndexExpr quotient = floor_div(x, b, extents), digit = atom(Kind::modulo, x, b);
  if (IndexExpr whole = e + (x - digit - quotient * b) * c; weight(whole) < weight(e)) return whole;
  for (const IndexTerm& t : e.terms) {
    if (t.kind != Kind::modulo || t.coefficient != c * b) continue;
    const IndexExpr both = modulo((t.inner[0] - quotient) * b + x, b * t.divisor, extents);
    IndexExpr whole = e + (both - digit - atom(Kind::modulo, t.inner[0], t.divisor) * b) * c;
    if (weight(whole) < weight(e)) return whole;
  }
  return e;
}

// a = high * k + low, with every coefficient of `low` indivisible by k and the least value of `low` in [0, k).
struct Split {
  IndexExpr high, low;
};
Split split(const IndexExpr& a, int64_t k, const Dims& extents) {
  Split s;
  for (const IndexTerm& t : a.terms) {
    const bool divides = t.coefficient % k == 0;
    (divides ? s.high : s.low).terms.push_back(t);
    if (divides) s.high.terms.back().coefficient /= k;
  }
  const int64_t carry = floor_div(range(s.low, extents).low + a.constant, k);
  s.high.constant = carry;
  s.low.constant = a.constant - carry * k;
  return s;
}

// a = g * high + low with 0 <= low < g and g a divisor of k, the largest such g; division and remainder by k then need
// only `high`.
struct Radix {
  int64_t g = 1;
  Split parts;
};
Radix radix(const IndexExpr& a, int64_t k, const Dims& extents) {
  Radix best;
  for (const IndexTerm& t : a.terms) {
    const int64_t g = std::gcd(t.coefficient, k);
    if (g <= best.g) continue;
    Split parts = split(a, g, extents);
    if (range(parts.low, extents).high < g) best = {g, std::move(parts)};
  }
  return best;
}

// c * (x mod m) is c * x modulo k when k divides c * m.
IndexExpr drop_inner_modulo(const IndexExpr& a, int64_t k) {
  const auto drops = [&](const IndexTerm& t) { return t.kind == Kind::modulo && (t.coefficient * t.divisor) % k == 0; };
  if (std::none_of(a.terms.begin(), a.terms.end(), drops)) return a;
  IndexExpr out(a.constant);
  for (const IndexTerm& t : a.terms) {
    if (drops(t)) {
      out = out + drop_inner_modulo(t.inner[0], k) * t.coefficient;
    } else {
      IndexExpr same;
      same.terms.push_back(t);
      out = out + same;
    }
  }
  return out;
}

bool is_atom(const IndexExpr& e, Kind kind) {
  return e.constant == 0 && e.terms.size() == 1 && e.terms[0].coefficient == 1 && e.terms[0].kind == kind;
}

}  // namespace

bool IndexTerm::operator==(const IndexTerm& other) const { return compare(*this, other, /*atoms_only=*/false) == 0; }

IndexExpr IndexExpr::dim(int d) {
  IndexExpr e;
  e.terms.push_back({.dim = d, .inner = {}});
  return e;
}

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b) {
  IndexExpr sum(a.constant + b.constant);
  sum.terms = merged(a.terms, b.terms);
  return sum;
}

IndexExpr operator-(const IndexExpr& a, const IndexExpr& b) { return a + b * -1; }

IndexExpr operator*(const IndexExpr& a, int64_t factor) {
  if (factor == 0) return 0;
  IndexExpr product = a;
  product.constant *= factor;
  for (IndexTerm& t : product.terms) t.coefficient *= factor;
  return product;
}

IndexExpr simplify(const IndexExpr& e, const Dims& extents) {
  for (const IndexTerm& t : e.terms) {
    if (t.kind != Kind::modulo) continue;
    const IndexExpr joined = join(e, t, extents);
    if (joined != e) return simplify(joined, extents);
  }
  return e;
}

IndexExpr floor_div(const IndexExpr& a, int64_t divisor, const Dims& extents) {
  HEDDLE_CHECK(divisor > 0, "division of an index by a number that is not positive");
  const auto [high, low] = split(simplify(a, extents), divisor, extents);
  if (range(low, extents).high < divisor) return high;
  if (const Radix r = radix(low, divisor, extents); r.g > 1)
    return high + floor_div(r.parts.high, divisor / r.g, extents);
  for (const IndexTerm& t : low.terms) {  // floor((y + floor(x / m)) / k) is floor((m * y + x) / (m * k))
    if (t.kind != Kind::floor_div || t.coefficient != 1) continue;
    const IndexExpr y = low - atom(Kind::floor_div, t.inner[0], t.divisor);
    return high + floor_div(y * t.divisor + t.inner[0], divisor * t.divisor, extents);
  }
  if (is_atom(low, Kind::modulo) && low.terms[0].divisor % divisor == 0) {
    const IndexTerm& t = low.terms[0];
    return high + modulo(floor_div(t.inner[0], divisor, extents), t.divisor / divisor, extents);
  }
  return high + atom(Kind::floor_div, low, divisor);
}

IndexExpr modulo(const IndexExpr& a, int64_t divisor, const Dims& extents) {
  HEDDLE_CHECK(divisor > 0, "remainder of an index by a number that is not positive");
  if (const Range r = range(a, extents); 0 <= r.low && r.high < divisor) return a;
  IndexExpr low = split(drop_inner_modulo(simplify(a, extents), divisor), divisor, extents).low;
  if (range(low, extents).high < divisor) return low;
  if (const Radix r = radix(low, divisor, extents); r.g > 1)
    return modulo(r.parts.high, divisor / r.g, extents) * r.g + r.parts.low;
  return atom(Kind::modulo, low, divisor);
}

namespace {

Range atom_range(const IndexTerm& t, const Dims& extents) {
  if (t.kind == Kind::dim) {
    HEDDLE_CHECK(t.dim >= 0 && static_cast<size_t>(t.dim) < extents.size(), "index refers to an unknown coordinate");
    return {0, std::max<int64_t>(extents[static_cast<size_t>(t.dim)], 1) - 1};
  }
  const Range x = range(t.inner[0], extents);
  const Range q{floor_div(x.low, t.divisor), floor_div(x.high, t.divisor)};
  if (t.kind == Kind::floor_div) return q;
  return q.low == q.high ? Range{modulo(x.low, t.divisor), modulo(x.high, t.divisor)} : Range{0, t.divisor - 1};
}

}  // namespace

Range range(const IndexExpr& e, const Dims& extents) {
  Range sum{e.constant, e.constant};
  for (const IndexTerm& t : e.terms) {
    const Range r = atom_range(t, extents);
    sum.low += t.coefficient * (t.coefficient > 0 ? r.low : r.high);
    sum.high += t.coefficient * (t.coefficient > 0 ? r.high : r.low);
  }
  return sum;
}

int64_t magnitude(const IndexExpr& e, const Dims& extents) {
  int64_t sum = std::abs(e.constant), inner = 0;
  for (const IndexTerm& t : e.terms) {
    const Range r = atom_range(t, extents);
    sum += std::abs(t.coefficient) * std::max(std::abs(r.low), std::abs(r.high));
    // Rounding down adds the divisor to a negative number.
    if (t.kind != Kind::dim) inner = std::max(inner, magnitude(t.inner[0], extents) + t.divisor);
  }
  return std::max(sum, inner);
}

int64_t evaluate(const IndexExpr& e, const Dims& coordinates) {
  int64_t sum = e.constant;
  for (const IndexTerm& t : e.terms) {
    int64_t value = 0;
    if (t.kind == Kind::dim)
      value = coordinates[static_cast<size_t>(t.dim)];
    else if (t.kind == Kind::floor_div)
      value = floor_div(evaluate(t.inner[0], coordinates), t.divisor);
    else
      value = modulo(evaluate(t.inner[0], coordinates), t.divisor);
    sum += t.coefficient * value;
  }
  return sum;
}

Coefficient coefficient(const IndexExpr& e, int d) {
  Coefficient c;
  for (const IndexTerm& t : e.terms) {
    if (t.kind == Kind::dim)
      c.value += t.dim == d ? t.coefficient : 0;
    else if (depends_on(t.inner[0], d))
      return {.affine = false, .value = 0};
  }
  return c;
}

bool depends_on(const IndexExpr& e, int d) {
  return std::any_of(e.terms.begin(), e.terms.end(),
                     [&](const IndexTerm& t) { return t.kind == Kind::dim ? t.dim == d : depends_on(t.inner[0], d); });
}

std::string to_string(const IndexExpr& e, std::span<const std::string> names) {
  std::string text;
  for (const IndexTerm& t : e.terms) {
    std::string value;
    if (t.kind == Kind::dim) {
      const auto d = static_cast<size_t>(t.dim);
      value = d < names.size() ? names[d] : fmt::format("d{}", t.dim);
    } else {
      const IndexExpr& x = t.inner[0];
      value = to_string(x, names);
      if (x.terms.size() != 1 || x.constant != 0 || x.terms[0].coefficient < 0) value = fmt::format("({})", value);
      value += fmt::format(" {} {}", t.kind == Kind::floor_div ? '/' : '%', t.divisor);
    }
    const int64_t c = t.coefficient;
    if (c != 1 && c != -1) value += fmt::format(" * {}", c < 0 && !text.empty() ? -c : c);
    if (c == -1 && text.empty()) value += " * -1";
    text += (text.empty() ? "" : c < 0 ? " - " : " + ") + value;
  }
  if (text.empty()) return std::to_string(e.constant);
  if (e.constant != 0) text += fmt::format(" {} {}", e.constant < 0 ? '-' : '+', std::abs(e.constant));
  return text;
}

std::string to_string(const IndexExpr& e) { return to_string(e, {}); }

}  // namespace heddle::ir
