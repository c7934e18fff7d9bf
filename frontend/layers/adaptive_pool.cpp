// adaptive_avg_pool1d to 3d, adaptive_max_pool1d to 3d, by torch.nn.AdaptiveAvgPool2d and its relatives.
#include <fmt/format.h>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr int64_t kLargest = int64_t{1} << 26;

std::string sides_text(size_t sides) {
  if (sides == 1) return "one number";
  return sides == 2 ? "one number or [height, width]" : "one number or [depth, height, width]";
}

Dims read_size(LayerContext& c, size_t sides) {
  Dims size = c.settings.integers("size");
  if (size.size() == 1) size.resize(sides, size[0]);
  if (size.size() != sides) c.fail_setting("size", "'size' takes " + sides_text(sides));
  return size;
}

// Windows of one size that lie side by side are an ordinary pooling, in one pass over an image or a volume.
bool is_even(const Dims& image, const Dims& size) {
  if (size.size() == 1) return false;
  for (size_t d = 0; d < size.size(); ++d)
    if (image[d] % size[d] != 0) return false;
  return true;
}

ValueId even_pool(LayerContext& c, bool largest, ValueId x, const Dims& image, const Dims& size) {
  Dims window;
  for (size_t d = 0; d < size.size(); ++d) window.push_back(image[d] / size[d]);
  const ir::Attrs attrs = {{"window", window}, {"strides", window}};
  if (!largest) return c.emit(size.size() == 2 ? "avg_pool2d" : "avg_pool3d", {x}, attrs);
  return c.b.multi(size.size() == 2 ? "max_pool2d" : "max_pool3d", {x}, attrs, {c.path + ".max", c.path + ".index"})[0];
}

// The last axis first, so that of equal elements the first in the rows' order is chosen.
ValueId pool_axes(LayerContext& c, bool largest, ValueId x, const Dims& size) {
  for (size_t d = size.size(); d-- > 0;) {
    if (c.dims(x)[d + 1] == size[d]) continue;
    const ir::Attrs attrs = {{"axis", static_cast<int64_t>(d) + 1}, {"size", size[d]}};
    const std::string name = fmt::format("{}.axis{}", c.path, d + 1);
    x = largest ? c.b.multi("adaptive_max_pool", {x}, attrs, {name + ".max", name + ".index"})[0]
                : c.emit("adaptive_avg_pool", {x}, attrs, fmt::format("axis{}", d + 1));
  }
  return x;
}

ir::Values build(LayerContext& c, size_t sides, bool largest) {
  const auto rank = static_cast<int64_t>(sides) + 2;
  c.require_rank(0, rank, rank, sides == 1 ? "a sequence" : sides == 2 ? "an image" : "a volume");
  if (!largest) c.require_floating(0);
  const Dims size = read_size(c, sides);
  const ValueId x = c.to_nhwc(c.in[0]);
  const Dims dims = c.dims(x), image(dims.begin() + 1, dims.end() - 1);
  Dims out = {dims[0]};
  out.insert(out.end(), size.begin(), size.end());
  out.push_back(dims.back());
  check_size(out, c.settings.where("size"), c.settings.title());
  if (!largest && ir::product(size) == 1) {
    Dims axes;
    for (size_t d = 0; d < sides; ++d) axes.push_back(static_cast<int64_t>(d) + 1);
    return {c.from_nhwc(c.reshape(c.emit("reduce_mean", {x}, {{"axes", axes}}, "mean"), out))};
  }
  return {c.from_nhwc(is_even(image, size) ? even_pool(c, largest, x, image, size) : pool_axes(c, largest, x, size))};
}

LayerDef adaptive(size_t sides, bool largest) {
  return {
      .name = fmt::format("adaptive_{}_pool{}d", largest ? "max" : "avg", sides),
      .doc = fmt::format("{} of each bin: PyTorch's bins, [floor(o n / size), ceil((o + 1) n / size)) of n elements",
                         largest ? "the largest element" : "the mean"),
      .settings = {{.name = "size",
                    .type = KeyType::integer,
                    .count = Count::several,
                    .doc = "of the result: " + sides_text(sides),
                    .required = true,
                    .range = ir::between(1, kLargest)}},
      .build = [sides, largest](LayerContext& c) { return build(c, sides, largest); }};
}

const RegisterLayer adaptive_avg_pool1d(adaptive(1, /*largest=*/false));
const RegisterLayer adaptive_avg_pool2d(adaptive(2, /*largest=*/false));
const RegisterLayer adaptive_avg_pool3d(adaptive(3, /*largest=*/false));
const RegisterLayer adaptive_max_pool1d(adaptive(1, /*largest=*/true));
const RegisterLayer adaptive_max_pool2d(adaptive(2, /*largest=*/true));
const RegisterLayer adaptive_max_pool3d(adaptive(3, /*largest=*/true));

}  // namespace
}  // namespace heddle::frontend
