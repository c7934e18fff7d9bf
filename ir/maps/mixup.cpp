// Zhang et al. 2018, "mixup: beyond empirical risk minimization", arXiv:1710.09412.
#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

// A number of the distribution beta(alpha, alpha), for any alpha and without a loop: one half plus
// half of t / sqrt(n + t^2), where t is Student's with n = 2 alpha degrees, and Bailey's polar form
// of t (1994, doi:10.1090/S0025-5718-1994-1219702-8) is sqrt(n (u^(-2/n) - 1)) cos(2 pi v). With
// w = u^(1/alpha), n cancels: t^2 / (n + t^2) = c^2 (1 - w) / (w + c^2 (1 - w)).
std::vector<std::string> draw(const MapText& t) {
  const std::string& n = t.name;
  return {
      fmt::format("const hd::Words draw_{} = {};", n, t.draw),
      fmt::format(
          "const float power_{0} = hd::min(hd::exp(hd::log(hd::unit<float>(draw_{0}.x) + 0x1p-25f) * {1:#}f), 1.0f);",
          n, static_cast<float>(1 / t.map.number("alpha"))),
      fmt::format("const float turn_{0} = hd::cos(6.2831855f * hd::unit<float>(draw_{0}.y));", n),
      fmt::format("const float student_{0} = turn_{0} * turn_{0} * (1.0f - power_{0});", n),
      fmt::format("const float mix_{0} = 0.5f + (turn_{0} < 0.0f ? -0.5f : 0.5f) * hd::sqrt(student_{0} / (power_{0} + "
                  "student_{0}));",
                  n)};
}

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
    .draw = draw,
    .value = [](const MapText& t) -> std::vector<std::string> {
      return {fmt::format("{0} = ({1})mix_{2} * {0} + ({1})(1.0f - mix_{2}) * other;", t.x, t.type, t.name)};
    },
});

}  // namespace
}  // namespace heddle::ir
