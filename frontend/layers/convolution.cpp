#include "frontend/layers/convolution.h"

#include <fmt/format.h>

#include <utility>

#include "frontend/weight_norms.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

int64_t read_groups(LayerContext& c, int64_t in, int64_t filters) {
  const int64_t groups = c.settings.integer("groups");
  if (in % groups != 0) c.fail_setting("groups", fmt::format("{} groups do not divide {} input channels", groups, in));
  if (filters % groups != 0)
    c.fail_setting("groups", fmt::format("{} groups do not divide {} filters", groups, filters));
  return groups;
}

// In files channels come second, as PyTorch has it, in memory last, as the operators take it.
ValueId filters_of(LayerContext& c, const std::string& weight, const Dims& shape) {
  const size_t rank = shape.size();
  ir::Layout layout = {0};
  for (size_t axis = 2; axis < rank; ++axis) layout.push_back(static_cast<int64_t>(axis));
  layout.push_back(1);
  const ValueId value = c.parameter(weight, shape, "init", "glorot_uniform", /*weight=*/true, layout);
  return rank == 3 ? c.reshape(value, {shape[0], 1, shape[2], shape[1]}, weight + ".row") : value;
}

ValueId as_row(LayerContext& c, ValueId x, size_t sides) {
  const Dims dims = c.dims(x);
  return sides == 1 ? c.reshape(x, {dims[0], 1, dims[1], dims[2]}, "row") : x;
}

ValueId from_row(LayerContext& c, ValueId y, size_t sides) {
  const Dims dims = c.dims(y);
  return sides == 1 ? c.reshape(y, {dims[0], dims[2], dims[3]}, "sequence") : y;
}

ValueId convolve(LayerContext& c, ValueId x, const Convolution& convolution, std::string_view suffix) {
  const size_t sides = convolution.window.size.size();
  const Window w = sides == 1 ? over_row(convolution.window) : convolution.window;
  Dims shape = convolution.window.size;
  shape.insert(shape.begin(), {convolution.filters, c.dims(x).back() / convolution.groups});
  const ValueId weight = filters_of(c, convolution.weight, shape);
  const ValueId y = c.emit(
      sides == 3 ? "conv3d" : "conv2d", {as_row(c, x, sides), weight},
      {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"groups", convolution.groups}}, suffix);
  return from_row(c, y, sides);
}

ValueId add_bias(LayerContext& c, ValueId y, const std::string& bias) {
  if (!c.settings.flag("bias")) return y;
  const ValueId value = c.parameter(bias, {c.dims(y).back()}, "bias_init", "zeros", /*weight=*/false);
  return c.emit("add", {y, c.broadcast(value, c.dims(y))});
}

std::vector<Key> kernel_settings(size_t sides) {
  std::vector<Key> settings = window_settings("kernel", sides);
  const Dims one(sides, 1);
  settings[1].fallback = one;
  settings.push_back({.name = "dilation",
                      .type = KeyType::integer,
                      .count = Count::several,
                      .doc = settings[1].doc,
                      .fallback = one,
                      .range = settings[1].range});
  return settings;
}

std::vector<Key> filter_settings(int64_t filters) {
  std::vector<Key> settings = {
      {.name = "bias", .type = KeyType::flag, .doc = "add a bias", .fallback = true},
      {.name = "activation", .type = KeyType::part, .doc = "applied to the result", .of = "activation"},
      {.name = "init", .type = KeyType::part, .doc = "initializer of weight: glorot_uniform", .of = "initializer"},
      {.name = "bias_init", .type = KeyType::part, .doc = "initializer of bias: zeros", .of = "initializer"}};
  for (Key& key : made_weight_settings(filters)) settings.push_back(std::move(key));
  return settings;
}

std::vector<Key> all_settings(std::initializer_list<std::vector<Key>> lists) {
  std::vector<Key> all;
  for (const std::vector<Key>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace heddle::frontend
