#include <fmt/format.h>

#include "ir/ops/convolution.h"
#include "ir/ops/precision.h"

namespace heddle::ir {

std::string conv_name(size_t axes) { return fmt::format("conv{}d", axes); }

std::vector<Key> conv_attributes(size_t axes) {
  const bool image = axes == 2;
  return with_precision(
      {{.name = "strides",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = image ? "steps down and right" : "steps along each axis",
        .fallback = Dims(axes, 1)},
       {.name = "pads",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = image ? "top, left, bottom, right" : "before each axis, then behind each axis",
        .fallback = Dims(2 * axes, 0)},
       {.name = "dilations",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = "distance of filter elements",
        .fallback = Dims(axes, 1)},
       {.name = "groups", .type = KeyType::integer, .doc = "independent groups of channels", .fallback = int64_t{1}}});
}

namespace {

void check_channels(int64_t channels, const Dims& filter, int64_t groups) {
  if (groups < 1) throw InferError(fmt::format("groups is {}, expected 1 or more", groups));
  if (filter[0] % groups != 0 || filter[0] == 0)
    throw InferError(fmt::format("filter has {} output channels, not a multiple of {} groups", filter[0], groups));
  // Written as a division: the product could overflow.
  if (channels % groups != 0 || channels / groups != filter.back())
    throw InferError(
        fmt::format("input has {} channels, filter expects {} x groups {}", channels, filter.back(), groups));
}

}  // namespace

Conv conv(const Signature& s, size_t axes, const Type& image, const Type& filter) {
  check_precision(s);
  require_image(image, axes, "input");
  require_image(filter, axes, "filter");
  if (image.dtype != filter.dtype)
    throw InferError(fmt::format("operands differ in type: {} vs {}", to_string(image), to_string(filter)));
  const Dims& strides = checked_list(s, "strides", axes, 1);
  const Dims& pads = checked_list(s, "pads", 2 * axes, 0);
  const Dims& dilations = checked_list(s, "dilations", axes, 1);
  const int64_t groups = s.integer("groups");
  check_channels(image.dims.back(), filter.dims, groups);
  Conv c;
  c.batch = image.dims[0];
  c.groups = groups;
  c.in_per_group = filter.dims.back();
  c.out_per_group = filter.dims[0] / groups;
  c.image = image.dims;
  c.filter = filter.dims;
  c.result = {c.batch};
  for (size_t i = 0; i < axes; ++i) {
    const Window w{.size = filter.dims[i + 1],
                   .stride = strides[i],
                   .dilation = dilations[i],
                   .low = pads[i],
                   .high = pads[i + axes],
                   .input = image.dims[i + 1]};
    c.axes.push_back(placed(w, "kernel", side_name(i, axes)));
    c.result.push_back(c.axes.back().output);
  }
  c.result.push_back(filter.dims[0]);
  return c;
}

void require_result(const Conv& c, const Type& dy, DType dtype) {
  const Type expected{dtype, c.result};
  if (dy != expected)
    throw InferError(fmt::format("dy is {}, convolving {} with {} gives {}", to_string(dy), to_string(c.image),
                                 to_string(c.filter), to_string(expected)));
}

namespace {

const std::vector<ConvCase>& conv_cases(size_t axes) {
  static const std::vector<ConvCase> images = {
      {{2, 5, 5, 3}, {4, 3, 3, 3}, {2, 3, 3, 4}, {}},
      {{1, 7, 6, 2}, {3, 3, 2, 2}, {1, 4, 4, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 0, 1, 2}}}},
      {{1, 8, 7, 1}, {5, 3, 3, 1}, {1, 4, 5, 5}, {{"dilations", Dims{2, 1}}}},
      {{2, 4, 4, 6}, {4, 2, 2, 3}, {2, 3, 3, 4}, {{"groups", int64_t{2}}}},
      {{1, 6, 5, 4},
       {4, 3, 3, 1},
       {1, 3, 3, 4},
       {{"groups", int64_t{4}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}}},
      {{3, 1, 1, 7}, {5, 1, 1, 7}, {3, 1, 1, 5}, {}},
      {{1, 9, 8, 2},
       {2, 2, 3, 2},
       {1, 4, 2, 2},
       {{"strides", Dims{2, 3}}, {"dilations", Dims{3, 2}}, {"pads", Dims{0, 2, 1, 0}}}},
      {{2, 6, 6, 1}, {8, 3, 3, 1}, {2, 2, 2, 8}, {{"strides", Dims{3, 3}}}}};
  static const std::vector<ConvCase> volumes = {
      {{2, 3, 4, 3, 2}, {3, 2, 3, 2, 2}, {2, 2, 2, 2, 3}, {}},
      {{1, 5, 4, 3, 2},
       {3, 3, 2, 2, 2},
       {1, 3, 2, 2, 3},
       {{"strides", Dims{2, 2, 2}}, {"pads", Dims{1, 0, 1, 1, 1, 0}}}},
      {{1, 5, 3, 4, 1}, {2, 3, 2, 2, 1}, {1, 1, 2, 2, 2}, {{"dilations", Dims{2, 1, 2}}}},
      {{1, 3, 3, 2, 6}, {4, 2, 2, 1, 3}, {1, 2, 2, 2, 4}, {{"groups", int64_t{2}}}},
      {{1, 4, 3, 3, 3},
       {6, 3, 3, 3, 1},
       {1, 2, 3, 2, 6},
       {{"groups", int64_t{3}}, {"pads", Dims{1, 1, 1, 1, 1, 1}}, {"strides", Dims{2, 1, 2}}}},
      {{3, 1, 1, 1, 7}, {5, 1, 1, 1, 7}, {3, 1, 1, 1, 5}, {}},
      {{1, 4, 6, 5, 1},
       {2, 2, 2, 3, 1},
       {1, 1, 3, 3, 2},
       {{"strides", Dims{3, 2, 1}}, {"dilations", Dims{3, 2, 2}}, {"pads", Dims{0, 1, 2, 1, 0, 0}}}},
      {{2, 4, 2, 2, 1}, {3, 2, 2, 2, 1}, {2, 2, 1, 1, 3}, {{"strides", Dims{2, 2, 2}}}}};
  return axes == 2 ? images : volumes;
}

}  // namespace

std::vector<Sample> conv_samples(size_t axes, const std::function<Sample(const ConvCase&)>& sample) {
  std::vector<Sample> samples;
  for (const ConvCase& c : conv_cases(axes)) samples.push_back(sample(c));
  return samples;
}

}  // namespace heddle::ir
