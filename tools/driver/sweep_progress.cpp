#include "tools/driver/sweep_progress.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/check.h"

namespace heddle::driver {

SweepProgress::SweepProgress(std::vector<Rung> rungs, bool higher) : rungs_(std::move(rungs)), higher_(higher) {
  if (rungs_.empty()) return;
  trials_.resize(static_cast<size_t>(rungs_.front().trials));
  std::iota(trials_.begin(), trials_.end(), int64_t{0});
  if (trials_.empty()) rung_ = rungs_.size();
}

std::vector<int64_t> SweepProgress::left() const {
  if (ended()) return {};
  return {trials_.begin() + std::ssize(rows_), trials_.end()};
}

void SweepProgress::take(SweepRow row) {
  HEDDLE_CHECK(!ended() && row.trial == trials_[rows_.size()], "the rows of a rung come in the order of its trials");
  last_[row.trial] = row;
  rows_.push_back(std::move(row));
  ++taken_;
  if (rows_.size() == trials_.size()) begin_next();
}

bool SweepProgress::is_better(const SweepRow& a, const SweepRow& b) const {
  return higher_ ? *a.value > *b.value : *a.value < *b.value;
}

void SweepProgress::begin_next() {
  std::erase_if(rows_, [](const SweepRow& row) { return !row.value; });
  std::ranges::stable_sort(rows_, [&](const SweepRow& a, const SweepRow& b) { return is_better(a, b); });
  ++rung_;
  trials_.clear();
  if (!ended()) {
    const auto places = std::min(rows_.size(), static_cast<size_t>(rung().trials));
    for (size_t i = 0; i < places; ++i) trials_.push_back(rows_[i].trial);
    std::ranges::sort(trials_);
    if (trials_.empty()) rung_ = rungs_.size();
  }
  rows_.clear();
}

std::optional<SweepRow> SweepProgress::best() const {
  std::optional<SweepRow> best;
  for (const auto& [trial, row] : last_)
    if (row.value && (!best || is_better(row, *best))) best = row;
  return best;
}

}  // namespace heddle::driver
