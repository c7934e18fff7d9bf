// multi_head_attention: torch.nn.MultiheadAttention with batches first.
//
//   {"name": "a", "op": "multi_head_attention", "in": "x", "heads": 4}, x: [N,T,32]
//     -> q, k, v: parts of x a.in_proj_weight^T + a.in_proj_bias; attention; a.out_proj
#include <fmt/format.h>

#include "frontend/layers/multi_head.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

void require_sequence(LayerContext& c, size_t input) {
  c.require_f32(input);
  c.require_rank(input, 3, 3, "a sequence [N, T, features]");
}

ValueId project(LayerContext& c, ValueId x, ValueId weight, ValueId bias, const std::string& suffix) {
  const Dims dims = c.dims(x);
  const int64_t units = c.dims(weight)[0];
  const ValueId rows = c.reshape(x, {dims[0] * dims[1], dims[2]}, suffix + ".rows");
  ValueId y = c.emit("matmul", {rows, weight}, {{"transpose_b", true}}, suffix + ".mm");
  if (bias.valid()) y = c.emit("add", {y, c.broadcast(bias, {dims[0] * dims[1], units})}, {}, suffix);
  return c.reshape(y, {dims[0], dims[1], units}, suffix);
}

namespace {

class Projections {
 public:
  Projections(LayerContext& c, const MultiHead& m) : c_(c), m_(m) {}

  // One product for inputs that are the same.
  ir::Values together(ValueId q, ValueId k, ValueId v) {
    const int64_t e = c_.dims(q)[2];
    const ValueId weight = parameter("in_proj_weight", {3 * e, e});
    const ValueId bias = m_.bias ? in_bias(e) : ValueId{};
    ir::Values made;
    for (int64_t part = 0; part < 3;) {
      const std::array<ValueId, 3> from = {q, k, v};
      int64_t end = part + 1;
      while (end < 3 && from[static_cast<size_t>(end)] == from[static_cast<size_t>(part)]) ++end;
      const auto rows = [&](ValueId all) {
        return !all.valid() || (part == 0 && end == 3) ? all : c_.slice(all, 0, part * e, end * e, "in_proj");
      };
      const ValueId y = project(c_, from[static_cast<size_t>(part)], rows(weight), rows(bias), name("in_proj"));
      for (int64_t i = part; i < end; ++i)
        made.push_back(end - part == 1 ? y : c_.slice(y, 2, (i - part) * e, (i - part + 1) * e, name(kParts[i])));
      part = end;
    }
    return made;
  }

  ir::Values apart(ValueId q, ValueId k, ValueId v) {
    const int64_t e = c_.dims(q)[2];
    const ValueId bias = m_.bias ? in_bias(e) : ValueId{};
    ir::Values made;
    for (const ValueId from : {q, k, v}) {
      const auto i = static_cast<int64_t>(made.size());
      const ValueId weight = parameter(std::string(kParts[i]) + "_proj_weight", {e, c_.dims(from)[2]});
      const ValueId part = bias.valid() ? c_.slice(bias, 0, i * e, (i + 1) * e, "in_proj") : bias;
      made.push_back(project(c_, from, weight, part, name(kParts[i])));
    }
    return made;
  }

  ValueId out(ValueId y, int64_t e) {
    const ValueId weight = parameter("out_proj.weight", {e, e});
    const ValueId bias = m_.bias ? zeros("out_proj.bias", e) : ValueId{};
    return project(c_, y, weight, bias, name("out_proj"));
  }

 private:
  static constexpr const char* kParts[] = {"q", "k", "v"};

  std::string name(const std::string& part) const { return m_.prefix + part; }
  ValueId parameter(const std::string& part, const Dims& dims) {
    return c_.parameter(name(part), dims, "init", "glorot_uniform", /*weight=*/true);
  }
  ValueId zeros(const std::string& part, int64_t size) {
    return c_.parameter(name(part), {size}, {}, "zeros", /*weight=*/false);
  }
  ValueId in_bias(int64_t e) { return zeros("in_proj_bias", 3 * e); }

  LayerContext& c_;
  const MultiHead& m_;
};

}  // namespace

ValueId multi_head(LayerContext& c, ValueId q, ValueId k, ValueId v, const MultiHead& settings) {
  const int64_t e = c.dims(q)[2];
  require_heads(c, settings.attention.heads, e, "the input");
  Projections projections(c, settings);
  const bool same_widths = c.dims(k)[2] == e && c.dims(v)[2] == e;
  const ir::Values made = same_widths ? projections.together(q, k, v) : projections.apart(q, k, v);
  return projections.out(attend(c, made[0], made[1], made[2], settings.attention, settings.inputs), e);
}

namespace {

ir::Values build(LayerContext& c) {
  const auto given = [&](size_t port) { return port < c.in.size() && c.in[port].valid(); };
  require_sequence(c, 0);
  for (const size_t port : {size_t{1}, size_t{2}})
    if (given(port)) require_sequence(c, port);
  const ValueId q = c.in[0], k = given(1) ? c.in[1] : q, v = given(2) ? c.in[2] : k;
  if (c.dims(v)[0] != c.dims(q)[0] || c.dims(k)[0] != c.dims(q)[0] || c.dims(v)[1] != c.dims(k)[1])
    c.fail(fmt::format("keys are {} and values {}, expected rows as q has, {}, and a value for each key",
                       c.shape_text(c.dims(k)), c.shape_text(c.dims(v)), c.shape_text(c.dims(q))),
           {}, given(1) ? 1 : 2);
  const MultiHead settings{.prefix = "",
                           .bias = c.settings.flag("bias"),
                           .attention = read_attention(c, /*scores=*/false),
                           .inputs = {.bias = 3, .lengths = 4, .key_mask = 5, .documents = 6}};
  return {multi_head(c, q, k, v, settings)};
}

std::vector<Key> settings() {
  std::vector<Key> keys = attention_settings(/*scores=*/false);
  keys.push_back({.name = "bias", .type = KeyType::flag, .doc = "add biases", .fallback = true});
  keys.push_back(
      {.name = "init", .type = KeyType::part, .doc = "initializer of weights: glorot_uniform", .of = "initializer"});
  return keys;
}

const RegisterLayer layer({
    .name = "multi_head_attention",
    .doc = "attention between projections of its inputs; k and v are q where they are left out",
    .inputs = {"q"},
    .optional = {"k", "v", "bias", "lengths", "key_mask", "documents"},
    .settings = settings(),
    .parameters = "in_proj_weight [3 * in, in], in_proj_bias [3 * in], out_proj.weight [in, in], out_proj.bias [in]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
