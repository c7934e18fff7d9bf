#include <fmt/format.h>

#include "frontend/layer_context.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// x where it is above 0, else weight x (He et al. 2015, arXiv:1502.01852).
ir::Values build_prelu(LayerContext& c) {
  c.require_f32(0);
  const bool each = c.settings.flag("per_channel");
  if (each) c.require_rank(0, 2, static_cast<int64_t>(kMaxRank), "an input with channels");
  const ValueId x = each ? c.to_nhwc(c.in[0]) : c.in[0];
  const Dims dims = c.dims(x);
  const Initializer quarter{.def = find_initializer("constant"), .values = {{"value", 0.25}}, .words = {}};
  const ValueId weight = c.parameter("weight", {each ? dims.back() : 1}, "init", quarter, /*weight=*/false);
  const ValueId positive = c.emit("gt", {x, c.constant(0, c.type(x))}, {}, "positive");
  const ValueId scaled = c.emit("mul", {x, c.broadcast(weight, dims)}, {}, "scaled");
  const ValueId y = c.emit("select", {positive, x, scaled}, {}, "select");
  return {each ? c.from_nhwc(y) : y};
}

// The first half times the sigmoid of the second (Dauphin et al. 2016, arXiv:1612.08083).
ir::Values build_glu(LayerContext& c) {
  c.require_floating(0);
  const Dims dims = c.dims(c.in[0]);
  const int64_t axis = c.read_axis(), size = dims[static_cast<size_t>(axis)];
  if (size % 2 != 0)
    c.fail_setting("axis", fmt::format("the input {} has {} elements along it, which two halves do not divide",
                                       c.shape_text(dims), size));
  const auto half = [&](int64_t from, std::string_view suffix) {
    return c.slice(c.in[0], axis, from, from + size / 2, suffix);
  };
  const ValueId value = half(0, "value");
  return {c.emit("mul", {value, c.emit("sigmoid", {half(size / 2, "gate")})})};
}

const RegisterLayer prelu({
    .name = "prelu",
    .doc = "x where it is above 0, else weight x",
    .settings =
        {{.name = "per_channel",
          .type = KeyType::flag,
          .doc = "a weight for each channel, not one for all",
          .fallback = false},
         {.name = "init", .type = KeyType::part, .doc = "initializer of weight: 0.25 everywhere", .of = "initializer"}},
    .parameters = "weight [1], or weight [channels]",
    .build = build_prelu,
});
const RegisterLayer glu({
    .name = "glu",
    .doc = "the first half along an axis times the sigmoid of the second",
    .settings = {{.name = "axis", .doc = "what is halved", .fallback = int64_t{-1}}},
    .build = build_glu,
});

}  // namespace
}  // namespace heddle::frontend
