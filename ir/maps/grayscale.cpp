#include <fmt/format.h>

#include "ir/map_samples.h"

namespace heddle::ir {
namespace {

std::vector<std::string> draw(const SampleText& t) {
  return {fmt::format("const bool grey_{} = hd::unit<float>({}.x) < {};", t.name, t.draw,
                      as_float(t.map.number("probability")))};
}

std::string pixel(const SampleText& t) {
  return fmt::format("grey_{0} ? hd::grey_pixel<{1}>({2}, py, px) : {2}(py, px, c)", t.name, t.type, t.before);
}

std::string fault(const DataMap&, const MapRow& row) {
  if (row.dims.size() == 3 && row.channels() == 3) return {};
  return "makes pictures of three channels, red, green and blue, grey";
}

const RegisterMap grayscale({
    .name = "grayscale",
    .doc = "in that share of the rows all three channels become 0.299 red + 0.587 green + 0.114 blue",
    .keys = {{.name = "probability",
              .type = KeyType::real,
              .doc = "the share of the rows",
              .fallback = 0.1,
              .range = between(0, 1)}},
    .training = true,
    .picture = true,
    .fault = fault,
});
const RegisterSample sample("grayscale",
                            {.taps = [](const DataMap&) -> int64_t { return 3; }, .draw = draw, .pixel = pixel});

}  // namespace
}  // namespace heddle::ir
