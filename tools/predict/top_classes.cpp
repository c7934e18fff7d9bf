#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tools/predict/result_writer.h"

namespace heddle::tools {
namespace {

std::vector<double> numbers(const driver::PredictOutput& output, std::span<const std::byte> row) {
  return runtime::data::visit(output.type, [&](auto v) {
    std::vector<double> out;
    for (size_t at = 0; at < row.size(); at += sizeof v) {
      std::memcpy(&v, row.data() + at, sizeof v);
      out.push_back(static_cast<double>(v));
    }
    return out;
  });
}

}  // namespace

std::vector<ScoredClass> top_classes(const driver::PredictOutput& output, std::span<const std::byte> row, int count) {
  std::vector<double> p = numbers(output, row);
  if (output.scores == driver::Scores::logits) {
    const double largest = *std::ranges::max_element(p);
    for (double& x : p) x = std::exp(x - largest);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
  } else if (output.scores == driver::Scores::logarithms) {
    for (double& x : p) x = std::exp(x);
  }
  std::vector<int64_t> order(p.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto score = [&](int64_t i) {  // what is no number comes last
    const double x = p[static_cast<size_t>(i)];
    return std::isnan(x) ? -1.0 : x;
  };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return score(a) > score(b); });
  std::vector<ScoredClass> top;
  for (size_t i = 0; i < std::min(order.size(), static_cast<size_t>(count)); ++i)
    top.push_back({order[i], p[static_cast<size_t>(order[i])]});
  return top;
}

}  // namespace heddle::tools
