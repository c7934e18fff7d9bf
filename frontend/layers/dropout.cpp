#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

const RegisterLayer dropout({
    .name = "dropout",
    .doc =
        "in training, zeroes elements with probability rate and scales the others by 1 / (1 - rate); else the identity",
    .settings =
        {{.name = "rate", .type = SettingType::real, .doc = "share of zeroed elements, in [0, 1)", .required = true}},
    .build = [](LayerContext& c) -> ir::Values {
      c.require_floating(0);
      const double rate = c.settings.real("rate");
      if (!(rate >= 0 && rate < 1)) c.fail_setting("rate", fmt::format("'rate' must lie in [0, 1), is {}", rate));
      if (!c.training || rate == 0) return {c.in[0]};
      return {c.emit("dropout", {c.in[0], c.graph.counter("seed"), c.graph.counter("step")},
                     {{"rate", rate}, {"stream", c.stream()}})};
    },
});

}  // namespace
}  // namespace heddle::frontend
