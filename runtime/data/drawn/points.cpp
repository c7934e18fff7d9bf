// Points in the unit cube, for example those at which a differential equation must hold.
//
//   {"op": "synthetic", "kind": "points", "rows": 20000, "x": "point"}     ->  point f32[2] {0.31, 0.87}
//
// Coordinates are uniform on [0, 1) and do not depend on one another. An input may hold any of them, as one number or
// as a list.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostCoordinates = 1000;

int64_t coordinates(const ColumnRequest& c) { return c.dims.empty() ? 1 : c.dims[0]; }

void require_point(const ReaderRequest&, const ColumnRequest& c) {
  if (c.dims.size() > 1 || coordinates(c) < 1 || coordinates(c) > kMostCoordinates)
    throw UserError(c.where,
                    fmt::format("\"point\" of synthetic points is [coordinates], 1 to {} of them: input '{}' has other "
                                "sizes",
                                kMostCoordinates, c.input));
}

SyntheticKind kind() {
  const auto point = [](const SyntheticRow& r, std::byte* to) {
    KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
    std::vector<float> row(static_cast<size_t>(coordinates(r.column)));
    for (float& x : row) x = random.uniform(0, 1);
    std::memcpy(to, row.data(), row.size() * sizeof(float));
  };
  return {.name = "points",
          .columns = {{.source = "point", .type = ElementType::f32, .check = require_point, .draw = point}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
