// The oracle of attention and of its gradient: plain loops in double precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/evaluate/sums.h"
#include "ir/ops/attention.h"

namespace heddle::ir {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

// All random numbers of the scores, as random_uniform draws them.
Tensor uniform(const Signature& s, const Attention& a, std::span<const Tensor* const> in) {
  const Signature draw{.op = &op_def("random_uniform"),
                       .attrs = {{"shape", a.score_dims()}, {"stream", s.integer("stream")}},
                       .operands = {{DType::i64, {}}, {DType::i64, {}}},
                       .results = {{DType::f32, a.score_dims()}}};
  const std::vector<const Tensor*> keys = {in[at(a.seed)], in[at(a.step)]};
  return draw.op->eval(draw, keys)[0];
}

class Oracle {
 public:
  Oracle(const Signature& s, size_t extras, std::span<const Tensor* const> in) : a(attention_of(s, extras)), in_(in) {
    if (a.rate > 0) random_ = uniform(s, a, in);
  }

  bool visible(int64_t n, int64_t i, int64_t j) const {
    const int64_t place = i + a.keys - a.queries;
    if (a.causal && j > place) return false;
    if (a.window > 0 && std::abs(place - j) >= a.window) return false;
    if (a.lengths >= 0 && j >= integer(a.lengths, n)) return false;
    if (a.key_mask >= 0 && integer(a.key_mask, n * a.keys + j) == 0) return false;
    return a.documents < 0 || integer(a.documents, n * a.keys + place) == integer(a.documents, n * a.keys + j);
  }
  // q k^T times the scale.
  double product(int64_t n, int64_t h, int64_t i, int64_t j) const {
    Sum sum;
    for (int64_t c = 0; c < a.width; ++c) sum.add(q(n, h, i, c) * k(n, h, j, c));
    return sum.total() * a.scale;
  }
  double score(double x, int64_t n, int64_t h, int64_t i, int64_t j) const {
    if (a.cap > 0) x = a.cap * std::tanh(x / a.cap);
    if (a.bias >= 0) x += real(a.bias, bias_place(n, h, i, j));
    if (a.alibi) x -= alibi_slope(h, a.heads) * static_cast<double>(std::abs(i + a.keys - a.queries - j));
    return x;
  }
  // What dropout multiplies a weight by.
  double kept(int64_t n, int64_t h, int64_t i, int64_t j) const {
    if (a.rate == 0) return 1;
    const double u = random_.real[at(((n * a.heads + h) * a.queries + i) * a.keys + j)];
    return u < round_to(DType::f32, a.rate) ? 0 : 1 / (1 - a.rate);
  }

  int64_t q_place(int64_t n, int64_t h, int64_t i, int64_t c) const {
    return ((n * a.queries + i) * a.heads + h) * a.width + c;
  }
  int64_t y_place(int64_t n, int64_t h, int64_t i, int64_t c) const {
    return ((n * a.queries + i) * a.heads + h) * a.value_width + c;
  }
  int64_t k_place(int64_t n, int64_t h, int64_t j, int64_t c) const {
    return ((n * a.keys + j) * a.kv_heads + h / a.group()) * a.width + c;
  }
  int64_t v_place(int64_t n, int64_t h, int64_t j, int64_t c) const {
    return ((n * a.keys + j) * a.kv_heads + h / a.group()) * a.value_width + c;
  }
  int64_t sums_place(int64_t n, int64_t h, int64_t i) const { return (n * a.heads + h) * a.queries + i; }
  double q(int64_t n, int64_t h, int64_t i, int64_t c) const { return real(0, q_place(n, h, i, c)); }
  double k(int64_t n, int64_t h, int64_t j, int64_t c) const { return real(1, k_place(n, h, j, c)); }
  double v(int64_t n, int64_t h, int64_t j, int64_t c) const { return real(2, v_place(n, h, j, c)); }
  double real(int operand, int64_t i) const { return in_[at(operand)]->real[at(i)]; }
  int64_t integer(int operand, int64_t i) const { return in_[at(operand)]->integer[at(i)]; }

  template <class F>
  void each_query(F f) const {
    for (int64_t n = 0; n < a.rows; ++n)
      for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t i = 0; i < a.queries; ++i) f(n, h, i);
  }

  const Attention a;

 private:
  int64_t bias_place(int64_t n, int64_t h, int64_t i, int64_t j) const {
    const Dims& dims = in_[at(a.bias)]->type.dims;
    const Dims point{n, h, i, j};
    int64_t place = 0;
    for (size_t d = 0; d < dims.size(); ++d) place = place * dims[d] + (dims[d] == 1 ? 0 : point[d]);
    return place;
  }

  std::span<const Tensor* const> in_;
  Tensor random_;
};

struct Query {
  std::vector<double> scores;  // -inf where a key is hidden
  double most = -std::numeric_limits<double>::max(), total = 0;
};

Query query_of(const Oracle& o, int64_t n, int64_t h, int64_t i) {
  Query query;
  for (int64_t j = 0; j < o.a.keys; ++j) {
    const bool seen = o.visible(n, i, j);
    query.scores.push_back(seen ? o.score(o.product(n, h, i, j), n, h, i, j)
                                : -std::numeric_limits<double>::infinity());
    if (query.scores.back() > query.most) query.most = query.scores.back();
  }
  Sum sum;
  for (const double x : query.scores) sum.add(std::exp(x - query.most));
  query.total = sum.total();
  return query;
}

}  // namespace

std::vector<Tensor> eval_attention(const Signature& s, std::span<const Tensor* const> in) {
  const Oracle o(s, 3, in);
  Tensor y(s.results[0]), lse(s.results[1]);
  o.each_query([&](int64_t n, int64_t h, int64_t i) {
    const Query query = query_of(o, n, h, i);
    if (query.total == 0) return;  // no keys: zeros
    lse.real[at(o.sums_place(n, h, i))] = query.most + std::log(query.total);
    Sums sums(at(o.a.value_width));
    for (int64_t j = 0; j < o.a.keys; ++j) {
      const double weight = std::exp(query.scores[at(j)] - query.most) / query.total * o.kept(n, h, i, j);
      for (int64_t c = 0; c < o.a.value_width && weight != 0; ++c) sums.add(at(c), weight * o.v(n, h, j, c));
    }
    for (int64_t c = 0; c < o.a.value_width; ++c) y.real[at(o.y_place(n, h, i, c))] = sums.total(at(c));
  });
  return {y, lse};
}

AttentionGradients eval_attention_gradients(const Signature& s, std::span<const Tensor* const> in) {
  const Oracle o(s, 6, in);
  const Attention& a = o.a;
  Sums dq(in[0]->real.size()), dk(in[1]->real.size()), dv(in[2]->real.size());
  AttentionGradients g{.dq = Tensor(in[0]->type),
                       .dk = Tensor(in[1]->type),
                       .dv = Tensor(in[2]->type),
                       .scores = std::vector<double>(at(product(a.score_dims())))};
  o.each_query([&](int64_t n, int64_t h, int64_t i) {
    for (int64_t j = 0; j < a.keys; ++j) {
      if (!o.visible(n, i, j)) continue;
      const double x = o.product(n, h, i, j), kept = o.kept(n, h, i, j);
      const double p = std::exp(o.score(x, n, h, i, j) - o.real(4, o.sums_place(n, h, i)));
      if (p == 0) continue;
      Sum along;
      for (int64_t c = 0; c < a.value_width && kept != 0; ++c) {
        const double dy = o.real(3, o.y_place(n, h, i, c));
        along.add(dy * o.v(n, h, j, c) * kept);
        dv.add(at(o.v_place(n, h, j, c)), p * kept * dy);
      }
      const double ds = p * (along.total() - o.real(5, o.sums_place(n, h, i)));
      g.scores[at((o.sums_place(n, h, i)) * a.keys + j)] = ds;
      const double t = a.cap > 0 ? std::tanh(x / a.cap) : 0;
      const double dx = ds * (1 - t * t) * a.scale;
      for (int64_t c = 0; c < a.width && dx != 0; ++c) {
        dq.add(at(o.q_place(n, h, i, c)), dx * o.k(n, h, j, c));
        dk.add(at(o.k_place(n, h, j, c)), dx * o.q(n, h, i, c));
      }
    }
  });
  g.dq.real = dq.totals(), g.dk.real = dk.totals(), g.dv.real = dv.totals();
  return g;
}

}  // namespace heddle::ir
