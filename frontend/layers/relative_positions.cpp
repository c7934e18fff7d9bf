// relative_positions: a bias for attention by the distance between query and key, as in T5 (Raffel et al. 2020,
// arXiv:1910.10683).
//
//   {"name": "near", "op": "relative_positions", "in": "x", "heads": 8}, x: [N,T,d]
//     -> [8,T,T]: the row of near.weight for each distance; small distances have rows of their own, large ones share them
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

// Where the buckets behind the exact ones begin: bucket exact + k at the first distance of which
// log(distance / exact) / log(farthest / exact) * (buckets - exact) reaches k, in f32 as there.
std::vector<int64_t> bucket_starts(int64_t buckets, int64_t exact, int64_t farthest) {
  const auto bucket = [&](int64_t distance) {
    const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                       static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(exact)));
    return std::min(exact + static_cast<int64_t>(part * static_cast<float>(buckets - exact)), buckets - 1);
  };
  std::vector<int64_t> starts;
  int64_t distance = exact;
  for (int64_t next = exact + 1; next < buckets; ++next) {
    while (distance < farthest && bucket(distance) < next) ++distance;
    starts.push_back(distance);
  }
  return starts;
}

// i32 [T,S]: the bucket of each query's distance to each key. The last query stands at the last key.
ValueId buckets_of(LayerContext& c, int64_t queries, int64_t keys) {
  int64_t buckets = c.settings.integer("buckets");
  const Dims dims{queries, keys};
  const auto number = [&](int64_t n) { return c.constant(static_cast<double>(n), {DType::i32, dims}); };
  const auto where = [&](ValueId truth, const char* name) {
    return c.emit("cast", {truth}, {{"dtype", std::string("i32")}}, name);
  };
  const ValueId row = c.emit("iota", {}, {{"shape", dims}, {"axis", int64_t{0}}}, "row");
  const ValueId key = c.emit("iota", {}, {{"shape", dims}, {"axis", int64_t{1}}}, "key");
  const ValueId query = c.emit("add", {row, number(keys - queries)}, {}, "query");
  const ValueId ahead = c.emit("sub", {key, query}, {}, "ahead");
  ValueId distance, bucket;
  if (c.settings.flag("causal")) {
    distance = c.emit("max", {c.emit("neg", {ahead}, {}, "behind"), number(0)}, {}, "distance");
  } else {
    buckets /= 2;
    distance = c.emit("abs", {ahead}, {}, "distance");
  }
  const int64_t exact = buckets / 2;
  bucket = c.emit("min", {distance, number(exact)}, {}, "bucket");
  for (const int64_t start : bucket_starts(buckets, exact, c.settings.integer("distance")))
    bucket =
        c.emit("add", {bucket, where(c.emit("ge", {distance, number(start)}, {}, "far"), "farther")}, {}, "bucket");
  if (c.settings.flag("causal")) return bucket;
  const ValueId side = where(c.emit("gt", {ahead, number(0)}, {}, "behind"), "side");
  return c.emit("add", {bucket, c.emit("mul", {side, number(buckets)}, {}, "other_side")}, {}, "bucket");
}

ir::Values build(LayerContext& c) {
  const bool other = c.in.size() > 1 && c.in[1].valid();
  c.require_rank(0, 2, 3, "a sequence [N, T, ...]");
  if (other) c.require_rank(1, 2, 3, "the keys' sequence [N, S, ...]");
  const int64_t queries = c.dims(c.in[0])[1], keys = other ? c.dims(c.in[1])[1] : queries;
  const int64_t buckets = c.settings.integer("buckets"), distance = c.settings.integer("distance");
  const int64_t of_side = c.settings.flag("causal") ? buckets : buckets / 2;
  if (buckets % (c.settings.flag("causal") ? 2 : 4) != 0)
    c.fail_setting("buckets", fmt::format("{} buckets do not part into those of one distance and those of many{}",
                                          buckets, c.settings.flag("causal") ? "" : ", on either side"));
  if (distance <= of_side / 2)
    c.fail_setting("distance",
                   fmt::format("the last bucket begins at {}, and {} distances have their own", distance, of_side / 2));
  const int64_t heads = c.settings.integer("heads");
  const ValueId weight = c.parameter("weight", {buckets, heads}, "init", "normal", /*weight=*/true);
  const ValueId rows = c.emit("gather", {weight, buckets_of(c, queries, keys)}, {}, "rows");
  return {c.emit("transpose", {rows}, {{"perm", Dims{2, 0, 1}}})};
}

const RegisterLayer relative_positions(
    {.name = "relative_positions",
     .doc = "a bias [heads, T, S] for attention: for each distance of a key its bucket's row of weight",
     .inputs = {"x"},
     .optional = {"keys"},
     .settings = {{.name = "heads", .doc = "of the attention", .required = true, .range = ir::at_least(1)},
                  {.name = "buckets", .doc = "rows of weight", .fallback = int64_t{32}, .range = ir::between(4, 1024)},
                  {.name = "distance",
                   .doc = "from which on all keys share the last bucket",
                   .fallback = int64_t{128},
                   .range = ir::between(2, 1 << 20)},
                  {.name = "causal",
                   .type = KeyType::flag,
                   .doc = "all buckets are of keys before the query; else half of them are of those behind it",
                   .fallback = false},
                  {.name = "init", .type = KeyType::part, .doc = "initializer of weight: normal", .of = "initializer"}},
     .parameters = "weight [buckets, heads]",
     .build = build});

}  // namespace
}  // namespace heddle::frontend
