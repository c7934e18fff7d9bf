// Pairs of drawn digits, half of them of the same class, for networks that compare pictures.
//
//   {"op": "synthetic", "kind": "digit_pairs", "rows": 6000, "a": "first", "b": "second", "same": "same"}
#include <algorithm>

#include "runtime/data/drawn/digits.h"
#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

// The row numbers of `digits` that a pair consists of. No data set of digits has these row numbers.
struct Pair {
  int64_t first = 0, second = 0;
  bool same = false;
};

Pair pair_of(uint64_t seed, int64_t row) {
  constexpr int64_t kFirstRow = int64_t{1} << 40, kRows = int64_t{1} << 32;
  KeyedRandom random(seed, static_cast<uint64_t>(row));
  const auto pick = [&random] { return kFirstRow + static_cast<int64_t>(random.below(kRows)); };
  Pair pair{.first = pick(), .same = random.below(2) == 1};
  do pair.second = pick();
  while ((digit_label(seed, pair.second) == digit_label(seed, pair.first)) != pair.same);
  return pair;
}

SyntheticColumn picture(const std::string& source, int64_t Pair::*which) {
  return {.source = source,
          .check = [](const auto& request, const auto& c) { require_picture(request, c, 1); },
          .draw =
              [which](const SyntheticRow& r, std::byte* to) {
                const Digit digit =
                    draw_digit(r.seed, pair_of(r.seed, r.row).*which, r.column.dims[0], r.column.dims[1]);
                std::ranges::transform(digit.pixels, to, [](uint8_t p) { return static_cast<std::byte>(p); });
              }};
}

SyntheticKind kind() {
  const auto same = [](const SyntheticRow& r, std::byte* to) { *to = std::byte{pair_of(r.seed, r.row).same}; };
  return {.name = "digit_pairs",
          .columns = {picture("first", &Pair::first),
                      picture("second", &Pair::second),
                      {.source = "same", .check = require_number, .draw = same}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
