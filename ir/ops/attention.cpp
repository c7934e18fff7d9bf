// attention and its gradients. They stay whole until `choose` compares their candidates.
#include "ir/ops/attention.h"

#include "ir/mixed_precision.h"
#include "ir/op_def.h"
#include "ir/ops/expr.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

constexpr size_t kExtras = 3, kGradientExtras = 6;

std::vector<Type> infer(const Signature& s) { return attention_types(attention_of(s, kExtras)); }

// Why the form in blocks cannot execute the node, or "".
std::string refuse_blocks(const Graph& g, const Node& n, size_t extras) {
  const Attention a = attention_of(signature(g, n), extras);
  constexpr int64_t kMostWidth = 256;  // of a block in a processor's second cache
  if (a.dtype != DType::f32) return "blocks are of f32, not of " + to_string(a.dtype);
  if (a.width > kMostWidth || a.value_width > kMostWidth) return "heads are wider than 256";
  return "";
}

Form in_blocks(std::string op, size_t extras) {
  return {.name = "in blocks",
          .refusal = [extras](const Graph& g, const Node& n) { return refuse_blocks(g, n, extras); },
          .build = [op = std::move(op)](Builder& b, const Node& n) { return b.multi(op, n.operands, n.attrs); }};
}

// delta [N,H,T] from dy and y [N,T,H*d]: the sum of their products over a head, minus the gradient of lse.
ValueId delta_of(Builder& b, const Attention& a, ValueId dy, ValueId y, ValueId of_lse) {
  const auto wide = [&](ValueId v) {
    return b.reshape(b.cast(v, a.score_dtype()), {a.rows, a.queries, a.heads, a.value_width});
  };
  const ValueId along = b("reduce_sum", {b("mul", {wide(dy), wide(y)})}, {{"axes", Dims{3}}});
  const ValueId delta = b("transpose", {along}, {{"perm", Dims{0, 2, 1}}});
  return of_lse.valid() ? b("sub", {delta, of_lse}) : delta;
}

Grads grad(Builder& b, const Node& n, const Values& dy) {
  const Attention a = attention_of(signature(b.graph, n), kExtras);
  const ValueId y = n.results[0], of_y = dy[0].valid() ? dy[0] : b.like(0, y);
  Values operands{n.operands[0], n.operands[1], n.operands[2], of_y, n.results[1], delta_of(b, a, of_y, y, dy[1])};
  operands.insert(operands.end(), n.operands.begin() + kExtras, n.operands.end());
  Grads grads = b.multi("attention_grad", operands, n.attrs);
  grads.resize(n.operands.size());
  if (a.bias >= 0) grads[static_cast<size_t>(a.bias)] = b("attention_bias_grad", operands, n.attrs);
  return grads;
}

const RegisterOp attention(
    {.name = "attention",
     .doc = "y = softmax(scale q k^T, with all that its attributes say) v for each head, and lse, the logarithms of "
            "the sums of exp of the scores. A key that a query does not see has no share in it, whatever it holds; a "
            "query that sees none has y = 0 and lse = 0 (Vaswani et al. 2017, arXiv:1706.03762)",
     .operands = {"q", "k", "v"},
     .variadic = true,
     .results = {"y", "lse"},
     .attrs = attention_attributes(),
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = infer,
     .eval = eval_attention,
     .grad = grad,
     .decomposition = [](Builder& b, const Node& n) { return AttentionGraph(b, n, kExtras).forward(); },
     .forms = {in_blocks("attention_blocks", kExtras)},
     .decoding = &attention_decoding(),
     .flops = 10,
     .samples = attention_samples()});

const RegisterOp attention_grad(
    {.name = "attention_grad",
     .doc = "the gradients of attention by q, k and v: weights come again from lse; delta is the sum of dy * y over "
            "each head, less the gradient of lse",
     .operands = {"q", "k", "v", "dy", "lse", "delta"},
     .variadic = true,
     .results = {"dq", "dk", "dv"},
     .attrs = attention_attributes(),
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = attention_gradient_types,
     .eval = [](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
       AttentionGradients g = eval_attention_gradients(s, in);
       return {std::move(g.dq), std::move(g.dk), std::move(g.dv)};
     },
     .decomposition = [](Builder& b, const Node& n) -> Values {
       const auto g = AttentionGraph(b, n, kGradientExtras).backward(n.operands[3], n.operands[4], n.operands[5]);
       return {g.dq, g.dk, g.dv};
     },
     .forms = {in_blocks("attention_blocks_grad", kGradientExtras)},
     .precondition = kOfItsSums,
     .flops = 20,
     .samples = attention_gradient_samples()});

// The gradient of the bias: the gradient of the scores, summed over the axes along which the bias repeats.
Values bias_gradient(Builder& b, const Node& n) {
  AttentionGraph graph(b, n, kGradientExtras);
  const Type bias = b.type(n.operands[static_cast<size_t>(graph.shape().bias)]);
  ValueId ds = graph.backward(n.operands[3], n.operands[4], n.operands[5]).scores;
  const Dims whole = b.type(ds).dims;
  Dims axes;
  for (size_t d = 0; d < whole.size(); ++d)
    if (bias.dims[d] != whole[d]) axes.push_back(static_cast<int64_t>(d));
  if (!axes.empty()) ds = b("reduce_sum", {ds}, {{"axes", axes}});
  return {b.reshape(b.cast(ds, bias.dtype), bias.dims)};
}

std::vector<Type> infer_bias_grad(const Signature& s) {
  attention_gradient_types(s);
  const Attention a = attention_of(s, kGradientExtras);
  if (a.bias < 0) throw InferError("expected an attention with a bias");
  return {s.operands[static_cast<size_t>(a.bias)]};
}

std::vector<Tensor> eval_bias_grad(const Signature& s, std::span<const Tensor* const> in) {
  const AttentionGradients g = eval_attention_gradients(s, in);
  const Attention a = attention_of(s, kGradientExtras);
  Tensor dbias(s.results[0]);
  for (int64_t i = 0; i < product(a.score_dims()); ++i) {
    int64_t place = 0, rest = i, step = product(a.score_dims());
    for (size_t d = 0; d < 4; ++d) {
      step /= a.score_dims()[d];
      place = place * dbias.type.dims[d] + (dbias.type.dims[d] == 1 ? 0 : rest / step);
      rest %= step;
    }
    dbias.real[static_cast<size_t>(place)] += g.scores[static_cast<size_t>(i)];
  }
  return {dbias};
}

Sample biased(Dims q, Dims k, Dims v, const Dims& bias, Attrs attrs) {
  const int64_t heads = std::get<int64_t>(attrs.at("heads"));
  const Dims sums{q[0], heads, q[1]}, dy{q[0], q[1], v[2]};
  attrs["bias"] = true;
  return {.shapes = {std::move(q), std::move(k), std::move(v), dy, sums, sums, bias}, .attrs = std::move(attrs)};
}

const RegisterOp attention_bias_grad(
    {.name = "attention_bias_grad",
     .doc = "the gradient of attention by its bias, of the operands of attention_grad",
     .operands = {"q", "k", "v", "dy", "lse", "delta"},
     .variadic = true,
     .results = {"dbias"},
     .attrs = attention_attributes(),
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = infer_bias_grad,
     .eval = eval_bias_grad,
     .decomposition = bias_gradient,
     .precondition = kOfItsSums,
     .flops = 10,
     .samples = {
         biased({2, 3, 4}, {2, 5, 4}, {2, 5, 6}, {2, 2, 3, 5}, {{"heads", int64_t{2}}}),
         biased({2, 3, 4}, {2, 5, 4}, {2, 5, 2}, {1, 2, 3, 5}, {{"heads", int64_t{2}}, {"causal", true}}),
         biased({2, 3, 3}, {2, 4, 3}, {2, 4, 1}, {1, 1, 1, 4}, {{"heads", int64_t{1}}, {"soft_cap", 1.5}}),
         biased({1, 1, 2}, {1, 1, 2}, {1, 1, 2}, {1, 1, 1, 1}, {{"heads", int64_t{1}}}),
         biased({3, 5, 2}, {3, 5, 2}, {3, 5, 2}, {3, 1, 5, 1}, {{"heads", int64_t{2}}, {"window", int64_t{2}}})}});

// With 16-bit operands, scores and softmax are still computed in f32.
const StatesMixedPrecision products({"attention", "attention_grad"}, MixedRule::narrow);

}  // namespace
}  // namespace heddle::ir
