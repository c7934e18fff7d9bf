// Checks that a model computes each row of a batch independently of the others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/driver/predictor.h"

namespace heddle::driver {

using runtime::data::ElementType;

namespace {

// How far two results of one row may lie apart: rounding, and no more.
bool near(std::span<const std::byte> a, std::span<const std::byte> b, ElementType type) {
  constexpr double kNear = 1e-5;
  return runtime::data::visit(type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t at = 0; at < a.size(); at += sizeof(T)) {
      T x, y;
      std::memcpy(&x, a.data() + at, sizeof(T)), std::memcpy(&y, b.data() + at, sizeof(T));
      const auto u = static_cast<double>(x), v = static_cast<double>(y);
      if (u == v || (std::isnan(u) && std::isnan(v))) continue;
      if (!(std::abs(u - v) <= kNear * std::max({1.0, std::abs(u), std::abs(v)}))) return false;
    }
    return true;
  });
}

}  // namespace

// A model may compute across the rows of a batch, as a mean over its first axis does. Once, each
// half of the rows goes through the network with copies in the place of all others, and all rows go
// through it one place further on: their results must be those that they have as given.
void Predictor::require_rows_apart(int64_t rows) {
  const std::vector<std::vector<std::byte>> as_given = staged_;
  const auto results_of = [&](auto&& arrange) -> const std::vector<std::vector<std::byte>>& {
    for (std::vector<std::byte>& bytes : staged_ = as_given) arrange(bytes, bytes.size() / static_cast<size_t>(batch_));
    execute();
    return results_;
  };
  const auto half_beside_copies = [&](int64_t from, int64_t to) {
    return results_of([=, batch = batch_](std::vector<std::byte>& bytes, size_t row) {
      for (int64_t i = 0; i < batch; ++i)
        if (i < from || i >= to)
          std::memcpy(bytes.data() + static_cast<size_t>(i) * row, bytes.data() + static_cast<size_t>(from) * row, row);
    });
  };
  const std::vector<std::vector<std::byte>> given = results_of([](std::vector<std::byte>&, size_t) {});
  // Rows `from` to `to`, each of which has been moved from its place by `by`.
  const auto require_same = [&](const auto& results, int64_t from, int64_t to, int64_t by) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const auto of_row = [&](const auto& all, int64_t at) {
        const auto bytes = static_cast<size_t>(outputs_[i].row_bytes());
        return std::span(all[i]).subspan(static_cast<size_t>(at % batch_) * bytes, bytes);
      };
      for (int64_t at = from; at < to; ++at) {
        if (near(of_row(given, at), of_row(results, at + by), outputs_[i].type)) continue;
        throw UserError(
            ExitCode::failed,
            fmt::format("output '{}' is computed across the rows of a batch: a row's result would depend on "
                        "the {} beside it, or on its place among them",
                        outputs_[i].name, rows > 1 ? "rows" : "zeros"),
            "choose an output that is computed row by row: --output NODE");
      }
    }
  };
  const int64_t half = (rows + 1) / 2;
  require_same(half_beside_copies(0, half), 0, half, 0);
  if (half < rows) require_same(half_beside_copies(half, rows), half, rows, 0);
  require_same(results_of([](std::vector<std::byte>& bytes, size_t row) {
                 std::rotate(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(row), bytes.end());
               }),
               0, rows, 1);
  staged_ = as_given;
}

}  // namespace heddle::driver
