#include <fmt/format.h>

#include <cmath>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

// Half of what is left out, a half to the even number, as Python rounds.
int64_t before_the_middle(const DataMap& map, size_t side, int64_t kept) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(map.integer("from", side) - kept) / 2));
}

Dims before(const DataMap& map, const MapRow& row) {
  Dims dims = row.dims;
  const size_t first = row.channels_first ? 1 : 0;
  dims[first] = map.integer("from", 0), dims[first + 1] = map.integer("from", 1);
  return dims;
}

std::string fault(const DataMap& map, const MapRow& row) {
  const int64_t height = map.integer("from", 0), width = map.integer("from", 1);
  if (height >= row.height() && width >= row.width()) return {};
  return fmt::format("cuts the input's {} x {} out of pictures of {} x {}, which are smaller", row.height(),
                     row.width(), height, width);
}

std::vector<std::string> place(const MapText& t) {
  return {fmt::format("{0} += {1}, {2} += {3};", t.y, before_the_middle(t.map, 0, t.row.height()), t.x,
                      before_the_middle(t.map, 1, t.row.width()))};
}

// In evaluation, too: the pictures would have another size.
const RegisterMap center_crop({
    .name = "center_crop",
    .doc = "the middle of the file's pictures, which have the size `from`; what is left is the input's size",
    .keys = {{.name = "from",
              .type = KeyType::sides,
              .doc = "the size of the pictures before it",
              .required = true,
              .range = between(1, 1 << 20)}},
    .picture = true,
    .integers = true,
    .fault = fault,
    .before = before,
    .place = place,
    .find =
        [](const DataMap& map, const MapRow& row, int64_t& y, int64_t& x) {
          y += before_the_middle(map, 0, row.height()), x += before_the_middle(map, 1, row.width());
          return true;
        },
});

}  // namespace
}  // namespace heddle::ir
