// Layers of random numbers. A training draws new ones in each step. Evaluations and predictions use their mean, just as
// dropout is the identity there.
#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

// offset + scale x, x of the operator's own distribution; `mean` outside of a training.
ir::Values build(LayerContext& c, std::string_view op, double offset, double scale, double mean) {
  const ir::Type type{ir::DType::f32, c.read_shape()};
  if (!c.training) return {c.constant(mean, type)};
  const ir::ValueId x =
      c.emit(op, {c.graph.counter("seed"), c.graph.counter("step")}, {{"shape", type.dims}, {"stream", c.stream()}});
  const ir::ValueId scaled = scale == 1 ? x : c.emit("mul", {x, c.constant(scale, type)});
  return {offset == 0 ? scaled : c.emit("add", {scaled, c.constant(offset, type)})};
}

double read_number(LayerContext& c, std::string_view setting) {
  const double number = c.settings.real(setting);
  c.require_fit(setting, number, ir::DType::f32);
  return number;
}

LayerDef source(const std::string& name, const std::string& doc, std::vector<Key> numbers,
                std::function<ir::Values(LayerContext&)> build) {
  std::vector<Key> settings = {
      {.name = "shape", .type = KeyType::integer, .count = Count::several, .doc = "its sizes", .required = true}};
  settings.insert(settings.end(), numbers.begin(), numbers.end());
  return {.name = name, .doc = doc, .inputs = {}, .settings = std::move(settings), .build = std::move(build)};
}

const RegisterLayer normal(source(
    "random_normal", "in training, normal random numbers, others in each step; else their mean",
    {{.name = "mean", .type = KeyType::real, .doc = "of the distribution", .fallback = 0.0},
     {.name = "std", .type = KeyType::real, .doc = "its standard deviation", .fallback = 1.0, .range = ir::kAboveZero}},
    [](LayerContext& c) {
      const double mean = read_number(c, "mean"), deviation = read_number(c, "std");
      return build(c, "random_normal", mean, deviation, mean);
    }));

const RegisterLayer uniform(
    source("random_uniform", "in training, random numbers uniform on [low, high), others in each step; else their mean",
           {{.name = "low", .type = KeyType::real, .doc = "the least", .fallback = 0.0},
            {.name = "high", .type = KeyType::real, .doc = "above all", .fallback = 1.0}},
           [](LayerContext& c) {
             const double low = read_number(c, "low"), high = read_number(c, "high");
             if (!(low < high)) c.fail_setting("high", fmt::format("'high' must be above 'low', {} and {}", high, low));
             return build(c, "random_uniform", low, high - low, low + (high - low) / 2);
           }));

}  // namespace
}  // namespace heddle::frontend
