#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

double read_rate(LayerContext& c) {
  c.require_floating(0);
  return c.settings.real("rate");
}

ir::ValueId drop(LayerContext& c, ir::ValueId x, double rate) {
  return c.emit("dropout", {x, c.graph.counter("seed"), c.graph.counter("step")},
                {{"rate", rate}, {"stream", c.stream()}});
}

// Drops whole channels: one draw for each row and channel.
ir::Values build_spatial(LayerContext& c) {
  const double rate = read_rate(c);
  c.require_channels(3);
  if (!c.training || rate == 0) return {c.in[0]};
  const ir::Dims dims = c.dims(c.in[0]);
  ir::Dims one(dims.size(), 1);
  one[0] = dims[0];
  const size_t channel = c.layout == ImageLayout::nhwc ? dims.size() - 1 : 1;
  one[channel] = dims[channel];
  const ir::ValueId kept = drop(c, c.constant(1, {c.type(c.in[0]).dtype, one}), rate);
  return {c.emit("mul", {c.in[0], c.broadcast(kept, dims)})};
}

const std::vector<Key> kRate = {{.name = "rate",
                                 .type = KeyType::real,
                                 .doc = "share of what is zeroed, in [0, 1)",
                                 .required = true,
                                 .range = ir::kShare}};

const RegisterLayer spatial_dropout({
    .name = "spatial_dropout",
    .doc = "dropout of whole channels of a row",
    .settings = kRate,
    .build = build_spatial,
});
const RegisterLayer dropout({
    .name = "dropout",
    .doc =
        "in training, zeroes elements with probability rate and scales the others by 1 / (1 - rate); else the identity",
    .settings = kRate,
    .build = [](LayerContext& c) -> ir::Values {
      const double rate = read_rate(c);
      if (!c.training || rate == 0) return {c.in[0]};
      return {drop(c, c.in[0], rate)};
    },
});

}  // namespace
}  // namespace heddle::frontend
