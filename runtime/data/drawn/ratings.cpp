// Ratings with a known truth: the probability that a user likes an item is a function of their numbers; each rating is
// drawn with it.
//
//   {"op": "synthetic", "kind": "ratings", "rows": 100000, "user": "user", "item": "item", "liked": "liked"}
//     -> user i32[], item i32[] (as many as the tables have in which they are looked up), liked u8[]
//
// A user u likes an item i with probability sigmoid(4 p_u . q_i), p and q of four numbers uniform
// on [-1, 1). The truth is the same for every seed; the seed decides only who rates what.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr uint64_t kUsers = 1, kItems = 2;  // seeds of what they are like

std::array<float, 4> taste(uint64_t of, int32_t number) {
  KeyedRandom random(of, static_cast<uint64_t>(number));
  std::array<float, 4> out{};
  for (float& x : out) x = random.uniform(-1, 1);
  return out;
}

float probability(int32_t user, int32_t item) {
  const std::array<float, 4> p = taste(kUsers, user), q = taste(kItems, item);
  float score = 0;
  for (size_t k = 0; k < p.size(); ++k) score += 4 * p[k] * q[k];
  return 1 / (1 + std::exp(-score));
}

struct Rating {
  int32_t user = 0, item = 0;
  float chance = 0;  // uniform on [0, 1)
};

// How many numbers the column's input may have.
int64_t count_of(const ReaderRequest& request, const std::string& source) {
  for (const ColumnRequest& c : request.columns)
    if (c.source() == source) return c.classes;
  return 1;
}

Rating rating_of(const SyntheticRow& r) {
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  const auto below = [&random](int64_t n) { return static_cast<int32_t>(random.below(static_cast<uint64_t>(n))); };
  Rating rating{.user = below(count_of(r.request, "user")), .item = below(count_of(r.request, "item"))};
  rating.chance = random.uniform(0, 1);
  return rating;
}

void require_table(const ReaderRequest& request, const ColumnRequest& c) {
  require_number(request, c);
  if (!c.looked_up || c.classes < 1)
    throw UserError(c.where,
                    fmt::format("synthetic ratings number users and items by the tables in which they are looked up, "
                                "input '{}' finds nothing",
                                c.input));
}

SyntheticColumn number(const std::string& source, int32_t Rating::*which) {
  return {.source = source,
          .type = ElementType::i32,
          .check = require_table,
          .draw = [which](const SyntheticRow& r, std::byte* to) {
            const int32_t n = rating_of(r).*which;
            std::memcpy(to, &n, sizeof n);
          }};
}

SyntheticKind kind() {
  const auto liked = [](const SyntheticRow& r, std::byte* to) {
    const Rating rating = rating_of(r);
    *to = std::byte{rating.chance < probability(rating.user, rating.item)};
  };
  const auto truth = [](const SyntheticRow& r, std::byte* to) {
    const Rating rating = rating_of(r);
    const float p = probability(rating.user, rating.item);
    std::memcpy(to, &p, sizeof p);
  };
  return {.name = "ratings",
          .columns = {number("user", &Rating::user),
                      number("item", &Rating::item),
                      {.source = "liked", .check = require_number, .draw = liked},
                      {.source = "probability", .type = ElementType::f32, .check = require_number, .draw = truth}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
