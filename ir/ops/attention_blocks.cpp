// attention_blocks, attention_blocks_grad: attention by functions of the preamble that go through blocks of queries and
// keys, so that the scores are never in memory.
#include <fmt/format.h>

#include <algorithm>

#include "ir/op_def.h"
#include "ir/ops/attention.h"

namespace heddle::ir {
namespace {

constexpr size_t kExtras = 3, kGradientExtras = 6;
constexpr int64_t kFewHeads = 8;  // fewer are cut into blocks in the gradient, too

bool goes_by_heads(const Attention& a) { return a.rows * a.kv_heads >= kFewHeads; }

const char* text(bool flag) { return flag ? "true" : "false"; }

std::string options(const Signature& s, const Attention& a) {
  std::string bias = "false, 0, 0, 0, 0";
  if (a.bias >= 0) {
    const Dims& dims = s.operands[static_cast<size_t>(a.bias)].dims;
    const Dims strides = row_major_strides(dims);
    bias = "true";
    for (size_t d = 0; d < 4; ++d) bias += fmt::format(", {}", dims[d] == 1 ? 0 : strides[d]);
  }
  const int64_t window = a.window > a.queries + a.keys ? 0 : a.window;
  return fmt::format("hd::AttentionOptions<{}, {}, {}, {}, {}, {}, {}, {}, {}>", text(a.causal), window, text(a.alibi),
                     text(a.lengths >= 0), text(a.key_mask >= 0), text(a.documents >= 0), text(a.cap > 0),
                     text(a.rate > 0), bias);
}

std::string number(const Attention& a, double value) {
  return a.dtype == DType::f64 ? real_text(value) : fmt::format("(float)({})", real_text(value));
}

std::vector<std::pair<std::string, std::string>> words(const Signature& s, const Attention& a) {
  const char* type = a.dtype == DType::f64 ? "double" : "float";
  const auto pointer = [](int operand, const std::string& of) {
    return operand >= 0 ? fmt::format("#{}", operand) : fmt::format("(const {}*)0", of);
  };
  return {{"Shape", fmt::format("hd::AttentionShape<{}, {}, {}, {}, {}, {}, {}>", a.rows, a.heads, a.kv_heads,
                                a.queries, a.keys, a.width, a.value_width)},
          {"Options", options(s, a)},
          {"Element", type},
          {"bias_of", pointer(a.bias, type)},
          {"lengths_of", pointer(a.lengths, "int")},
          {"key_mask_of", pointer(a.key_mask, "hd::u8")},
          {"documents_of", pointer(a.documents, "int")},
          {"seed_of", pointer(a.seed, "hd::i64")},
          {"step_of", pointer(a.step, "hd::i64")},
          {"scale_of", number(a, a.scale)},
          {"cap_of", number(a, a.cap == 0 ? 1 : a.cap)},
          {"rate_of", fmt::format("(float)({})", real_text(a.rate))},
          {"by_heads", text(goes_by_heads(a))}};
}

double operations_of_score(const Attention& a) {
  constexpr double kOfScore = 25, kOfRandom = 15;  // exp, the masks and sums
  return kOfScore + (a.rate > 0 ? kOfRandom : 0) + (a.cap > 0 ? kOfScore : 0);
}

// `products`: multiplications and additions for a query's key.
FlopCounts flop_counts(const Attention& a, double products) {
  const double pairs = a.seen_pairs() * static_cast<double>(a.rows * a.heads), of_products = 2 * pairs * products;
  return {.flops = of_products + pairs * operations_of_score(a), .products = of_products};
}

PrimitivePlan plan_of(const Signature& s, const Attention& a, const FlopCounts& counts, int64_t jobs, int64_t workers) {
  constexpr int64_t kThreads = 128, kWarps = kThreads / 32;
  constexpr double kInstructionsOfProduct = 3.0 / 32 / 2;  // of a warp: loads, and a multiplication with an addition
  return {.words = words(s, a),
          .threads = kThreads,
          .blocks = (jobs + kWarps - 1) / kWarps,
          .workers = workers,
          .instructions = counts.products * kInstructionsOfProduct + (counts.flops - counts.products) / 32,
          .dependent_loads = 2.0 * a.seen_pairs() / static_cast<double>(a.queries) / 32 * static_cast<double>(a.width)};
}

constexpr int64_t kBlock = 64;

FlopCounts counts_of_forward(const Attention& a) {
  return flop_counts(a, static_cast<double>(a.width + a.value_width));
}
FlopCounts counts_of_gradient(const Attention& a) {
  const auto both = static_cast<double>(a.width + a.value_width), width = static_cast<double>(a.width);
  return flop_counts(a, (goes_by_heads(a) ? 1 : 2) * both + both + width);
}

PrimitivePlan plan(const Signature& s) {
  const Attention a = attention_of(s, kExtras);
  const int64_t blocks = (a.queries + kBlock - 1) / kBlock;
  return plan_of(s, a, counts_of_forward(a), a.rows * a.heads * a.queries, a.rows * a.heads * blocks);
}

PrimitivePlan plan_grad(const Signature& s) {
  const Attention a = attention_of(s, kGradientExtras);
  const int64_t of_heads = a.rows * a.kv_heads;
  const int64_t of_blocks =
      of_heads * ((a.keys + 4 * kBlock - 1) / (4 * kBlock)) + a.rows * a.heads * ((a.queries + kBlock - 1) / kBlock);
  return plan_of(s, a, counts_of_gradient(a), a.rows * (a.heads * a.queries + a.kv_heads * a.keys),
                 goes_by_heads(a) ? of_heads : of_blocks);
}

std::string scores_text() {
  return "hd::AttentionScores<Shape, Options, Element>{bias_of, lengths_of, key_mask_of, documents_of, seed_of, "
         "step_of, stream, scale_of, cap_of, rate_of}";
}

std::vector<Key> attributes() {
  std::vector<Key> list = attention_attributes();
  for (Key& key : list)
    if (key.name == "stream") key.scalar = true;
  return list;
}

std::vector<Type> infer(const Signature& s) {
  const Attention a = attention_of(s, kExtras);
  return attention_types(a);
}

const RegisterOp blocks(
    {.name = "attention_blocks",
     .doc = "attention, in blocks of queries and keys: what it becomes where that is predicted to be faster",
     .operands = {"q", "k", "v"},
     .variadic = true,
     .results = {"y", "lse"},
     .attrs = attributes(),
     .dtypes = {DType::f32, DType::f64},
     .kind = Primitive{.call = "hd::attention<Shape, Options>(q, k, v, " + scores_text() + ", y, lse);",
                       .plan = plan,
                       .flop_counts = [](const Signature& s) { return counts_of_forward(attention_of(s, kExtras)); }},
     .infer = infer,
     .eval = eval_attention,
     .no_gradient = "attention, which becomes it, has one",
     .samples = attention_samples()});

const RegisterOp blocks_grad(
    {.name = "attention_blocks_grad",
     .doc = "attention_grad, in blocks of queries and keys. Heads of keys are gone through one after another where "
            "there are many of them, else blocks of queries and of keys beside one another",
     .operands = {"q", "k", "v", "dy", "lse", "delta"},
     .variadic = true,
     .results = {"dq", "dk", "dv"},
     .attrs = attributes(),
     .dtypes = {DType::f32, DType::f64},
     .kind = Primitive{.call = "hd::attention_grad<Shape, Options, by_heads>(q, k, v, dy, lse, delta, " +
                               scores_text() + ", dq, dk, dv);",
                       .plan = plan_grad,
                       .flop_counts =
                           [](const Signature& s) { return counts_of_gradient(attention_of(s, kGradientExtras)); }},
     .infer = attention_gradient_types,
     .eval = [](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
       AttentionGradients g = eval_attention_gradients(s, in);
       return {std::move(g.dq), std::move(g.dk), std::move(g.dv)};
     },
     .no_gradient = "attention_grad, which becomes it, has one",
     .precondition = kOfItsSums,
     .samples = attention_gradient_samples()});

}  // namespace
}  // namespace heddle::ir
