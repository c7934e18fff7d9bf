#include <fmt/format.h>

#include "frontend/layers/norm_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Statistics of the data so far: what evaluation normalises with.
struct Running {
  ValueId mean, variance, batches;
};

// old + momentum (now - old), as PyTorch weighs the two.
ValueId follow(LayerContext& c, ValueId old, ValueId now, double momentum, const std::string& name) {
  const auto part = [&](ValueId v, double share, const std::string& what) {
    return c.emit("mul", {v, c.constant(share, c.type(v))}, {}, fmt::format("{}.{}", name, what));
  };
  return c.emit("add", {part(old, 1 - momentum, "kept"), part(now, momentum, "added")}, {}, name + ".next");
}

// The batch's variance is that of a sample: n / (n - 1) times its own estimates the data's.
void keep_statistics(LayerContext& c, const Running& running, ValueId mean, ValueId variance, int64_t n) {
  const double momentum = c.settings.real("momentum");
  const double unbiased = static_cast<double>(n) / static_cast<double>(std::max<int64_t>(n - 1, 1));
  const ValueId sample = c.emit("mul", {variance, c.constant(unbiased, c.type(variance))}, {}, "variance.unbiased");
  c.update(running.mean, follow(c, running.mean, mean, momentum, "running_mean"));
  c.update(running.variance, follow(c, running.variance, sample, momentum, "running_var"));
  const ValueId one = c.constant(1, c.type(running.batches));
  c.update(running.batches, c.emit("add", {running.batches, one}, {}, "num_batches_tracked.next"));
}

ValueId normalise_batch(LayerContext& c, ValueId x, const Affine& affine, const Running& running) {
  const int64_t n = ir::Type(c.type(x)).elements() / c.dims(x).back();
  if (n == 1)
    c.refuse_training("a batch of 1 row has one value per channel, whose variance is 0",
                      "take larger batches; where one row is what an epoch has left over, \"drop_last\": true");
  Dims axes;
  for (int64_t axis = 0; axis + 1 < c.type(x).rank(); ++axis) axes.push_back(axis);
  const Normalized batch = normalize(c, x, affine, axes, c.settings.real("eps"));
  keep_statistics(c, running, batch.mean, batch.variance, n);
  return batch.y;
}

// (x - mean) * (scale / sqrt(variance + eps)) + bias: one multiplication and two additions an element.
ValueId normalise_by_running(LayerContext& c, ValueId x, const Affine& affine, const Running& running) {
  const Dims dims = c.dims(x);
  const ValueId eps = c.constant(c.settings.real("eps"), c.type(running.variance));
  const ValueId rstd = c.emit("rsqrt", {c.emit("add", {running.variance, eps}, {}, "variance")}, {}, "rstd");
  const ValueId factor = c.emit("mul", {affine.scale, rstd}, {}, "factor");
  const ValueId centered = c.emit("sub", {x, c.broadcast(running.mean, dims)}, {}, "centered");
  const ValueId scaled = c.emit("mul", {centered, c.broadcast(factor, dims)}, {}, "scaled");
  return c.emit("add", {scaled, c.broadcast(affine.bias, dims)}, {}, "norm");
}

ir::Values build(LayerContext& c) {
  c.require_f32(0);
  c.require_channels(2);
  const ValueId x = c.to_nhwc(c.in[0]);
  const ir::Type channels{ir::DType::f32, {c.dims(x).back()}};
  const Affine affine = make_affine(c, channels.dims[0]);
  const Running running{c.buffer("running_mean", channels, "zeros"), c.buffer("running_var", channels, "ones"),
                        c.buffer("num_batches_tracked", {ir::DType::i64, {}}, "zeros")};
  c.settings.check_ranges();  // of the momentum in evaluation, too
  const ValueId y = c.training ? normalise_batch(c, x, affine, running) : normalise_by_running(c, x, affine, running);
  return {c.from_nhwc(c.apply_activation(y))};
}

std::vector<Key> settings() {
  std::vector<Key> all = norm_settings(/*affine=*/true);
  all.push_back({.name = "momentum",
                 .type = KeyType::real,
                 .doc = "share of a batch in the running statistics",
                 .fallback = 0.1,
                 .range = ir::between(0, 1)});
  all.push_back({.name = "activation", .type = KeyType::part, .doc = "applied to the result", .of = "activation"});
  return all;
}

const RegisterLayer batch_norm({
    .name = "batch_norm",
    .doc = "(x - mean) / sqrt(variance + eps) * weight + bias, by the batch's statistics of each channel in training "
           "and by the running ones elsewhere",
    .settings = settings(),
    .parameters = "weight [channels], bias [channels]; buffers running_mean [channels], running_var [channels], "
                  "num_batches_tracked []",
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
