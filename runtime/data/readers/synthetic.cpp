#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMaxSeed = int64_t{1} << 53;

// Made at the first use: by then all kinds are registered.
ReaderDef synthetic() {
  return {
      .name = "synthetic",
      .doc = "rows that are drawn: an input is what the kind has, such as \"image\" or \"label\"",
      .keys = {{.name = "kind",
                .type = KeyType::text,
                .doc = "what is drawn",
                .fallback = std::string("digits"),
                .words = synthetic_names()},
               {.name = "rows",
                .type = KeyType::integer,
                .doc = "how many",
                .required = true,
                .range = ir::between(1, kMaxSyntheticRows)},
               {.name = "seed",
                .type = KeyType::integer,
                .doc = "of the drawing",
                .fallback = int64_t{0},
                .range = ir::between(0, kMaxSeed)},
               {.name = "held_out",
                .type = KeyType::flag,
                .doc = "rows of what no other rows of the kind have, for validation",
                .fallback = false}},
      .one_text = true,
      .header = [](const ReaderRequest& request, const std::filesystem::path&) { return synthetic_header(request); },
      .read = [](const ReaderRequest& request, const std::filesystem::path&) { return draw_table(request); },
  };
}

const RegisterReader registered(synthetic);

}  // namespace
}  // namespace heddle::runtime::data
