#include <fmt/format.h>

#include "ir/map_def.h"

namespace heddle::ir {
namespace {

// The elements are cut when the file is read (runtime/data/check_column.h): nothing is left for the kernel to do.
const RegisterMap cast({
    .name = "cast",
    .doc = "lets a file of floats feed an input of the integer type `dtype`: they are cut toward zero",
    .keys = {{.name = "dtype", .type = KeyType::dtype, .doc = "the input's", .required = true}},
    .integers = true,
    .first = true,
    .fault =
        [](const DataMap& map, const MapRow& row) {
          if (map.dtype == row.dtype) return std::string();
          return fmt::format("it makes what the input takes, {}, not {}", to_string(row.dtype), to_string(map.dtype));
        },
});

}  // namespace
}  // namespace heddle::ir
