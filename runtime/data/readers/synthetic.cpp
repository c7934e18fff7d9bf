#include "runtime/data/digits.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMaxSeed = int64_t{1} << 53;

const RegisterReader synthetic({
    .name = "synthetic",
    .doc = "drawn digits: an input is \"image\" or \"label\"",
    .column = ColumnKey::word,
    .keys =
        {{.name = "kind",
          .type = KeyType::text,
          .doc = "what is drawn",
          .fallback = std::vector<std::string>{"digits"},
          .choices = {"digits"}},
         {.name = "rows",
          .type = KeyType::integer,
          .doc = "how many",
          .required = true,
          .low = 1,
          .high = kMaxSyntheticRows},
         {.name = "seed", .type = KeyType::integer, .doc = "of the drawing", .fallback = int64_t{0}, .high = kMaxSeed}},
    .header =
        [](const ReaderRequest& request, const std::filesystem::path&) {
          return TableHeader{.rows = request.integer("rows"),
                             .types = std::vector<ElementType>(request.columns.size(), ElementType::u8)};
        },
    .read = [](const ReaderRequest& request, const std::filesystem::path&) { return draw_digits(request); },
});

}  // namespace
}  // namespace heddle::runtime::data
