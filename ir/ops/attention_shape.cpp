// Sizes, attributes and operands of attention and of what computes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/ops/attention.h"
#include "ir/ops/precision.h"

namespace heddle::ir {
namespace {

constexpr int64_t kMostScores = int64_t{1} << 40;

[[noreturn]] void fail(const std::string& text) { throw InferError(text); }

void require(const Type& got, const Type& expected, const char* name) {
  if (got != expected) fail(fmt::format("{} is {}, expected {}", name, to_string(got), to_string(expected)));
}

int64_t product_or_fail(std::initializer_list<int64_t> sizes) {
  int64_t all = 1;
  for (const int64_t size : sizes) {
    if (all > kMostScores / size) fail("more than 2^40 scores");
    all *= size;
  }
  return all;
}

void check_bias(const Attention& a, const Type& bias) {
  const Dims whole = a.score_dims();
  bool fits = bias.dtype == a.dtype && bias.rank() == 4;
  for (size_t d = 0; fits && d < whole.size(); ++d) fits = bias.dims[d] == whole[d] || bias.dims[d] == 1;
  if (!fits)
    fail(fmt::format("bias is {}, expected {}, of size 1 along axes that it repeats along", to_string(bias),
                     to_string(Type{a.dtype, whole})));
}

void read_numbers(const Signature& s, Attention& a) {
  a.causal = s.flag("causal");
  a.alibi = s.flag("alibi");
  a.window = s.integer("window");
  a.scale = s.real("scale");
  a.cap = s.real("soft_cap");
  a.rate = s.real("rate");
  if (a.window < 0) fail(fmt::format("window is {}, expected at least 1, or 0 for none", a.window));
  if (!std::isfinite(a.scale)) fail(fmt::format("scale is {}, expected a finite number", real_text(a.scale)));
  if (!(a.cap >= 0 && std::isfinite(a.cap)))
    fail(fmt::format("soft_cap is {}, expected a finite number above 0, or 0 for none", real_text(a.cap)));
  if (!(a.rate >= 0 && a.rate < 1)) fail(fmt::format("rate is {}, expected 0 to 1", real_text(a.rate)));
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<double>(a.width));
}

// Heads, and the sizes of q, k and v.
void read_sizes(const Signature& s, Attention& a) {
  const Type &q = s.operands[0], &k = s.operands[1], &v = s.operands[2];
  for (const auto& [type, name] : {std::pair{&q, "q"}, {&k, "k"}, {&v, "v"}})
    if (type->rank() != 3 || type->dtype != q.dtype)
      fail(fmt::format("{} is {}, expected {}[rows, length, heads * width]", name, to_string(*type),
                       to_string(q.dtype)));
  a.dtype = q.dtype;
  a.heads = s.integer("heads");
  a.kv_heads = s.integer("kv_heads");
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.heads < 1 || q.dims[2] % a.heads != 0)
    fail(fmt::format("{} heads do not divide the last axis of q, {}", a.heads, q.dims[2]));
  if (a.kv_heads < 1 || a.heads % a.kv_heads != 0)
    fail(fmt::format("{} heads cannot share {} heads of keys", a.heads, a.kv_heads));
  a.rows = q.dims[0], a.queries = q.dims[1], a.keys = k.dims[1], a.width = q.dims[2] / a.heads;
  if (k.dims[0] != a.rows || k.dims[2] / a.kv_heads != a.width || k.dims[2] % a.kv_heads != 0)
    fail(fmt::format("k is {}, expected [{},length,{}]: {} heads as wide as those of q", to_string(k), a.rows,
                     a.kv_heads * a.width, a.kv_heads));
  if (v.dims[0] != a.rows || v.dims[1] != a.keys || v.dims[2] % a.kv_heads != 0)
    fail(fmt::format("v is {}, expected [{},{},{} * width]", to_string(v), a.rows, a.keys, a.kv_heads));
  a.value_width = v.dims[2] / a.kv_heads;
  product_or_fail({a.rows, a.heads, a.queries, a.keys});
}

}  // namespace

double Attention::seen_pairs() const {
  const auto q = static_cast<double>(queries), k = static_cast<double>(keys);
  double pairs = q * k;
  const double before = std::min(q, k);  // a triangle in the place of a square
  if (causal) pairs -= before * (before - 1) / 2;
  const double width_of_window = static_cast<double>(window) * (causal ? 1 : 2);
  return window > 0 ? std::min(pairs, q * width_of_window) : pairs;
}

std::vector<Key> attention_attributes() {
  const auto flag = [](const char* name, const char* doc) {
    return Key{.name = name, .type = KeyType::flag, .doc = doc, .fallback = false};
  };
  return with_precision(
      {{.name = "heads", .type = KeyType::integer, .doc = "of queries", .required = true},
       {.name = "kv_heads", .type = KeyType::integer, .doc = "of keys and values; 0: as many", .fallback = int64_t{0}},
       flag("causal", "no query sees a key behind it; the last query stands at the last key"),
       {.name = "window",
        .type = KeyType::integer,
        .doc = "a query sees keys less than so many places away; 0: all",
        .fallback = int64_t{0}},
       {.name = "scale", .type = KeyType::real, .doc = "times q k^T; 0: 1 / sqrt(width of a head)", .fallback = 0.0},
       {.name = "soft_cap", .type = KeyType::real, .doc = "c: scores become c tanh(x / c); 0: none", .fallback = 0.0},
       flag("alibi", "scores less a slope of each head times the distance"),
       {.name = "rate", .type = KeyType::real, .doc = "share of weights that is dropped", .fallback = 0.0},
       {.name = "stream", .type = KeyType::integer, .doc = "of the random numbers", .fallback = int64_t{0}},
       flag("bias", "an operand is added to the scores, [rows, heads, queries, keys], each of them or 1"),
       flag("lengths", "an operand says how many keys each row has"),
       flag("key_mask", "an operand says which keys there are, bool [rows, keys]"),
       flag("documents", "an operand numbers the document of each key: queries see those of their own")});
}

Attention attention_of(const Signature& s, size_t extras) {
  check_precision(s);
  Attention a;
  read_sizes(s, a);
  read_numbers(s, a);
  size_t next = extras;
  const auto take = [&](bool there) { return there ? static_cast<int>(next++) : -1; };
  a.bias = take(s.flag("bias"));
  a.lengths = take(s.flag("lengths"));
  a.key_mask = take(s.flag("key_mask"));
  a.documents = take(s.flag("documents"));
  a.seed = take(a.rate > 0);
  a.step = take(a.rate > 0);
  if (s.operands.size() != next) fail(fmt::format("expected {} operands, got {}", next, s.operands.size()));
  const auto operand = [&](int i) -> const Type& { return s.operands[static_cast<size_t>(i)]; };
  if (a.bias >= 0) check_bias(a, operand(a.bias));
  if (a.lengths >= 0) require(operand(a.lengths), {DType::i32, {a.rows}}, "lengths");
  if (a.key_mask >= 0) require(operand(a.key_mask), {DType::boolean, {a.rows, a.keys}}, "key_mask");
  if (a.documents >= 0) require(operand(a.documents), {DType::i32, {a.rows, a.keys}}, "documents");
  if (a.documents >= 0 && a.queries > a.keys)
    fail(fmt::format("{} queries are more than the {} keys that documents number", a.queries, a.keys));
  if (a.seed >= 0) require(operand(a.seed), {DType::i64, {}}, "seed");
  if (a.step >= 0) require(operand(a.step), {DType::i64, {}}, "step");
  return a;
}

std::vector<Type> attention_types(const Attention& a) { return {{a.dtype, a.result_dims()}, a.sums_type()}; }

std::vector<Type> attention_gradient_types(const Signature& s) {
  const Attention a = attention_of(s, 6);
  require(s.operands[3], {a.dtype, a.result_dims()}, "dy");
  require(s.operands[4], a.sums_type(), "lse");
  require(s.operands[5], a.sums_type(), "delta");
  return {s.operands[0], s.operands[1], s.operands[2]};
}

// 2^(-8 (h + 1) / n) for n heads, a power of two; further heads lie between the first ones (Press et al. 2022,
// arXiv:2108.12409).
double alibi_slope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  const double eighths = head < power ? static_cast<double>(head + 1) : static_cast<double>(head - power) + 0.5;
  return std::exp2(-8 * eighths / static_cast<double>(power));
}

namespace {

struct Sizes {
  int64_t rows, queries, keys, heads, kv_heads, width, value_width;
};

Sample sample(const Sizes& z, Attrs attrs, const Dims& bias = {}) {
  Sample s{.shapes = {{z.rows, z.queries, z.heads * z.width},
                      {z.rows, z.keys, z.kv_heads * z.width},
                      {z.rows, z.keys, z.kv_heads * z.value_width}},
           .attrs = std::move(attrs),
           .below = z.keys + 1,
           .dtypes = {DType::f32, DType::f32, DType::f32}};
  s.attrs["heads"] = z.heads;
  if (z.kv_heads != z.heads) s.attrs["kv_heads"] = z.kv_heads;
  const auto extra = [&](const char* name, DType dtype, const Dims& dims) {
    if (!s.attrs.contains(name)) return;
    s.shapes.push_back(dims);
    s.dtypes.push_back(dtype);
  };
  extra("bias", DType::f32, bias);
  extra("lengths", DType::i32, {z.rows});
  extra("key_mask", DType::boolean, {z.rows, z.keys});
  extra("documents", DType::i32, {z.rows, z.keys});
  extra("rate", DType::i64, {});
  extra("rate", DType::i64, {});
  if (s.attrs.contains("documents")) s.below = 3;
  return s;
}

}  // namespace

std::vector<Sample> attention_samples() {
  return {sample({2, 5, 5, 2, 2, 3, 3}, {}),
          sample({1, 1, 1, 1, 1, 1, 1}, {{"causal", true}}),
          sample({2, 7, 7, 2, 2, 4, 4}, {{"causal", true}, {"scale", 0.75}}),
          sample({1, 3, 9, 4, 2, 5, 2}, {{"causal", true}, {"alibi", true}}),
          sample({2, 6, 11, 2, 1, 3, 5}, {{"lengths", true}, {"soft_cap", 0.5}}),
          sample({2, 9, 9, 2, 2, 2, 2}, {{"causal", true}, {"window", int64_t{3}}, {"documents", true}}),
          sample({3, 4, 7, 3, 3, 2, 2}, {{"key_mask", true}, {"window", int64_t{2}}, {"alibi", true}}),
          sample({2, 3, 5, 2, 2, 3, 3}, {{"bias", true}, {"lengths", true}}, {1, 2, 3, 5}),
          sample({2, 5, 4, 2, 1, 3, 2}, {{"bias", true}, {"causal", true}, {"soft_cap", 2.0}}, {2, 1, 1, 4}),
          sample({2, 4, 8, 2, 2, 3, 3}, {{"rate", 0.25}, {"stream", int64_t{5}}, {"causal", true}}),
          sample({1, 6, 7, 3, 3, 2, 3}, {{"rate", 0.5}, {"stream", int64_t{7}}, {"key_mask", true}}),
          sample({1, 70, 70, 2, 2, 4, 6}, {{"causal", true}}),
          sample({1, 67, 135, 2, 1, 17, 3}, {{"causal", true}, {"window", int64_t{50}}, {"lengths", true}})};
}

std::vector<Sample> attention_gradient_samples() {
  std::vector<Sample> list = attention_samples();
  for (Sample& s : list) {
    const Dims &q = s.shapes[0], &v = s.shapes[2];
    const int64_t heads = std::get<int64_t>(s.attrs.at("heads"));
    const int64_t kv_heads = value_or(s.attrs, "kv_heads", heads);
    const Dims sums{q[0], heads, q[1]};
    s.shapes.insert(s.shapes.begin() + 3, {{q[0], q[1], v[2] / kv_heads * heads}, sums, sums});
    s.dtypes.insert(s.dtypes.begin() + 3, 3, DType::f32);
  }
  return list;
}

}  // namespace heddle::ir
