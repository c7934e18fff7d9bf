// attention: queries look at keys and take a weighted mean of values. It has no parameters: multi_head_attention has.
#include <fmt/format.h>

#include "frontend/layers/attention_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

void check_sizes(LayerContext& c, const AttentionSettings& s) {
  constexpr const char* kNames[] = {"q", "k", "v"};
  for (size_t i = 0; i < 3; ++i) {
    c.require_floating(i);
    c.require_rank(i, 3, 3, fmt::format("{} as [N, T, heads * width]", kNames[i]));
  }
  for (size_t i = 1; i < 3; ++i)
    if (c.type(c.in[i]).dtype != c.type(c.in[0]).dtype)
      c.fail(fmt::format("q and {} differ in type: {} vs {}", kNames[i], ir::to_string(c.type(c.in[0]).dtype),
                         ir::to_string(c.type(c.in[i]).dtype)),
             "insert {\"op\": \"cast\"}", i);
  const Dims q = c.dims(c.in[0]), k = c.dims(c.in[1]), v = c.dims(c.in[2]);
  require_heads(c, s.heads, q[2], "q");
  if (s.heads % s.kv_heads != 0)
    c.fail_setting("kv_heads", fmt::format("{} heads cannot share {} heads of keys", s.heads, s.kv_heads),
                   "'kv_heads' divides 'heads'");
  const int64_t width = q[2] / s.heads;
  if (k[0] != q[0] || k[2] != s.kv_heads * width)
    c.fail(fmt::format("k is {}, expected {} heads of {} as q has: {}", c.shape_text(k), s.kv_heads, width,
                       c.shape_text({q[0], k[1], s.kv_heads * width})),
           k[0] == q[0] && k[2] % width == 0 ? fmt::format("set \"kv_heads\": {}", k[2] / width) : "", 1);
  if (v[0] != k[0] || v[1] != k[1])
    c.fail(fmt::format("v is {}, expected a value for each key of {}", c.shape_text(v), c.shape_text(k)), {}, 2);
  if (v[2] % s.kv_heads != 0)
    c.fail(fmt::format("{} heads do not divide v, which is {} wide", s.kv_heads, v[2]), {}, 2);
}

ir::Values build(LayerContext& c) {
  const AttentionSettings settings = read_attention(c, /*scores=*/true);
  check_sizes(c, settings);
  return {attend(c, c.in[0], c.in[1], c.in[2], settings, {.bias = 3, .lengths = 4, .key_mask = 5, .documents = 6})};
}

const RegisterLayer attention({
    .name = "attention",
    .doc = "softmax(q k^T / sqrt(width of a head)) v for each head: means of values, weighted by how queries and keys "
           "fit",
    .inputs = {"q", "k", "v"},
    .optional = {"bias", "lengths", "key_mask", "documents"},
    .settings = attention_settings(/*scores=*/true),
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
