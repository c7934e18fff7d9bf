#include <fmt/format.h>

#include <utility>

#include "frontend/layer_context.h"
#include "frontend/limits.h"
#include "frontend/weight_norms.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// A matrix product of the last axis; leading axes are one.
ir::Values build(LayerContext& c) {
  c.require_f32(0);
  c.require_rank(0, 2, static_cast<int64_t>(kMaxRank), "an input [N, ..., features]");
  const Dims in = c.dims(c.in[0]);
  const int64_t units = c.settings.integer("units");
  const ir::ValueId weight = c.parameter("weight", {units, in.back()}, "init", "glorot_uniform", /*weight=*/true);
  Dims out = in;
  out.back() = units;
  const int64_t rows = ir::product(in) / in.back();
  const ir::ValueId x = in.size() == 2 ? c.in[0] : c.reshape(c.in[0], {rows, in.back()}, "rows");
  ir::ValueId y = c.emit("matmul", {x, weight}, {{"transpose_b", true}}, "mm");
  if (c.settings.flag("bias")) {
    const ir::ValueId bias = c.parameter("bias", {units}, "bias_init", "zeros", /*weight=*/false);
    y = c.emit("add", {y, c.broadcast(bias, {rows, units})});
  }
  return {c.reshape(c.apply_activation(y), out)};
}

std::vector<Key> settings() {
  std::vector<Key> all = {
      {.name = "units", .doc = "outputs", .required = true, .range = ir::at_least(1)},
      {.name = "bias", .type = KeyType::flag, .doc = "add a bias", .fallback = true},
      {.name = "activation", .type = KeyType::part, .doc = "applied to the result", .of = "activation"},
      {.name = "init", .type = KeyType::part, .doc = "initializer of weight: glorot_uniform", .of = "initializer"},
      {.name = "bias_init", .type = KeyType::part, .doc = "initializer of bias: zeros", .of = "initializer"}};
  for (Key& key : made_weight_settings(/*rows=*/0)) all.push_back(std::move(key));
  return all;
}

const RegisterLayer dense({
    .name = "dense",
    .doc = "x weight^T + bias over the last axis",
    .settings = settings(),
    .parameters = "weight [units, in], bias [units]",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
