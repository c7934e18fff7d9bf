// einsum: sums of products by names of axes, as matrix products, transposes and sums.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// A value and the letter of each of its axes. What "..." stands for has numbers instead of letters.
struct Term {
  ValueId value;
  std::string axes;
};

struct Equation {
  std::vector<std::string> operands;
  std::optional<std::string> result;
};

constexpr std::string_view kDots = "...";

[[noreturn]] void refuse(LayerContext& c, const std::string& message) {
  c.fail_setting("equation", message, "write one letter for each axis, as in \"bij,bjk->bik\"");
}

Equation read_equation(LayerContext& c) {
  std::string text;
  for (const char letter : c.settings.text("equation"))
    if (letter != ' ') text += letter;
  Equation e;
  if (const size_t arrow = text.find("->"); arrow != std::string::npos) {
    e.result = text.substr(arrow + 2);
    text.resize(arrow);
  }
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(',', from), text.size());
    e.operands.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  if (e.operands.size() != c.in.size())
    refuse(c, fmt::format("the equation has {} operands, the node {} inputs", e.operands.size(), c.in.size()));
  return e;
}

// The axes' names with "..." replaced by `count` numbers, the last axis by the same one in all operands.
std::string named(LayerContext& c, const std::string& text, int64_t count) {
  std::string axes = text;
  if (const size_t dots = axes.find(kDots); dots != std::string::npos) {
    std::string numbers;
    for (int64_t i = 0; i < count; ++i) numbers += static_cast<char>('9' - (count - 1 - i));
    axes.replace(dots, kDots.size(), numbers);
    for (size_t i = 0; i < axes.size(); ++i)
      if ((i < dots || i >= dots + numbers.size()) && std::isalpha(static_cast<unsigned char>(axes[i])) == 0)
        refuse(c, fmt::format("'{}' is no axis", axes[i]));
    return axes;
  }
  for (const char letter : axes)
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) refuse(c, fmt::format("'{}' is no axis", letter));
  return axes;
}

bool has(const std::string& axes, char axis) { return axes.find(axis) != std::string::npos; }

ValueId transposed(LayerContext& c, const Term& t, const std::string& order) {
  Dims perm;
  for (const char axis : order) perm.push_back(static_cast<int64_t>(t.axes.find(axis)));
  if (std::is_sorted(perm.begin(), perm.end())) return t.value;
  return c.emit("transpose", {t.value}, {{"perm", perm}}, "turned");
}

// Without the axes that nothing else names.
Term summed(LayerContext& c, const Term& t, const std::string& needed) {
  Dims axes;
  std::string kept;
  for (size_t d = 0; d < t.axes.size(); ++d)
    has(needed, t.axes[d]) ? kept.push_back(t.axes[d]) : axes.push_back(static_cast<int64_t>(d));
  return axes.empty() ? t : Term{c.emit("reduce_sum", {t.value}, {{"axes", axes}}, "summed"), kept};
}

// A name that stands twice means the diagonal of its two axes.
Term diagonal(LayerContext& c, Term t) {
  for (size_t second = 0; second < t.axes.size(); ++second) {
    const size_t first = t.axes.find(t.axes[second]);
    if (first == second) continue;
    const Dims dims = c.dims(t.value);
    const auto place = [&](size_t axis) {
      return c.emit("iota", {}, {{"shape", dims}, {"axis", static_cast<int64_t>(axis)}}, "place");
    };
    const ValueId on = c.emit("eq", {place(first), place(second)}, {}, "diagonal");
    const ValueId picked = c.emit("select", {on, t.value, c.constant(0, c.type(t.value))}, {}, "diagonal");
    t.value = c.emit("reduce_sum", {picked}, {{"axes", Dims{static_cast<int64_t>(second)}}}, "diagonal");
    t.axes.erase(second, 1);
    --second;
  }
  return t;
}

Dims sizes(LayerContext& c, const Term& t, const std::string& axes) {
  Dims found;
  for (const char axis : axes) found.push_back(c.dims(t.value)[t.axes.find(axis)]);
  return found;
}

// Each element of a with each of b that has the same place on the axes of both.
Term element_products(LayerContext& c, const Term& a, const Term& b) {
  std::string both, columns;
  for (const char axis : a.axes) both += has(b.axes, axis) ? std::string(1, axis) : "";
  for (const char axis : b.axes) columns += has(a.axes, axis) ? "" : std::string(1, axis);
  const std::string axes = a.axes + columns;
  Dims shape = c.dims(a.value), dims_a, dims_b;
  for (const int64_t size : sizes(c, b, columns)) shape.push_back(size);
  for (size_t d = 0; d < axes.size(); ++d) {
    if (has(a.axes, axes[d])) dims_a.push_back(static_cast<int64_t>(d));
    if (has(b.axes, axes[d])) dims_b.push_back(static_cast<int64_t>(d));
  }
  const auto spread = [&](ValueId v, const Dims& dims) {
    return c.dims(v) == shape ? v : c.emit("broadcast", {v}, {{"dims", dims}, {"shape", shape}}, "spread");
  };
  const ValueId x = spread(a.value, dims_a), y = spread(transposed(c, b, both + columns), dims_b);
  return {c.emit("mul", {x, y}, {}, "product"), axes};
}

// a and b, of which later operands or the result still name the axes `needed`.
Term product(LayerContext& c, Term a, Term b, const std::string& needed) {
  a = summed(c, a, needed + b.axes);
  b = summed(c, b, needed + a.axes);
  std::string batch, inner, rows, columns;
  for (const char axis : a.axes) (has(b.axes, axis) ? (has(needed, axis) ? batch : inner) : rows) += axis;
  for (const char axis : b.axes)
    if (!has(a.axes, axis)) columns += axis;
  if (inner.empty()) return element_products(c, a, b);
  Dims shape = sizes(c, a, batch);
  const Dims r = sizes(c, a, rows), k = sizes(c, a, inner), n = sizes(c, b, columns);
  Dims left = shape, right = shape;
  left.insert(left.end(), {ir::product(r), ir::product(k)});
  right.insert(right.end(), {ir::product(k), ir::product(n)});
  const ValueId x = c.reshape(transposed(c, a, batch + rows + inner), left, "rows");
  const ValueId y = c.reshape(transposed(c, b, batch + inner + columns), right, "columns");
  const ValueId xy = c.emit("matmul", {x, y}, {}, "product");
  shape.insert(shape.end(), r.begin(), r.end());
  shape.insert(shape.end(), n.begin(), n.end());
  return {c.reshape(xy, shape, "product"), batch + rows + columns};
}

// Where nothing is said: what "..." stands for, then the names that stand once, in alphabetical order.
std::string implied(const std::vector<Term>& terms, int64_t dots) {
  std::map<char, int> times;
  for (const Term& t : terms)
    for (const char axis : t.axes) ++times[axis];
  std::string result;
  for (int64_t i = 0; i < dots; ++i) result += static_cast<char>('9' - (dots - 1 - i));
  for (const auto& [axis, count] : times)
    if (count == 1 && std::isalpha(axis) != 0) result += axis;
  return result;
}

// How many axes "..." stands for in an operand.
int64_t dotted(LayerContext& c, const std::string& text, size_t input) {
  const int64_t rank = c.type(c.in[input]).rank();
  const bool dots = text.find(kDots) != std::string::npos;
  const int64_t letters = std::ssize(text) - (dots ? std::ssize(kDots) : 0);
  if (letters > rank || (!dots && letters != rank))
    c.fail_setting("equation",
                   fmt::format("'{}' names {} axes of {}", text, letters, c.shape_text(c.dims(c.in[input]))), {},
                   input);
  return rank - letters;
}

std::vector<Term> read_terms(LayerContext& c, const Equation& e, int64_t& dots) {
  c.require_one_type();
  std::vector<Term> terms;
  std::map<char, int64_t> known;
  for (size_t i = 0; i < c.in.size(); ++i) {
    const int64_t count = dotted(c, e.operands[i], i);
    dots = std::max(dots, count);
    const Term t{c.in[i], named(c, e.operands[i], count)};
    for (size_t d = 0; d < t.axes.size(); ++d) {
      const int64_t size = c.dims(t.value)[d], first = known.try_emplace(t.axes[d], size).first->second;
      if (size != first)
        c.fail_setting("equation",
                       fmt::format("axis '{}' has {} elements, and {} in input {}", t.axes[d], first, size, i), {}, i);
    }
    terms.push_back(t);
  }
  return terms;
}

ir::Values build(LayerContext& c) {
  if (c.type(c.in[0]).dtype == ir::DType::boolean) c.fail("bool has no products", "cast it to i32");
  const Equation e = read_equation(c);
  int64_t dots = 0;
  std::vector<Term> terms = read_terms(c, e, dots);
  const std::string result = e.result ? named(c, *e.result, dots) : implied(terms, dots);
  std::string all;
  for (const Term& t : terms) all += t.axes;
  for (size_t i = 0; i < result.size(); ++i)
    if (!has(all, result[i]) || result.find(result[i]) != i)
      refuse(c, fmt::format("axis '{}' of the result stands in no input, or twice", result[i]));
  for (Term& t : terms) t = diagonal(c, t);
  Term sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = result;
    for (size_t later = i + 1; later < terms.size(); ++later) needed += terms[later].axes;
    sum = product(c, sum, terms[i], needed);
  }
  sum = summed(c, sum, result);
  return {transposed(c, sum, result)};
}

const RegisterLayer einsum({.name = "einsum",
                            .doc = "sums of products, by names of axes: \"bij,bjk->bik\" is a batch of matrix products",
                            .variadic = true,
                            .settings = {{.name = "equation",
                                          .type = KeyType::text,
                                          .doc = "a letter for each axis of each input, and those of the result",
                                          .required = true}},
                            .build = build});

}  // namespace
}  // namespace heddle::frontend
