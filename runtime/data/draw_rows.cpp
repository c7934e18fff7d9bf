#include "runtime/data/draw_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/data/shuffle.h"

namespace heddle::runtime::data {
namespace {

// A separate random stream: the orders of epochs use the streams from 0 on.
constexpr uint64_t kStream = uint64_t{1} << 62;

// Rows of each class, and how many of them are to be set aside.
struct Shares {
  std::vector<double> rows, wanted;
};

Shares shares_of(const DrawRequest& request) {
  const size_t classes = request.classes.parts();
  Shares shares{.rows = std::vector<double>(classes), .wanted = std::vector<double>(classes)};
  for (size_t row = 0; row < static_cast<size_t>(request.rows); ++row) ++shares.rows[request.classes.of(row)];
  // 0.15 of 10 rows are 2, not 1.4999999999999998
  constexpr double kRounding = 1e-6;
  for (size_t c = 0; c < classes; ++c)
    shares.wanted[c] = std::floor(shares.rows[c] * request.fraction + 0.5 + kRounding);
  return shares;
}

bool may_leave(const DrawRequest& request, size_t row) { return request.kept.empty() || request.kept[row] == 0; }

void take_rows(const DrawRequest& request, const std::vector<uint32_t>& order, std::vector<uint8_t>& taken) {
  std::vector<double> left = shares_of(request).wanted;
  for (const uint32_t row : order) {
    double& of_class = left[request.classes.of(row)];
    if (of_class <= 0 || !may_leave(request, row)) continue;
    taken[row] = 1, --of_class;
  }
}

// Takes a group if it lowers the sum over classes of (rows missing from the share / rows of the class)^2. So all
// classes have the same weight.
void take_groups(const DrawRequest& request, const std::vector<uint32_t>& order, std::vector<uint8_t>& taken) {
  const Shares shares = shares_of(request);
  std::vector<double> missing = shares.wanted;
  for (const std::vector<uint32_t>& group : rows_by_kind(request.groups, order)) {
    if (!std::ranges::all_of(group, [&](uint32_t row) { return may_leave(request, row); })) continue;
    std::map<uint32_t, double> brings;
    for (const uint32_t row : group) ++brings[request.classes.of(row)];
    double change = 0;
    for (const auto& [c, rows] : brings)
      change += (std::pow(missing[c] - rows, 2) - std::pow(missing[c], 2)) / std::pow(shares.rows[c], 2);
    if (change >= 0) continue;
    for (const auto& [c, rows] : brings) missing[c] -= rows;
    for (const uint32_t row : group) taken[row] = 1;
  }
}

}  // namespace

std::vector<uint8_t> draw_rows(const DrawRequest& request) {
  request.classes.check(request.rows), request.groups.check(request.rows);
  std::vector<uint8_t> taken(static_cast<size_t>(request.rows));
  const std::vector<uint32_t> order = shuffled(request.rows, request.seed, kStream);
  if (request.groups.empty()) {
    take_rows(request, order, taken);
  } else {
    take_groups(request, order, taken);
  }
  return taken;
}

}  // namespace heddle::runtime::data
