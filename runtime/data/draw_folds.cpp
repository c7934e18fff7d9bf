#include "runtime/data/draw_folds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/check.h"
#include "runtime/data/shuffle.h"

namespace heddle::runtime::data {
namespace {

// A separate random stream: the orders of epochs use the streams from 0 on, a drawn validation uses 2^62.
constexpr uint64_t kStream = (uint64_t{1} << 62) + 1;

// Deals the rows of each class to the folds in turn. The next class continues at the fold after the last.
void deal_rows(const FoldRequest& request, const std::vector<uint32_t>& order, std::vector<uint32_t>& fold) {
  std::vector<std::vector<uint32_t>> of_class(request.classes.parts());
  for (const uint32_t row : order) of_class[request.classes.of(row)].push_back(row);
  int64_t next = 0;
  for (const std::vector<uint32_t>& rows : of_class)
    for (const uint32_t row : rows) fold[row] = static_cast<uint32_t>(next), next = (next + 1) % request.folds;
}

// Rows of each group, the largest first; equal ones as they first appear in `order`.
std::vector<std::vector<uint32_t>> groups_of(const FoldRequest& request, const std::vector<uint32_t>& order) {
  std::vector<std::vector<uint32_t>> rows = rows_by_kind(request.groups, order);
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return rows;
}

// Assigns each group to the fold where it increases the sum over classes of (rows of the class in the fold / rows of
// the class)^2 least. Of equal folds, takes the one with the fewest rows.
void deal_groups(const FoldRequest& request, const std::vector<uint32_t>& order, std::vector<uint32_t>& fold) {
  const size_t classes = request.classes.parts();
  std::vector<double> of_class(classes);
  for (size_t row = 0; row < fold.size(); ++row) ++of_class[request.classes.of(row)];
  const auto folds = static_cast<size_t>(request.folds);
  std::vector<std::vector<double>> has(folds, std::vector<double>(classes));
  std::vector<double> rows(folds);
  for (const std::vector<uint32_t>& group : groups_of(request, order)) {
    std::map<uint32_t, double> brings;
    for (const uint32_t row : group) ++brings[request.classes.of(row)];
    size_t best = 0;
    double least = INFINITY;
    for (size_t f = 0; f < folds; ++f) {
      double grows = 0;
      for (const auto& [c, n] : brings) grows += n * (2 * has[f][c] + n) / (of_class[c] * of_class[c]);
      if (grows < least || (grows == least && rows[f] < rows[best])) best = f, least = grows;
    }
    for (const auto& [c, n] : brings) has[best][c] += n;
    rows[best] += static_cast<double>(group.size());
    for (const uint32_t row : group) fold[row] = static_cast<uint32_t>(best);
  }
}

}  // namespace

std::vector<uint32_t> draw_folds(const FoldRequest& request) {
  request.classes.check(request.rows), request.groups.check(request.rows);
  HEDDLE_CHECK(request.folds > 0, "there is a fold");
  std::vector<uint32_t> fold(static_cast<size_t>(request.rows));
  const std::vector<uint32_t> order = shuffled(request.rows, request.seed, kStream);
  if (request.groups.empty()) {
    deal_rows(request, order, fold);
  } else {
    deal_groups(request, order, fold);
  }
  return fold;
}

}  // namespace heddle::runtime::data
