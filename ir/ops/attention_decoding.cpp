// Attention of one token to itself and those before it: their keys and values lie in caches.
//
//   %attn = attention(%q, %k, %v) {causal = true, heads = 4}, f32[2,64,128]
//     -> state %attn.keys: f32[512,32]: a row for each of 2 texts, 4 heads and 64 tokens
//        %attn.keys.next = scatter_rows(%attn.keys, (text * 4 + head) * 64 + position, ..., %k) {combine = "set"}
//        the softmax of q times the keys up to the position, times the values
//
// Keys of a head lie side by side, so that both products read the caches as they lie.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/decoding.h"
#include "ir/ops/attention.h"
#include "ir/ops/expr.h"

namespace heddle::ir {
namespace {

constexpr size_t kExtras = 3;

DecodeRefusal refusal(const Signature& s) {
  const Attention a = attention_of(s, kExtras);
  if (a.queries != a.keys)
    return {
        fmt::format("has {} queries and {} keys: tokens attend to others than those of their text", a.queries, a.keys),
        "only attention of a text to itself is decoded"};
  if (!a.causal) return {"is not causal: a token sees those behind it", R"(train it with "causal": true)"};
  for (const auto& [operand, name] :
       {std::pair{a.bias, "bias"}, {a.lengths, "lengths"}, {a.key_mask, "key_mask"}, {a.documents, "documents"}})
    if (operand >= 0)
      return {fmt::format("reads '{}' of all tokens, and those that follow are not there yet", name),
              fmt::format("leave '{}' out of the model that generates: parameters stay the same", name)};
  if (a.rows * a.kv_heads * a.keys > std::numeric_limits<int32_t>::max())
    return {"has caches of more than 2^31 keys", "generate fewer texts at once: a smaller --batch"};
  return {};
}

class OneToken {
 public:
  OneToken(DecodeStep& step, const Signature& s, std::string name)
      : step_(step), b_(step.b), a_(attention_of(s, kExtras)), name_(std::move(name)) {}

  ValueId build(const Values& operands) {
    const ValueId keys = cached("keys", operands[1], a_.width), values = cached("values", operands[2], a_.value_width);
    const ValueId q = b_.reshape(operands[0], {a_.rows, a_.kv_heads, a_.group(), a_.width});
    const ValueId products = b_("matmul", {q, keys}, {{"transpose_b", true}});
    const ValueId weights = b_("softmax", {scores(products)});
    const ValueId y = b_("matmul", {b_.cast(weights, a_.dtype), values}, {}, name_);
    return b_.reshape(y, {a_.rows, 1, a_.heads * a_.value_width});
  }

 private:
  Dims dims() const { return {a_.rows, a_.kv_heads, a_.group(), a_.keys}; }
  ValueId count(const Dims& shape, int64_t axis) { return b_("iota", {}, {{"shape", shape}, {"axis", axis}}); }
  // The position of each row, in all elements of its row.
  ValueId place(const Dims& shape) { return b_("broadcast", {step_.position}, {{"shape", shape}, {"dims", Dims{0}}}); }

  // [rows, kv_heads, keys, width] with this token's part in its place.
  ValueId cached(const std::string& what, ValueId part, int64_t width) {
    const int64_t heads = a_.rows * a_.kv_heads;
    const ValueId cache = step_.state(name_ + "." + what, {a_.dtype, {heads * a_.keys, width}});
    const Dims shape{a_.rows, a_.kv_heads};
    const Expr first = Expr{b_, b_.reshape(count({heads}, 0), shape)} * static_cast<double>(a_.keys);
    const Expr at = first + Expr{b_, place(shape)};
    const ValueId next =
        b_("scatter_rows", {cache, b_.reshape(at, {heads}), count({heads}, 0), b_.reshape(part, {heads, width})},
           {{"combine", "set"}}, name_ + "." + what + ".next");
    step_.update(cache, next);
    return b_.reshape(next, {a_.rows, a_.kv_heads, a_.keys, width});
  }

  // -8 / heads and so on as powers of 2 (alibi_slope), times the distance to each key.
  ValueId penalty() {
    const Dims shape = dims();
    Values slopes;
    for (int64_t head = 0; head < a_.heads; ++head)
      slopes.push_back(b_.constant(alibi_slope(head, a_.heads), {a_.score_dtype(), {1}}));
    const ValueId of_head =
        b_.reshape(slopes.size() == 1 ? slopes[0] : b_("concat", slopes, {{"axis", int64_t{0}}}), {shape[1], shape[2]});
    const ValueId distance = b_("sub", {place(shape), count(shape, 3)});
    const ValueId steep = b_("broadcast", {of_head}, {{"shape", shape}, {"dims", Dims{1, 2}}});
    return b_("mul", {steep, b_.cast(distance, a_.score_dtype())});
  }

  ValueId scores(ValueId products) {
    const Dims shape = dims();
    Expr x = Expr{b_, b_.cast(products, a_.score_dtype())} * a_.scale;
    if (a_.cap > 0) x.id = apply("tanh", x / a_.cap) * a_.cap;
    if (a_.alibi) x.id = b_("sub", {x.id, penalty()});
    const ValueId key = count(shape, 3), here = place(shape);
    ValueId seen = b_("le", {key, here});
    if (a_.window > 0 && a_.window < a_.keys) {
      const ValueId distance = b_("sub", {here, key});
      seen = b_("and", {seen, b_("lt", {distance, b_.like(static_cast<double>(a_.window), distance)})});
    }
    return b_("select", {seen, x.id, x.like(-std::numeric_limits<double>::infinity())});
  }

  DecodeStep& step_;
  Builder& b_;
  const Attention a_;
  const std::string name_;
};

}  // namespace

const Decoding& attention_decoding() {
  static const Decoding decoding{
      .sequences = 3,
      .refusal = refusal,
      .build = [](DecodeStep& step, const Signature& s, const std::string& name, const Values& operands) {
        return OneToken(step, s, name).build(operands);
      }};
  return decoding;
}

}  // namespace heddle::ir
