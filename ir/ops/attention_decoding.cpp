// Decoding of attention: one or some tokens attend to themselves and to earlier tokens, whose keys and values lie in
// caches.
//
//   %attn = attention(%q, %k, %v) {causal = true, heads = 4}, f32[2,64,128]
//     -> state %attn.keys: f32[512,32]: a row for each of 2 texts, 4 heads and 64 tokens
//        %attn.keys.next = scatter_rows(%attn.keys, (text * 4 + head) * 64 + position, ..., %k) {combine = "set"}
//        the softmax of q times the keys up to the position, times the values: seen_products reads no others
//
// The keys of a head are contiguous, so both products read the caches without a transpose. Numbers of documents have
// another cache: a token sees the keys with its number. No cache is needed if the number is the same for all tokens.
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
  for (const auto& [operand, name] : {std::pair{a.lengths, "lengths"}, {a.key_mask, "key_mask"}})
    if (operand >= 0)
      return {fmt::format("reads '{}' of all tokens, and those that follow are not there yet", name),
              fmt::format("leave '{}' out of the model that generates: parameters stay the same", name)};
  if (a.rows * a.kv_heads * a.keys > std::numeric_limits<int32_t>::max())
    return {"has caches of more than 2^31 keys", "generate fewer texts at once: a smaller --batch"};
  return {};
}

class NextTokens {
 public:
  NextTokens(DecodeStep& step, const Signature& s, std::string name)
      : step_(step), b_(step.b), a_(attention_of(s, kExtras)), name_(std::move(name)) {}

  ValueId build(const Values& operands) {
    const ValueId keys = of_heads("keys", operands[1], a_.width),
                  values = of_heads("values", operands[2], a_.value_width);
    const ValueId q = heads_first(operands[0], a_.group(), a_.width);
    const ValueId products = with_keys(q, keys);
    const auto further = [&](int operand) { return operand < 0 ? ValueId() : operands[static_cast<size_t>(operand)]; };
    const ValueId x = scores(b_.reshape(products, dims()), further(a_.bias), further(a_.documents));
    const ValueId weights = b_.cast(b_("softmax", {x}), a_.dtype);
    const ValueId joined = b_.reshape(weights, {a_.rows, a_.kv_heads, a_.group() * step_.tokens, a_.keys});
    return heads_last(b_("matmul", {joined, values}, {}, name_));
  }

 private:
  bool one() const { return step_.tokens == 1; }
  // Of the scores: [rows,kv_heads,group,keys] of one token, [rows,heads,tokens,keys] of some.
  Dims dims() const {
    return one() ? Dims{a_.rows, a_.kv_heads, a_.group(), a_.keys} : Dims{a_.rows, a_.heads, step_.tokens, a_.keys};
  }
  ValueId count(const Dims& shape, int64_t axis) { return b_("iota", {}, {{"shape", shape}, {"axis", axis}}); }
  ValueId along(ValueId v, const Dims& shape, const Dims& axes) {
    return b_("broadcast", {v}, {{"shape", shape}, {"dims", axes}});
  }
  // The position of each token, broadcast over its scores.
  ValueId here() {
    return one() ? along(b_.reshape(step_.places, {a_.rows}), dims(), {0}) : along(step_.places, dims(), {0, 2});
  }

  // For one token, keys after its position are not read. In a cache that is mostly empty, these are most of the bytes.
  ValueId with_keys(ValueId q, ValueId keys) {
    if (one()) return b_("seen_products", {q, keys, b_.reshape(step_.places, {a_.rows})});
    return b_("matmul", {q, keys}, {{"transpose_b", true}});
  }

  // [rows,tokens,heads*width] -> [rows,kv_heads,group*tokens,width]; one token needs no transpose.
  ValueId heads_first(ValueId v, int64_t group, int64_t width) {
    const Dims joined{a_.rows, a_.kv_heads, group * step_.tokens, width};
    if (one()) return b_.reshape(v, joined);
    const ValueId apart = b_.reshape(v, {a_.rows, step_.tokens, a_.kv_heads, group, width});
    return b_.reshape(b_("transpose", {apart}, {{"perm", Dims{0, 2, 3, 1, 4}}}), joined);
  }
  ValueId heads_last(ValueId v) {
    const Dims joined{a_.rows, step_.tokens, a_.heads * a_.value_width};
    if (one()) return b_.reshape(v, joined);
    const ValueId apart = b_.reshape(v, {a_.rows, a_.kv_heads, a_.group(), step_.tokens, a_.value_width});
    return b_.reshape(b_("transpose", {apart}, {{"perm", Dims{0, 3, 1, 2, 4}}}), joined);
  }

  ValueId of_heads(const std::string& what, ValueId part, int64_t width) {
    return cached(what, heads_first(part, 1, width), a_.kv_heads, width);
  }
  // Writes the part [rows,heads,tokens,width] of the step's tokens into the cache, and returns the whole cache,
  // [rows,heads,keys,width]. Tokens that a row does not have get the order -1, so that they are not written.
  ValueId cached(const std::string& what, ValueId part, int64_t heads_of_row, int64_t width) {
    const int64_t heads = a_.rows * heads_of_row, all = heads * step_.tokens;
    const Dims each{a_.rows, heads_of_row, step_.tokens};
    const ValueId cache = step_.state(name_ + "." + what, {b_.type(part).dtype, {heads * a_.keys, width}});
    const ValueId head = b_.reshape(count({heads, step_.tokens}, 0), each);
    const Expr at = Expr{b_, head} * static_cast<double>(a_.keys) + Expr{b_, along(step_.places, each, {0, 2})};
    ValueId order = count({all}, 0);
    if (step_.count.valid()) {
      const ValueId there = b_("lt", {count(each, 2), along(step_.count, each, {0})});
      order = b_("select", {b_.reshape(there, {all}), order, b_.like(-1, order)});
    }
    const ValueId next = b_("scatter_rows", {cache, b_.reshape(at, {all}), order, b_.reshape(part, {all, width})},
                            {{"combine", "set"}}, name_ + "." + what + ".next");
    step_.update(cache, next);
    return b_.reshape(next, {a_.rows, heads_of_row, a_.keys, width});
  }

  // For all scores: whether the token and the key belong to the same document. `numbers` are the tokens',
  // [rows,tokens].
  ValueId of_one_document(ValueId numbers) {
    const ValueId all = cached("documents", b_.reshape(numbers, {a_.rows, 1, step_.tokens, 1}), 1, 1);
    const ValueId of_keys = along(b_.reshape(all, {a_.rows, a_.keys}), dims(), {0, 3});
    return b_("eq",
              {one() ? along(b_.reshape(numbers, {a_.rows}), dims(), {0}) : along(numbers, dims(), {0, 2}), of_keys});
  }
  bool is_same_for_all(ValueId v) const {
    const Node* n = b_.graph.def(v);
    return n != nullptr && n->op->traits.splat != nullptr;
  }

  // -8 / heads and so on as powers of 2 (alibi_slope), times the distance to each key.
  ValueId penalty() {
    const Dims shape = dims();
    Values slopes;
    for (int64_t head = 0; head < a_.heads; ++head)
      slopes.push_back(b_.constant(alibi_slope(head, a_.heads), {a_.score_dtype(), {1}}));
    ValueId of_head = slopes.size() == 1 ? slopes[0] : b_("concat", slopes, {{"axis", int64_t{0}}});
    if (one()) of_head = b_.reshape(of_head, {shape[1], shape[2]});
    const ValueId distance = b_("sub", {here(), count(shape, 3)});
    const ValueId steep = along(of_head, shape, one() ? Dims{1, 2} : Dims{1});
    return b_("mul", {steep, b_.cast(distance, a_.score_dtype())});
  }

  // Of [1 or rows, 1 or heads, 1 or tokens, 1 or keys], or with the rows in front of these, in all scores.
  ValueId biases(ValueId bias) {
    Dims parts = b_.type(bias).dims;
    if (parts.size() == 5) parts.erase(parts.begin() + 1);  // the rows are in front of a single one
    if (one()) parts = {parts[0], parts[1] == 1 ? 1 : a_.kv_heads, parts[1] == 1 ? 1 : a_.group(), parts[3]};
    return b_.broadcast_to(b_.cast(b_.reshape(bias, parts), a_.score_dtype()), dims());
  }

  ValueId scores(ValueId products, ValueId bias, ValueId documents) {
    Expr x = Expr{b_, b_.cast(products, a_.score_dtype())} * a_.scale;
    if (a_.cap > 0) x.id = apply("tanh", x / a_.cap) * a_.cap;
    if (bias.valid()) x.id = b_("add", {x.id, biases(bias)});
    if (a_.alibi) x.id = b_("sub", {x.id, penalty()});
    const ValueId key = count(dims(), 3), here = this->here();
    ValueId seen = b_("le", {key, here});
    if (a_.window > 0 && a_.window < a_.keys) {
      const ValueId distance = b_("sub", {here, key});
      seen = b_("and", {seen, b_("lt", {distance, b_.like(static_cast<double>(a_.window), distance)})});
    }
    if (documents.valid() && !is_same_for_all(documents)) seen = b_("and", {seen, of_one_document(documents)});
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
      .bounded = true,
      .tokens_axis = [](const Signature& s, size_t operand) -> int64_t {
        return operand < kExtras || attention_of(s, kExtras).documents == static_cast<int>(operand) ? 1 : 2;
      },
      .refusal = refusal,
      .build = [](DecodeStep& step, const Signature& s, const std::string& name,
                  const Values& operands) { return NextTokens(step, s, name).build(operands); }};
  return decoding;
}

}  // namespace heddle::ir
