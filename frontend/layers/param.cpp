// Layers without inputs that make values: free parameters, constants, index ranges.
#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

ir::DType read_type(LayerContext& c) {
  const std::string text = c.settings.text("dtype");
  const auto dtype = ir::parse_dtype(text);
  if (!dtype) c.fail_setting("dtype", fmt::format("{} is not a type", quote(text)));
  return *dtype;
}

const RegisterLayer param({
    .name = "param",
    .doc = "a parameter of its own, called after the node",
    .inputs = {},
    .settings =
        {{.name = "shape", .type = KeyType::integer, .count = Count::several, .doc = "its sizes", .required = true},
         {.name = "init", .type = KeyType::part, .doc = "initializer: glorot_uniform", .of = "initializer"}},
    .parameters = "the node's own name [shape]",
    .build = [](LayerContext& c) -> ir::Values {
      return {c.parameter("", c.read_shape(), "init", "glorot_uniform", /*weight=*/false)};
    },
});

const RegisterLayer constant({
    .name = "constant",
    .doc = "one number everywhere",
    .inputs = {},
    .settings =
        {{.name = "value", .type = KeyType::real, .doc = "the number", .required = true},
         {.name = "shape", .type = KeyType::integer, .count = Count::several, .doc = "its sizes: none, a scalar"},
         {.name = "dtype", .type = KeyType::text, .doc = "element type", .fallback = std::string("f32")}},
    .build = [](LayerContext& c) -> ir::Values {
      const double value = c.settings.real("value");
      const ir::DType dtype = read_type(c);
      c.require_fit("value", value, dtype);
      return {c.constant(value, {dtype, c.read_shape()})};
    },
});

const RegisterLayer iota({
    .name = "iota",
    .doc = "0, 1, ... size - 1 as i32",
    .inputs = {},
    .settings = {{.name = "size", .doc = "how many", .required = true, .range = ir::at_least(1)}},
    .build = [](LayerContext& c) -> ir::Values {
      const int64_t size = c.settings.integer("size");
      if (size > (int64_t{1} << 31) - 1) c.fail_setting("size", fmt::format("{} does not fit in i32", size));
      return {c.emit("iota", {}, {{"shape", Dims{size}}})};
    },
});

}  // namespace
}  // namespace heddle::frontend
