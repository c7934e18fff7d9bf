#include <fmt/format.h>

#include "ir/ops/conv2d.h"
#include "ir/ops/precision.h"

namespace heddle::ir {

std::vector<Key> conv_attributes() {
  return with_precision(
      {{.name = "strides",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = "steps down and right",
        .fallback = Dims{1, 1}},
       {.name = "pads",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = "top, left, bottom, right",
        .fallback = Dims{0, 0, 0, 0}},
       {.name = "dilations",
        .type = KeyType::integer,
        .count = Count::several,
        .doc = "distance of filter elements",
        .fallback = Dims{1, 1}},
       {.name = "groups", .type = KeyType::integer, .doc = "independent groups of channels", .fallback = int64_t{1}}});
}

namespace {

void check_channels(int64_t channels, const Dims& filter, int64_t groups) {
  if (groups < 1) throw InferError(fmt::format("groups is {}, expected 1 or more", groups));
  if (filter[0] % groups != 0 || filter[0] == 0)
    throw InferError(fmt::format("filter has {} output channels, not a multiple of {} groups", filter[0], groups));
  // Written as a division: the product could overflow.
  if (channels % groups != 0 || channels / groups != filter[3])
    throw InferError(fmt::format("input has {} channels, filter expects {} x groups {}", channels, filter[3], groups));
}

}  // namespace

Conv conv(const Signature& s, const Type& image, const Type& filter) {
  check_precision(s);
  require_image(image, "input");
  require_image(filter, "filter");
  if (image.dtype != filter.dtype)
    throw InferError(fmt::format("operands differ in type: {} vs {}", to_string(image), to_string(filter)));
  const Dims& strides = checked_list(s, "strides", 2, 1);
  const Dims& pads = checked_list(s, "pads", 4, 0);
  const Dims& dilations = checked_list(s, "dilations", 2, 1);
  const int64_t groups = s.integer("groups");
  check_channels(image.dims[3], filter.dims, groups);
  const auto axis = [&](size_t i) {
    return Window{.size = filter.dims[i + 1],
                  .stride = strides[i],
                  .dilation = dilations[i],
                  .low = pads[i],
                  .high = pads[i + 2],
                  .input = image.dims[i + 1]};
  };
  Conv c{.height = placed(axis(0), "kernel", "height"), .width = placed(axis(1), "kernel", "width")};
  c.batch = image.dims[0];
  c.groups = groups;
  c.in_per_group = filter.dims[3];
  c.out_per_group = filter.dims[0] / groups;
  c.image = image.dims;
  c.filter = filter.dims;
  c.result = {c.batch, c.height.output, c.width.output, filter.dims[0]};
  return c;
}

void require_result(const Conv& c, const Type& dy, DType dtype) {
  const Type expected{dtype, c.result};
  if (dy != expected)
    throw InferError(fmt::format("dy is {}, convolving {} with {} gives {}", to_string(dy), to_string(c.image),
                                 to_string(c.filter), to_string(expected)));
}

std::vector<Sample> conv_samples(const std::function<Sample(const ConvCase&)>& sample) {
  const std::vector<ConvCase> cases = {
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
  std::vector<Sample> samples;
  samples.reserve(cases.size());
  for (const ConvCase& c : cases) samples.push_back(sample(c));
  return samples;
}

}  // namespace heddle::ir
