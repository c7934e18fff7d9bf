// pixel_shuffle, by torch.nn.PixelShuffle (Shi et al. 2016, arXiv:1609.05158).
#include <fmt/format.h>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layers/window.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 15;  // whose square is a number of channels

// Channel (c r + i) r + j of a pixel becomes channel c of the pixel that is i below and j to the
// right among its r by r.
ir::Values build(LayerContext& c) {
  require_image(c);
  const int64_t factor = c.settings.integer("factor");
  const int64_t all = channels(c), area = factor * factor;
  if (all % area != 0)
    c.fail_setting("factor", fmt::format("{} channels cannot be shared among {} x {} pixels", all, factor, factor),
                   fmt::format("their number must be a multiple of {}", area));
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims d = c.dims(x);
  const ValueId parts = c.reshape(x, {d[0], d[1], d[2], all / area, factor, factor}, "parts");
  const ValueId moved = c.emit("transpose", {parts}, {{"perm", Dims{0, 1, 4, 2, 5, 3}}}, "moved");
  return {c.from_nhwc(c.reshape(moved, {d[0], d[1] * factor, d[2] * factor, all / area}))};
}

const RegisterLayer pixel_shuffle({
    .name = "pixel_shuffle",
    .doc = "channels become pixels: each pixel factor x factor ones with as many times fewer channels",
    .settings =
        {{.name = "factor", .doc = "times as high and wide", .required = true, .range = ir::between(1, kLargest)}},
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
