#include <fmt/format.h>

#include "frontend/layers/norm_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

int64_t read_groups(LayerContext& c, int64_t channels) {
  const int64_t groups = c.settings.integer("groups");
  if (channels % groups != 0)
    c.fail_setting("groups", fmt::format("{} groups do not divide {} channels", groups, channels));
  return groups;
}

// [N, ..., channels] as [N, positions, groups, channels of a group]: a mean for each row and group.
ir::Values build_group_norm(LayerContext& c) {
  c.require_f32(0);
  c.require_channels(2);
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims dims = c.dims(x);
  const int64_t groups = read_groups(c, dims.back()), width = dims.back() / groups;
  const double eps = c.settings.real("eps");
  const int64_t positions = ir::Type(c.type(x)).elements() / dims.front() / dims.back();
  const Affine affine = make_affine(c, dims.back());
  const ValueId scale = c.reshape(affine.scale, {groups, width}, "weight.groups");
  const ValueId bias = c.reshape(affine.bias, {groups, width}, "bias.groups");
  const ValueId grouped = c.reshape(x, {dims.front(), positions, groups, width}, "groups");
  const ValueId y = normalize(c, grouped, {scale, bias}, {1, 3}, eps).y;
  return {c.from_nhwc(c.apply_activation(c.reshape(y, dims, "joined")))};
}

ir::Values build_instance_norm(LayerContext& c) {
  c.require_f32(0);
  c.require_channels(3);
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims dims = c.dims(x);
  if (ir::Type(c.type(x)).elements() == dims.front() * dims.back())
    c.fail(fmt::format("the input {} has one value per row and channel, whose variance is 0",
                       c.shape_text(c.dims(c.in[0]))),
           "group_norm has a mean over several channels");
  Dims axes;
  for (int64_t axis = 1; axis + 1 < std::ssize(dims); ++axis) axes.push_back(axis);
  const double eps = c.settings.real("eps");
  const Affine affine = make_affine(c, dims.back());
  return {c.from_nhwc(c.apply_activation(normalize(c, x, affine, axes, eps).y))};
}

std::vector<Key> settings(bool affine) {
  std::vector<Key> all = norm_settings(affine);
  all.push_back({.name = "activation", .type = KeyType::part, .doc = "applied to the result", .of = "activation"});
  return all;
}

std::vector<Key> group_settings() {
  std::vector<Key> all = settings(/*affine=*/true);
  all.push_back({.name = "groups",
                 .doc = "groups of channels with one mean and variance",
                 .required = true,
                 .range = ir::at_least(1)});
  return all;
}

const RegisterLayer group_norm({
    .name = "group_norm",
    .doc = "(x - mean) / sqrt(variance + eps) * weight + bias, over the channels of a group at all positions of a row",
    .settings = group_settings(),
    .parameters = "weight [channels], bias [channels]",
    .build = build_group_norm,
});
const RegisterLayer instance_norm({
    .name = "instance_norm",
    .doc = "(x - mean) / sqrt(variance + eps) over all positions of a row and channel",
    .settings = settings(/*affine=*/false),
    .parameters = "weight [channels], bias [channels], where asked for",
    .build = build_instance_norm,
});

}  // namespace
}  // namespace heddle::frontend
