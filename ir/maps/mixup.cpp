// Zhang et al. 2018, "mixup: beyond empirical risk minimization", arXiv:1710.09412.
#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

const RegisterMap mixup({
    .name = "mixup",
    .doc =
        "m times the row plus (1 - m) times the one before it in the batch, the first with the last; m is drawn from "
        "beta(`alpha`, `alpha`)",
    .keys = {{.name = "alpha",
              .type = KeyType::real,
              .doc = "of the beta distribution",
              .fallback = 0.2,
              .range = between(1e-3, 1e3)}},
    .training = true,
    .mixes = true,
    .draw = [](const MapText& t) { return draw_beta(t, "mix"); },
    .value = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("{0} = ({1})mix_{2} * {0} + ({1})(1.0f - mix_{2}) * other;", t.x, t.type, t.name)};
    },
});

}  // namespace
}  // namespace heddle::ir
