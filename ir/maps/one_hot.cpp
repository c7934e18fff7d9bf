#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

// The kernel compares the class number of the file with the place on the last axis (FedColumn::classes).
const RegisterMap one_hot({
    .name = "one_hot",
    .doc = "makes `depth` numbers of a class number, all 0 but a 1, along the last axis, which the file does not have",
    .keys = {{.name = "depth",
              .type = KeyType::integer,
              .doc = "how many classes there are",
              .required = true,
              .range = between(1, 1 << 24)}},
    .first = true,
    .fault =
        [](const DataMap& map, const MapRow& row) {
          const int64_t depth = map.integer("depth"), have = row.dims.empty() ? 0 : row.dims.back();
          if (have == depth) return std::string();
          return fmt::format("a depth of {0} makes a last axis of {0}, that of the input has {1}", depth, have);
        },
    .before = [](const DataMap&, const MapRow& row) { return Dims(row.dims.begin(), row.dims.end() - 1); },
});

}  // namespace
}  // namespace heddle::ir
