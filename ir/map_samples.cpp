#include "ir/map_samples.h"

#include <fmt/format.h>

#include "ir/check.h"

namespace heddle::ir {
namespace {

// Filled at start-up and frozen after.
std::map<std::string, SampleDef, std::less<>>& registry() {
  static std::map<std::string, SampleDef, std::less<>> samples;
  return samples;
}

}  // namespace

RegisterSample::RegisterSample(std::string map, SampleDef def) {
  HEDDLE_CHECK(registry().emplace(map, std::move(def)).second, "the samples of " + map + " are registered twice");
}

const SampleDef* find_sample(const MapDef& map) {
  const auto it = registry().find(map.name);
  return it == registry().end() ? nullptr : &it->second;
}

std::string SampleText::sides() const { return fmt::format("{}, {}", row.height(), row.width()); }

std::vector<Key> window_keys(std::string_view scale_doc, std::string_view ratio_doc) {
  return {{.name = "scale",
           .type = KeyType::real,
           .count = Count::list,
           .doc = std::string(scale_doc),
           .range = {.low = 0, .high = 1, .above = true}},
          {.name = "ratio",
           .type = KeyType::real,
           .count = Count::list,
           .doc = std::string(ratio_doc),
           .range = between(1e-3, 1e3)}};
}

std::pair<double, double> bounds_of(const DataMap& map, std::string_view key, std::pair<double, double> absent) {
  return map.has(key) ? std::pair(map.all(key).at(0), map.all(key).at(1)) : absent;
}

void require_bounds(const DataMap& map, std::string_view key) {
  if (!map.has(key)) return;
  const std::vector<double>& given = map.all(key);
  if (given.size() == 2 && given[0] <= given[1]) return;
  const auto place = map.places.find(key);
  throw UserError(place == map.places.end() ? map.where : place->second,
                  fmt::format("{}: '{}' expects two numbers, the smallest and the largest", map.def->name, key),
                  fmt::format("\"{0}\": [{1}, {1}] is always the same", key, given[0]));
}

Key filter_key() {
  return {.name = "filter",
          .type = KeyType::text,
          .doc = "how pixels are found, bilinear where it is not said",
          .words = {"bilinear", "nearest"}};
}

bool is_nearest(const DataMap& map) { return map.has("filter") && map.integer("filter") == 1; }

std::string filter_fault(const DataMap& map, const MapRow& row) {
  if (row.dtype == DType::f32 || row.dtype == DType::f64 || is_nearest(map)) return {};
  return fmt::format("of an input of {} needs \"filter\": \"nearest\"", to_string(row.dtype));
}

int64_t filter_taps(const DataMap& map) { return is_nearest(map) ? 1 : 4; }

std::string turn_fault(const DataMap& map, const MapRow& row) {
  const std::string fault = filter_fault(map, row);
  return fault.empty() ? fill_fault(map, row) : fault;
}

std::string as_float(double value) { return fmt::format("{:#}f", static_cast<float>(value)); }

std::vector<Key> turn_keys() {
  return {filter_key(),
          {.name = "fill", .type = KeyType::real, .doc = "the value outside of the picture", .fallback = 0.0}};
}

std::string turned_pixel(const SampleText& t) {
  return fmt::format("hd::turned<{}>({}, turn_{}, {}, {}, {}, py, px, c)", t.type, t.before, t.name, t.sides(),
                     is_nearest(t.map), t.literal(t.map.number("fill")));
}

// For any alpha and without a loop: one half plus half of t / sqrt(n + t^2), where t is Student's with n = 2 alpha
// degrees, and Bailey's polar form of t (1994, doi:10.1090/S0025-5718-1994-1219702-8) is
// sqrt(n (u^(-2/n) - 1)) cos(2 pi v). With w = u^(1/alpha), n cancels: t^2 / (n + t^2) = c^2 (1 - w) / (w + c^2 (1 - w)).
std::vector<std::string> draw_beta(const MapText& t, std::string_view what) {
  const std::string& n = t.name;
  return {
      fmt::format("const hd::Words draw_{} = {};", n, t.draw),
      fmt::format(
          "const float power_{0} = hd::min(hd::exp(hd::log(hd::unit<float>(draw_{0}.x) + 0x1p-25f) * {1:#}f), 1.0f);",
          n, static_cast<float>(1 / t.map.number("alpha"))),
      fmt::format("const float turn_{0} = hd::cos(6.2831855f * hd::unit<float>(draw_{0}.y));", n),
      fmt::format("const float student_{0} = turn_{0} * turn_{0} * (1.0f - power_{0});", n),
      fmt::format("const float {1}_{0} = 0.5f + (turn_{0} < 0.0f ? -0.5f : 0.5f) * hd::sqrt(student_{0} / (power_{0} + "
                  "student_{0}));",
                  n, what)};
}

}  // namespace heddle::ir
