#include "tests/sums/sum_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/builder.h"

namespace heddle::testing {
using namespace ir;

namespace {

int64_t between(int64_t from, int64_t to, double share) {
  const double low = std::log(static_cast<double>(from)), high = std::log(static_cast<double>(std::max(from, to)));
  return std::clamp(static_cast<int64_t>(std::exp(low + (high - low) * share)), from, std::max(from, to));
}

}  // namespace

int64_t Draw::length(int64_t from, int64_t to) { return between(from, to, unit(engine_())); }
int64_t Draw::terms(int64_t from, int64_t to) { return between(from, to, std::sqrt(unit(engine_()))); }

DType Draw::dtype() { return pick<DType>({DType::f32, DType::f32, DType::f32, DType::f64, DType::bf16, DType::f16}); }

double allowed(int64_t n, DType dtype, double size, double roundings) {
  const double steps = 4 * std::max(1.0, std::log2(static_cast<double>(n)));
  return (steps + roundings) * epsilon(dtype) * size + static_cast<double>(n) * smallest(dtype);
}

ValueId add_input(SumCase& c, const std::string& name, Column column) {
  const ValueId v = c.graph().add_input(name, column.type, Role::input);
  c.inputs.emplace(name, std::move(column));
  return v;
}

const std::vector<std::pair<std::string, Family>>& families() {
  static const std::vector<std::pair<std::string, Family>> list = {{"reduction", reduction},
                                                                   {"total", total},
                                                                   {"of a source", of_source},
                                                                   {"exponentials", exponentials},
                                                                   {"product", product},
                                                                   {"normalization", normalization},
                                                                   {"convolution", convolution},
                                                                   {"pooling", pooling},
                                                                   {"gradient of pooling", pooling_gradient},
                                                                   {"prefix", prefix},
                                                                   {"scatter", scattered},
                                                                   {"gradient of gather", gathered_gradient},
                                                                   {"loss", loss},
                                                                   {"clipped", clipped}};
  return list;
}

namespace {

// Reductions come three times as often: they have the most schedules.
const std::pair<std::string, Family>& drawn_from(uint64_t number) {
  const size_t count = families().size(), of = number % (count + 2);
  return families()[of < count ? of : 0];
}

}  // namespace

const std::string& family_of(uint64_t number) { return drawn_from(number).first; }

SumCase draw_case(uint64_t number, const DrawOptions& options) {
  Draw d(number, options);
  SumCase c = drawn_from(number).second(d);
  c.title = fmt::format("{}: {}", family_of(number), c.title);
  return c;
}

}  // namespace heddle::testing
