#include "tests/random/operator_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ir/builder.h"
#include "ir/ops/loops.h"
#include "tests/random/attention_bound.h"
#include "tests/random/rounding.h"
#include "tests/support/operator_attrs.h"

namespace heddle::testing {
using namespace ir;
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMixtures = 64;  // each moves two neighbours apart with a chance of a quarter
using Errors = std::vector<double>;
using Operands = std::vector<const Bounded*>;

std::vector<Tensor> run(const Signature& s, const std::vector<Tensor>& operands) {
  std::vector<const Tensor*> list;
  list.reserve(operands.size());
  for (const Tensor& t : operands) list.push_back(&t);
  return s.op->eval(s, list);
}

bool uncertain(const Bounded& b) {
  return std::any_of(b.error.begin(), b.error.end(), [](double e) { return e > 0; });
}
bool unknown(const Bounded& b) {
  return std::any_of(b.error.begin(), b.error.end(), [](double e) { return e == kInfinity; });
}
bool any(const Operands& operands, bool (*holds)(const Bounded&)) {
  return std::any_of(operands.begin(), operands.end(), [&](const Bounded* b) { return holds(*b); });
}

// Which end of its bound each element goes to; `mixed` takes them in turn, `whole` a whole number between them: there a
// power of a negative number is one, and nowhere else; `together` those of two operands to one place. What has no bound
// goes to the infinities, and for the last four to these: inf / inf is nan, while a kernel that has not rounded to inf
// yet finds a number, and the power of nan is nan unless its exponent is 0, or 1 the base and nan the exponent.
enum class End { low, high, mixed, whole, together, nan, finite, one, zero };

// `mixture` tells one mixed choice from another.
bool goes_up(End end, size_t i, size_t mixture) {
  const uint64_t hash = (i + 1 + 977 * mixture) * 0x9E3779B97F4A7C15u;
  return end == End::high || (end == End::mixed && (hash >> 40 & 1) == 0);
}

double moved_real(double v, double error, bool up, End end) {
  if (v == 0 && error == 0) return up ? 0.0 : -0.0;  // the sign of zero is promised nowhere
  if (error == kInfinity && end == End::nan) return std::numeric_limits<double>::quiet_NaN();
  if (error == kInfinity && end == End::finite) return 1.5;
  if (error == kInfinity && end == End::one) return 1;
  if (error == kInfinity && end == End::zero) return 0;
  if (error == kInfinity) return up ? kInfinity : -kInfinity;
  if (end == End::whole && std::abs(std::nearbyint(v) - v) <= error) return std::nearbyint(v);
  return up ? v + error : v - error;
}

int64_t moved_integer(DType dtype, int64_t v, double error, bool up, End end) {
  if (error == 0) return v;
  if (dtype == DType::boolean) return up ? v : 1 - v;
  const int64_t width = bits(dtype);
  if (error >= std::ldexp(1, static_cast<int>(width) - 1)) {
    const int64_t top = int64_t{-1} & ~(int64_t{-1} << (width - 1)), all = end == End::nan ? 0x5B5B5B5B5B5B5B5B : top;
    return wrap_to(dtype, up ? all : ~all);
  }
  const auto by = static_cast<uint64_t>(std::ceil(error));
  return wrap_to(dtype, static_cast<int64_t>(static_cast<uint64_t>(v) + (up ? by : 0 - by)));
}

Tensor moved(const Bounded& b, End end, size_t mixture) {
  Tensor t = b.value;
  for (size_t i = 0; i < t.real.size(); ++i)
    t.real[i] = moved_real(t.real[i], b.error[i], goes_up(end, i, mixture), end);
  for (size_t i = 0; i < t.integer.size(); ++i)
    t.integer[i] = moved_integer(t.type.dtype, t.integer[i], b.error[i], goes_up(end, i, mixture), end);
  return t;
}

// Numbers of doubles may leave the range on the way in one order of operations and not in another, which passes may
// choose: what overflows from finite elements may be anything.
void open_where_it_overflows(Errors& errors, const Signature& s, const Operands& operands, const Tensor& value) {
  static const std::set<std::string, std::less<>> products_and_sums = {"mul", "add", "sub", "square"};
  if (!value.floating() || !products_and_sums.contains(s.op->name)) return;
  for (size_t i = 0; i < errors.size(); ++i)
    if (std::isinf(value.real[i]) && std::all_of(operands.begin(), operands.end(),
                                                 [&](const Bounded* b) { return std::isfinite(b->value.real[i]); }))
      errors[i] = kInfinity;
}

// Elements of two operands that may be equal become so: whether they are is decided within the
// bounds, not at their ends.
void bring_together(const Operands& operands, std::vector<Tensor>& at) {
  if (at.size() != 2 || at[0].type != at[1].type) return;
  const auto nearest = [&](size_t k, size_t i, double to) {
    const double v = operands[k]->value.real[i], error = operands[k]->error[i];
    if (std::isnan(v) && error < kInfinity) return v;
    return error < kInfinity ? std::clamp(to, v - error, v + error) : to;
  };
  for (size_t i = 0; i < at[0].real.size(); ++i) {
    at[0].real[i] = nearest(0, i, operands[1]->value.real[i]);
    at[1].real[i] = nearest(1, i, at[0].real[i]);
  }
  for (size_t i = 0; i < at[0].integer.size(); ++i)
    for (size_t k = 0; k < 2; ++k)
      if (distance(operands[0]->value, operands[1]->value, static_cast<int64_t>(i)) <= operands[k]->error[i])
        at[k].integer[i] = operands[1 - k]->value.integer[i];
}

// An index of the largest element: it is decided between two, and all moving one way decides nothing.
bool finds_index(const OpDef& op) {
  const auto* reduction = std::get_if<Reduction>(&op.kind);
  return reduction && reduction->monoid.indexed;
}

// Which element stands at a place of an order, other elements decide where their bounds meet its own. Of equal elements
// without a bound the places do.
void open_near_ties(const Signature& s, const Operands& operands, const Tensor& order, Errors& errors) {
  if (s.op->name != "argsort") return;
  const Bounded& x = *operands[0];
  const auto n = static_cast<size_t>(x.value.type.dims.back());
  for (size_t row = 0; row < errors.size(); row += n)
    for (size_t place = row; place < row + n; ++place) {
      const size_t found = row + static_cast<size_t>(order.integer[place]);
      for (size_t other = row; other < row + n; ++other) {
        const double reach = x.error[found] + x.error[other];
        if (other == found || reach == 0) continue;
        const double apart =
            std::abs(x.value.at(static_cast<int64_t>(found)) - x.value.at(static_cast<int64_t>(other)));
        if (reach == kInfinity || apart <= reach) errors[place] = kInfinity;
      }
    }
}

// Numbers are taken from where integers say, as in the gradient of a pooling: places between the ends of a bound are
// others altogether.
bool goes_by_uncertain_places(const Signature& s, const Operands& operands) {
  if (std::holds_alternative<Elementwise>(s.op->kind) || std::holds_alternative<Movement>(s.op->kind)) return false;
  return is_floating(s.results[0].dtype) && std::any_of(operands.begin(), operands.end(), [](const Bounded* b) {
           return is_integer(b->value.type.dtype) && uncertain(*b);
         });
}

// Every combination of ends for few operands, else all at one.
std::vector<std::vector<End>> corners(const Signature& s, const Operands& operands) {
  const size_t n = operands.size();
  std::vector<std::vector<End>> list;
  if (n <= 3 && !std::holds_alternative<Movement>(s.op->kind)) {
    for (size_t bits = 0; bits < size_t{1} << n; ++bits) {
      list.emplace_back();
      for (size_t k = 0; k < n; ++k) list.back().push_back((bits >> k & 1) != 0 ? End::high : End::low);
    }
    for (const End end : {End::mixed, End::whole, End::together}) list.emplace_back(n, end);
  } else {
    list = {std::vector<End>(n, End::low), std::vector<End>(n, End::high)};
  }
  if (finds_index(*s.op)) list.insert(list.end(), kMixtures, std::vector<End>(n, End::mixed));
  if (any(operands, unknown))
    for (const End end : {End::nan, End::finite, End::one, End::zero}) list.emplace_back(n, end);
  return list;
}

// Goes up and down again and again, like a sine: the ends of a wide bound say nothing of what lies between.
bool oscillates(const OpDef& op) {
  static std::map<const OpDef*, bool> known;
  if (const auto it = known.find(&op); it != known.end()) return it->second;
  bool& answer = known[&op] = false;
  const bool real = op.dtypes.empty() || is_floating(op.dtypes.front());
  if (!std::holds_alternative<Elementwise>(op.kind) || !real || op.find_attr("dtype")) return answer;
  constexpr int64_t kPoints = 1000;
  const Type type{DType::f64, {kPoints}};
  std::vector<Tensor> operands(op.operands.size(), Tensor(type));
  for (int64_t i = 0; i < kPoints; ++i)
    for (Tensor& t : operands) t.set(i, &t == operands.data() ? 0.37 * static_cast<double>(i) : 1.7);
  const Attrs attrs = required_attrs(op);
  Signature s{.op = &op, .attrs = attrs, .operands = std::vector<Type>(operands.size(), type), .results = {}};
  try {
    s.results = infer_types(op, s.operands, attrs);
  } catch (const InferError&) {
    return answer;
  }
  const Tensor y = run(s, operands)[0];
  int turns = 0;
  for (int64_t i = 2; i < kPoints; ++i)
    if ((y.at(i) - y.at(i - 1)) * (y.at(i - 1) - y.at(i - 2)) < 0) ++turns;
  return answer = turns > 20;
}

// The operands on a line through their bounds, from one end (-1) to the other (1); every second one goes `against` it.
std::vector<Tensor> moved_along(const Operands& operands, double at, bool against) {
  std::vector<Tensor> list;
  for (size_t k = 0; k < operands.size(); ++k) {
    list.push_back(operands[k]->value);
    for (size_t i = 0; i < list[k].real.size(); ++i)
      if (operands[k]->error[i] < kInfinity)
        list[k].real[i] += (against && k % 2 == 1 ? -at : at) * operands[k]->error[i];
  }
  return list;
}

// Whether each element's result goes up and comes down again on the line through the bounds: a pole, a jump or a crest
// lies inside. What it reaches there counts.
std::vector<char> turns_inside(const Signature& s, const Operands& operands, bool against, Errors& errors) {
  std::vector<Tensor> along;
  for (const double at : {-1.0, -0.73205, -0.41421, -0.13717, 0.0, 0.09117, 0.38197, 0.65831, 1.0})  // no common step
    along.push_back(run(s, moved_along(operands, at, against))[0]);
  const Tensor& middle = along[along.size() / 2];
  std::vector<char> turns(errors.size(), 0);
  for (size_t i = 0; i < turns.size(); ++i)
    for (size_t p = 1; p < along.size(); ++p) {
      errors[i] = std::max(errors[i], distance(along[p], middle, static_cast<int64_t>(i)));
      const double step = along[p].real[i] - along[p - 1].real[i];
      if (p > 1 && step * (along[p - 1].real[i] - along[p - 2].real[i]) < 0) turns[i] = 1;
    }
  return turns;
}

// What the ends of the bounds say holds only where they are near each other and nothing large lies between them.
void give_up_where_wide(const Signature& s, const Operands& operands, const Tensor& value, Errors& errors) {
  const size_t lines = !value.floating() ? 0 : operands.size() == 1 ? 1 : 2;  // one operand has no other to go against
  for (size_t line = 0; line < lines; ++line) {
    const std::vector<char> turns = turns_inside(s, operands, line == 1, errors);
    for (size_t i = 0; i < errors.size(); ++i)
      if (turns[i] != 0 && errors[i] > std::abs(value.real[i]) / 8) errors[i] = kInfinity;
  }
  for (const Bounded* b : operands)
    for (size_t i = 0; i < errors.size(); ++i) errors[i] = b->error[i] > 0.5 ? kInfinity : 2 * errors[i];
}

bool has_zero(const Bounded& b) {
  return std::find(b.value.real.begin(), b.value.real.end(), 0.0) != b.value.real.end();
}

// An angle goes once around where its point may lie on either side of the negative abscissae.
void open_at_the_cut(const Operands& operands, Errors& errors) {
  for (size_t i = 0; i < errors.size(); ++i) {
    const double a = operands[0]->value.real[i], b = operands[1]->value.real[i];
    if (std::abs(a) <= operands[0]->error[i] && b <= operands[1]->error[i]) errors[i] = kInfinity;
  }
}

// Among elements of which one may be anything, any may be the best.
void open_among_unknown(const Signature& s, const Bounded& operand, Errors& index) {
  const ReductionDomain domain = std::get<Reduction>(s.op->kind).domain(s);
  const IndexExpr offset = linear_offset(domain.maps[0], s.operands[0].dims);
  int64_t point = 0;
  for_each_point(domain.maps[0].extents, [&](const Dims& at) {
    const int64_t result = point++ / product(domain.extents);
    if (domain.maps[0].contains(at) && operand.error[static_cast<size_t>(evaluate(offset, at))] == kInfinity)
      index[static_cast<size_t>(result)] = kInfinity;
  });
}

// How far the results move when the operands go to the ends of their bounds.
std::vector<Errors> spread(const Signature& s, const Operands& operands, const std::vector<Tensor>& values) {
  std::vector<Errors> errors;
  errors.reserve(values.size());
  for (const Tensor& v : values) errors.emplace_back(static_cast<size_t>(v.elements()), 0.0);
  const bool signs = std::holds_alternative<Elementwise>(s.op->kind) && any(operands, has_zero);
  if (!signs && !any(operands, uncertain)) return errors;
  const std::vector<std::vector<End>> choices = corners(s, operands);
  for (size_t c = 0; c < choices.size(); ++c) {
    std::vector<Tensor> at;
    for (size_t k = 0; k < operands.size(); ++k) at.push_back(moved(*operands[k], choices[c][k], c + k));
    if (choices[c][0] == End::together) bring_together(operands, at);
    const std::vector<Tensor> there = run(s, at);
    for (size_t r = 0; r < values.size(); ++r)
      for (size_t i = 0; i < errors[r].size(); ++i)
        errors[r][i] = std::max(errors[r][i], distance(values[r], there[r], static_cast<int64_t>(i)));
  }
  for (size_t r = 0; r < values.size(); ++r)
    if (finds_index(*s.op) && !values[r].floating()) {
      for (double& e : errors[r]) e = e > 0 ? kInfinity : 0;
      open_among_unknown(s, *operands[0], errors[r]);
    }
  // Integers wrap around: where one may be anything, what it changes may.
  for (size_t r = 0; r < values.size(); ++r)
    if (!values[r].floating() && values[r].type.dtype != DType::boolean && any(operands, unknown))
      for (double& e : errors[r]) e = e > 0 ? kInfinity : 0;
  if (goes_by_uncertain_places(s, operands)) std::fill(errors[0].begin(), errors[0].end(), kInfinity);
  if (oscillates(*s.op)) give_up_where_wide(s, operands, values[0], errors[0]);
  if (s.op->name == "atan2") open_at_the_cut(operands, errors[0]);
  open_near_ties(s, operands, values[0], errors[0]);
  return errors;
}

bool is_prefix(const OpDef& op) { return op.name == "cumsum" || op.name == "cumprod"; }

// Updates of rows are added, or multiplied, one after the other; so are prefixes.
bool combines(const Signature& s) {
  if (is_prefix(*s.op)) return true;
  return s.op->find_attr("combine") != nullptr && (s.text("combine") == "add" || s.text("combine") == "mul");
}

bool sums(const Signature& s) {
  const auto* reduction = std::get_if<Reduction>(&s.op->kind);
  const bool product = std::holds_alternative<Contraction>(s.op->kind) || s.op->name == "seen_products";
  return product || (reduction && reduction->monoid.rounds) || combines(s);
}

// The weights of a resize are polynomials of a place, with signs: at most 1, with some roundings of terms up to 2 each.
std::vector<Tensor> resized_magnitudes(const Signature& s, std::vector<Tensor> at) {
  constexpr double kWeight = 8;
  const double largest = *std::max_element(at[0].real.begin(), at[0].real.end());
  const ReductionDomain domain = std::get<Reduction>(s.op->kind).domain(s);
  std::vector<Tensor> results = run(s, at);
  for (double& v : results[0].real) v = kWeight * static_cast<double>(product(domain.extents)) * largest;
  return results;
}

// What a sum of the terms' magnitudes gives, and how much more at the far ends of their bounds.
std::vector<Tensor> magnitudes(const Signature& s, const Operands& operands, bool far) {
  std::vector<Tensor> at;
  for (const Bounded* b : operands) {
    at.push_back(b->value);
    for (size_t i = 0; i < at.back().real.size(); ++i) {
      const double v = at.back().real[i], error = b->error[i];  // `spread` answers for what is not finite
      at.back().real[i] = (std::isfinite(v) ? std::abs(v) : 0) + (far && error < kInfinity ? error : 0);
    }
  }
  return s.op->name.starts_with("resize") ? resized_magnitudes(s, std::move(at)) : run(s, at);
}

// Of a mean: its sum is so much larger, and may overflow where the mean does not.
double divisor(const Signature& s) {
  const auto* reduction = std::get_if<Reduction>(&s.op->kind);
  if (!reduction || !reduction->finish[0].starts_with("acc /")) return 1;
  const ReductionDomain domain = reduction->domain(s);
  return static_cast<double>(domain.count != 0 ? domain.count : product(domain.extents));
}

// Adds what summing does: its own rounding, and the operands' bounds.
void add_sum(Errors& errors, const Signature& s, const Rounding& rounding, const Tensor& value, const Tensor& near,
             const Tensor& far) {
  const double times = divisor(s);
  for (size_t i = 0; i < errors.size(); ++i) {
    if (!(far.real[i] * times < rounding.largest_sum())) errors[i] = kInfinity;  // a part may overflow
    if (!std::isfinite(value.real[i]) || errors[i] == kInfinity) continue;
    errors[i] = std::max(errors[i], far.real[i] - near.real[i]) + rounding.of_sum(far.real[i]);
  }
}

// A product of numbers far from 1 may leave the range on the way.
void add_product(Errors& errors, const Signature& s, const Operands& operands, const Rounding& rounding) {
  for (const bool large : {true, false}) {
    std::vector<Tensor> factors;
    for (const Bounded* b : operands) {
      factors.push_back(b->value);
      for (double& v : factors.back().real)
        v = large ? std::max(std::abs(v), 1.0) : v == 0 ? 1 : std::min(std::abs(v), 1.0);
    }
    const Tensor reached = run(s, factors)[0];
    for (size_t i = 0; i < errors.size(); ++i)
      if (large ? !(reached.real[i] < rounding.largest_sum()) : reached.real[i] < 1e-37) errors[i] = kInfinity;
  }
}

// The elements of the operand that are not finite, or need not be, as 1.
std::vector<char> beyond_numbers(const Bounded& b) {
  std::vector<char> found;
  for (size_t i = 0; i < b.error.size(); ++i)
    found.push_back(b.error[i] == kInfinity || (b.value.floating() && !std::isfinite(b.value.real[i])));
  return found;
}

// A contraction reads zeros beside an operand. A library may multiply them by the other operand's elements, our own
// kernels leave them out: beside inf the one gives nan, the other a number.
void open_beside_zeros(Errors& errors, const Signature& s, const Operands& operands) {
  const auto* contraction = std::get_if<Contraction>(&s.op->kind);
  if (!contraction) return;
  const ReductionDomain domain = contraction->domain(s);
  for (size_t k = 0; k < 2; ++k) {
    const IndexMap &beside = domain.maps[k], &other = domain.maps[1 - k];
    const std::vector<char> beyond = beyond_numbers(*operands[1 - k]);
    if (beside.guards.empty() || std::find(beyond.begin(), beyond.end(), 1) == beyond.end()) continue;
    const IndexExpr offset = linear_offset(other, s.operands[1 - k].dims);
    int64_t point = 0;
    for_each_point(other.extents, [&](const Dims& at) {
      const int64_t result = point++ / product(domain.extents);
      if (beside.contains(at) || !other.contains(at) || !beyond[static_cast<size_t>(evaluate(offset, at))]) return;
      errors[static_cast<size_t>(result)] = kInfinity;
    });
  }
}

bool is_product(const Signature& s) {
  const auto* reduction = std::get_if<Reduction>(&s.op->kind);
  const bool product = (reduction && std::string_view(reduction->monoid.name) == "Prod") || s.op->name == "cumprod";
  return product || (s.op->find_attr("combine") != nullptr && s.text("combine") == "mul");
}

}  // namespace

double distance(const Tensor& a, const Tensor& b, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if (!a.floating()) {
    if (a.integer[at] == b.integer[at]) return 0;
    return std::max(1.0, std::abs(a.at(i) - b.at(i)));
  }
  const double x = a.real[at], y = b.real[at];
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  return std::isfinite(x) && std::isfinite(y) ? std::abs(x - y) : kInfinity;
}

std::string element_text(const Tensor& t, int64_t i) {
  return t.floating() ? fmt::format("{}", t.at(i)) : fmt::format("{}", t.integer[static_cast<size_t>(i)]);
}

std::vector<Bounded> evaluate_bounded(const Signature& s, const Operands& operands, Precision precision) {
  std::vector<Tensor> in;
  for (const Bounded* b : operands) in.push_back(b->value);
  const std::vector<Tensor> values = run(s, in);
  std::vector<Errors> errors = spread(s, operands, values);
  if (sums(s) && values[0].floating()) {
    const Rounding rounding(s, 0, precision);
    add_sum(errors[0], s, rounding, values[0], magnitudes(s, operands, false)[0], magnitudes(s, operands, true)[0]);
  }
  if (precision == Precision::rounded) open_beside_zeros(errors[0], s, operands);
  if (precision == Precision::exact) open_where_it_overflows(errors[0], s, operands, values[0]);
  if (is_attention(*s.op)) add_attention(s, operands, precision, errors);
  if (is_product(s) && values[0].floating()) add_product(errors[0], s, operands, Rounding(s, 0, precision));
  std::vector<Bounded> results;
  for (size_t r = 0; r < values.size(); ++r) {
    if (values[r].floating()) Rounding(s, r, precision).add(errors[r], values[r], in);
    results.push_back({precision == Precision::rounded ? rounded(values[r]) : values[r], std::move(errors[r])});
  }
  return results;
}

}  // namespace heddle::testing
