// Shared parts of attention, its gradient and the blocked forms of both: sizes, operands, oracles and decompositions.
//
//   attention(%q, %k, %v, %sizes) {heads = 12, causal = true, lengths = true}
//     -> heads 12, kv_heads 12, group 1; query i stands at key i + keys - queries; sizes: operand 3
//
// The further operands are optional; attributes say which are present. Their order is: bias, lengths, key_mask,
// documents, and with dropout seed and step.
#pragma once
#include "ir/builder.h"

namespace heddle::ir {

struct Attention {
  int64_t rows = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1;
  int64_t width = 1, value_width = 1;  // of a head
  bool causal = false, alibi = false;
  int64_t window = 0;  // 0: none
  double scale = 1, cap = 0, rate = 0;
  DType dtype = DType::f32;
  int bias = -1, lengths = -1, key_mask = -1, documents = -1, seed = -1, step = -1;  // numbers of operands; -1: absent

  int64_t group() const { return heads / kv_heads; }  // heads that share keys and values
  int64_t shift() const { return keys - queries; }    // query i is at the position of key i + shift
  // Scores and the logarithms of their sums are f32 at least; 16 bits are too few to tell weights apart.
  DType score_dtype() const { return bits(dtype) < 32 ? DType::f32 : dtype; }
  Dims score_dims() const { return {rows, heads, queries, keys}; }
  Dims query_dims() const { return {rows, queries, heads * width}; }
  Dims result_dims() const { return {rows, queries, heads * value_width}; }
  Type sums_type() const { return {score_dtype(), {rows, heads, queries}}; }
  // Whether two queries of a row may see different keys; whether any key may be hidden.
  bool differs_by_query() const { return causal || window > 0 || documents >= 0; }
  bool hides() const { return differs_by_query() || lengths >= 0 || key_mask >= 0; }
  // An estimate of the query-key pairs of a row and head that causality and the window leave.
  double seen_pairs() const;
};

// The precondition of operators that read lse. With any other lse the weights would not be a softmax.
inline constexpr const char* kOfItsSums = "lse is what attention gives of the same q, k and further operands";

std::vector<Key> attention_attributes();
// Reads an operator whose first optional operand is number `extras`. Throws InferError.
Attention attention_of(const Signature& s, size_t extras);
// Result types. The first function makes no checks.
std::vector<Type> attention_types(const Attention& a);           // y, lse
std::vector<Type> attention_gradient_types(const Signature& s);  // dq, dk, dv; checks dy, lse and delta

// The slope of ALiBi's penalty over the distance, for one head.
double alibi_slope(int64_t head, int64_t heads);

// Oracles in double precision.
std::vector<Tensor> eval_attention(const Signature& s, std::span<const Tensor* const> in);
struct AttentionGradients {
  Tensor dq, dk, dv;
  std::vector<double> scores;  // d loss / d score after scale, cap and bias, [rows, heads, queries, keys]
};
AttentionGradients eval_attention_gradients(const Signature& s, std::span<const Tensor* const> in);

// Decomposes an attention and its gradient into operators. Both build the scores in the same way, so that `simplify`
// merges what they share.
class AttentionGraph {
 public:
  AttentionGraph(Builder& b, const Node& n, size_t extras);
  const Attention& shape() const { return a_; }

  Values forward();  // y, lse
  struct Gradients {
    ValueId dq, dk, dv, scores;
  };
  // The gradients for dy [N,Tq,H*d], lse and delta [N,H,Tq]. delta is the sum of dy * y over a head, minus the gradient
  // of lse.
  Gradients backward(ValueId dy, ValueId lse, ValueId delta);

 private:
  struct Scores {
    ValueId product, x;  // product: q k^T times the scale; x: the final score, -inf where a key is hidden
  };
  Scores scores();
  ValueId heads_first(ValueId v, int64_t length, int64_t width, bool of_queries);
  ValueId heads_last(ValueId v, int64_t length, int64_t width, bool of_queries);
  ValueId product(ValueId x, ValueId y, bool transpose_x, bool transpose_y);
  ValueId visible();
  ValueId slopes();
  ValueId along(ValueId v, const Dims& axes) {
    return b_("broadcast", {v}, {{"shape", a_.score_dims()}, {"dims", axes}});
  }
  ValueId count(int64_t axis, int64_t first);
  ValueId kept();  // bool: the weights that dropout keeps
  ValueId dropped(ValueId x);
  ValueId finite_only(ValueId x);  // x; if keys may be hidden, with 0 in the place of elements that are not finite
  ValueId with_others(ValueId y, ValueId values, ValueId weights);  // adds these again, where their weight is not 0
  ValueId grouped(ValueId v) {
    return b_.reshape(v, {a_.rows, a_.kv_heads, a_.group() * a_.queries, b_.type(v).dims[3]});
  }

  Builder& b_;
  const Node n_;
  Attention a_;
};

const Decoding& attention_decoding();  // with caches of keys and values

std::vector<Sample> attention_samples();
std::vector<Sample> attention_gradient_samples();

}  // namespace heddle::ir
