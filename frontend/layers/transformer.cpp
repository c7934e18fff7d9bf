// Layers of a transformer: torch.nn.TransformerEncoderLayer and TransformerDecoderLayer with batches first.
//
//   {"name": "e", "op": "encoder_layer", "in": "x", "heads": 4, "feedforward": 64}
//     -> x = norm1(x + self_attn(x)); norm2(x + linear2(relu(linear1(x))))
//   "norm_first": true: x = x + self_attn(norm1(x)); x + linear2(relu(linear1(norm2(x))))
#include <fmt/format.h>

#include "frontend/layers/multi_head.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

class Transformer {
 public:
  explicit Transformer(LayerContext& c)
      : c_(c),
        width_(c.dims(c.in[0])[2]),
        bias_(c.settings.flag("bias")),
        before_(c.settings.flag("norm_first")),
        attention_(read_attention(c, /*scores=*/false)) {}

  // One part of the layer with the sum around it; `f` gets what it reads.
  template <class F>
  ValueId around(ValueId x, const std::string& norm_name, F f) {
    const ValueId made = drop(f(before_ ? norm(x, norm_name) : x), "drop_" + norm_name);
    const ValueId sum = c_.emit("add", {x, made}, {}, "sum");
    return before_ ? sum : norm(sum, norm_name);
  }

  // `window` and `causal` are of the attention among the layer's own inputs.
  ValueId attend(const std::string& name, ValueId q, ValueId k, bool own, const AttentionInputs& inputs) {
    MultiHead m{.prefix = name + ".", .bias = bias_, .attention = attention_, .inputs = inputs};
    m.attention.suffix = "." + name;
    if (!own) m.attention.causal = false, m.attention.window = 0;
    return multi_head(c_, q, k, k, m);
  }

  ValueId feedforward(ValueId x) {
    const int64_t inner = c_.settings.integer("feedforward");
    ValueId h = project(c_, x, weight("linear1", inner, width_), bias("linear1", inner), "linear1");
    h = c_.settings.json("activation") != nullptr ? c_.apply_activation(h) : c_.emit("relu", {h});
    return project(c_, drop(h, "drop"), weight("linear2", width_, inner), bias("linear2", width_), "linear2");
  }

 private:
  ValueId weight(const std::string& name, int64_t out, int64_t in) {
    return c_.parameter(name + ".weight", {out, in}, "init", "glorot_uniform", /*weight=*/true);
  }
  ValueId bias(const std::string& name, int64_t size) {
    return bias_ ? c_.parameter(name + ".bias", {size}, {}, "zeros", /*weight=*/false) : ValueId{};
  }
  ValueId norm(ValueId x, const std::string& name) {
    const ValueId scale = c_.parameter(name + ".weight", {width_}, {}, "ones", /*weight=*/false);
    const ValueId shift = bias_ ? bias(name, width_) : c_.constant(0, {ir::DType::f32, {width_}});
    return c_.emit("layer_norm", {x, scale, shift}, {{"eps", c_.settings.real("eps")}}, name);
  }
  ValueId drop(ValueId x, const std::string& name) {
    if (attention_.dropout == 0 || !c_.training) return x;
    return c_.emit("dropout", {x, c_.graph.counter("seed"), c_.graph.counter("step")},
                   {{"rate", attention_.dropout}, {"stream", c_.stream("." + name)}}, name);
  }

  LayerContext& c_;
  int64_t width_;
  bool bias_, before_;
  AttentionSettings attention_;
};

ir::Values build_encoder(LayerContext& c) {
  require_sequence(c, 0);
  Transformer t(c);
  const ValueId x = t.around(c.in[0], "norm1", [&](ValueId v) {
    return t.attend("self_attn", v, v, true, {.bias = 1, .lengths = 2, .key_mask = 3, .documents = 4});
  });
  return {t.around(x, "norm2", [&](ValueId v) { return t.feedforward(v); })};
}

ir::Values build_decoder(LayerContext& c) {
  require_sequence(c, 0);
  require_sequence(c, 1);
  if (c.dims(c.in[1])[0] != c.dims(c.in[0])[0])
    c.fail(fmt::format("memory is {}, expected rows as x has, {}", c.shape_text(c.dims(c.in[1])),
                       c.shape_text(c.dims(c.in[0]))),
           {}, 1);
  Transformer t(c);
  ValueId x = t.around(c.in[0], "norm1", [&](ValueId v) {
    return t.attend("self_attn", v, v, true, {.bias = 2, .lengths = 3, .key_mask = 4, .documents = 0});
  });
  x = t.around(x, "norm2", [&](ValueId v) {
    return t.attend("multihead_attn", v, c.in[1], false, {.bias = 0, .lengths = 5, .key_mask = 6, .documents = 0});
  });
  return {t.around(x, "norm3", [&](ValueId v) { return t.feedforward(v); })};
}

std::vector<Key> settings() {
  std::vector<Key> keys = attention_settings(/*scores=*/false);
  const std::vector<Key> own = {
      {.name = "feedforward", .doc = "units of the hidden layer", .fallback = int64_t{2048}, .range = ir::at_least(1)},
      {.name = "activation", .type = KeyType::part, .doc = "of the hidden layer: relu", .of = "activation"},
      {.name = "norm_first",
       .type = KeyType::flag,
       .doc = "normalise what parts read, not the sums",
       .fallback = false},
      {.name = "eps",
       .type = KeyType::real,
       .doc = "added to the biased variance",
       .fallback = 1e-5,
       .range = ir::kAboveZero},
      {.name = "bias", .type = KeyType::flag, .doc = "add biases, also in the norms", .fallback = true},
      {.name = "init", .type = KeyType::part, .doc = "initializer of weights: glorot_uniform", .of = "initializer"}};
  keys.insert(keys.end(), own.begin(), own.end());
  for (Key& key : keys)
    if (key.name == "dropout") key.doc = "share of zeros among weights, behind each part and inside the hidden layer";
  return keys;
}

constexpr const char* kParameters =
    "self_attn.in_proj_weight and so on, linear1.weight [feedforward, in], linear1.bias, linear2.weight [in, "
    "feedforward], linear2.bias, norm1.weight [in], norm1.bias, norm2.weight, norm2.bias";

const RegisterLayer encoder({
    .name = "encoder_layer",
    .doc = "self-attention and a feed-forward network, each with a sum and a norm around it",
    .inputs = {"x"},
    .optional = {"bias", "lengths", "key_mask", "documents"},
    .settings = settings(),
    .parameters = kParameters,
    .build = build_encoder,
});
const RegisterLayer decoder({
    .name = "decoder_layer",
    .doc = "as encoder_layer, and between the two an attention that looks at memory",
    .inputs = {"x", "memory"},
    .optional = {"bias", "lengths", "key_mask", "memory_lengths", "memory_key_mask"},
    .settings = settings(),
    .parameters = std::string(kParameters) + ", multihead_attn.in_proj_weight and so on, norm3.weight, norm3.bias",
    .build = build_decoder,
});

}  // namespace
}  // namespace heddle::frontend
