// The adding problem: two numbers of a long row are marked, and their sum is wanted (Hochreiter and Schmidhuber 1997,
// doi:10.1162/neco.1997.9.8.1735).
//
//   {"op": "synthetic", "kind": "adding", "rows": 20000, "x": "steps", "y": "sum"}
//     -> steps f32[50,2] {{0.31, 0}, {0.87, 1}, ...}, sum f32[]
//
// The numbers are uniform on [0, 1). One mark is in the first half, the other in the second. A model that always
// answers 1 has a mean squared error of 1/6.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "runtime/data/keyed_random.h"
#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMinSteps = 2, kMaxSteps = 100'000, kSteps = 50;

// The number of steps in the input's shape; a default where only the sum is an input.
int64_t steps_of(const ReaderRequest& request) {
  for (const ColumnRequest& c : request.columns)
    if (c.source() == "steps") return c.dims.at(0);
  return kSteps;
}

void require_steps(const ReaderRequest&, const ColumnRequest& c) {
  if (c.dims.size() != 2 || c.dims[1] != 2 || c.dims[0] < kMinSteps || c.dims[0] > kMaxSteps)
    throw UserError(c.where,
                    fmt::format("\"steps\" of synthetic adding are [steps,2], a number and its mark, with {} to "
                                "{} steps: input '{}' has other sizes",
                                kMinSteps, kMaxSteps, c.input));
}

// The numbers and marks, one step after another.
std::vector<float> draw_steps(const SyntheticRow& r) {
  const auto steps = static_cast<size_t>(steps_of(r.request));
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  const auto below = [&random](size_t n) { return static_cast<size_t>(random.below(n)); };
  const size_t first = below(steps / 2), second = steps / 2 + below(steps - steps / 2);
  std::vector<float> row(2 * steps);
  for (size_t t = 0; t < steps; ++t) row[2 * t] = random.uniform(0, 1);
  row[2 * first + 1] = row[2 * second + 1] = 1;
  return row;
}

SyntheticKind kind() {
  const auto steps = [](const SyntheticRow& r, std::byte* to) {
    const std::vector<float> row = draw_steps(r);
    std::memcpy(to, row.data(), row.size() * sizeof(float));
  };
  const auto sum = [](const SyntheticRow& r, std::byte* to) {
    const std::vector<float> row = draw_steps(r);
    float total = 0;
    for (size_t i = 0; i < row.size(); i += 2) total += row[i] * row[i + 1];
    std::memcpy(to, &total, sizeof total);
  };
  return {.name = "adding",
          .columns = {{.source = "steps", .type = ElementType::f32, .check = require_steps, .draw = steps},
                      {.source = "sum", .type = ElementType::f32, .check = require_number, .draw = sum}}};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
