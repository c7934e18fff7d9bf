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

ValueId convolve(LayerContext& c, ValueId x, const Convolution& convolution, std::string_view suffix) {
  const bool sequence = convolution.window.size.size() == 1;
  const Window w = sequence ? over_row(convolution.window) : convolution.window;
  const int64_t filters = convolution.filters, in = c.dims(x).back() / convolution.groups;
  // In files channels come second, as PyTorch has it, in memory last, as the operators take it.
  Dims shape = convolution.window.size;
  shape.insert(shape.begin(), {filters, in});
  const ir::Layout layout = sequence ? ir::Layout{0, 2, 1} : ir::Layout{0, 2, 3, 1};
  ValueId weight = c.parameter(convolution.weight, shape, "init", "glorot_uniform", /*weight=*/true, layout);
  const Dims dims = c.dims(x);
  if (sequence) {
    weight = c.reshape(weight, {filters, 1, w.size[1], in}, convolution.weight + ".row");
    x = c.reshape(x, {dims[0], 1, dims[1], dims[2]}, "row");
  }
  const ValueId y = c.emit(
      "conv2d", {x, weight},
      {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"groups", convolution.groups}}, suffix);
  return sequence ? c.reshape(y, {dims[0], c.dims(y)[2], filters}, "sequence") : y;
}

ValueId add_bias(LayerContext& c, ValueId y, const std::string& bias) {
  if (!c.settings.flag("bias")) return y;
  const ValueId value = c.parameter(bias, {c.dims(y).back()}, "bias_init", "zeros", /*weight=*/false);
  return c.emit("add", {y, c.broadcast(value, Dims(c.dims(y)))});
}

std::vector<Key> kernel_settings(bool sequence) {
  std::vector<Key> settings = window_settings("kernel", sequence);
  const Dims one(sequence ? 1 : 2, 1);
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
