#include "runtime/train/steps.h"

#include <algorithm>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

constexpr double kSubmissionSeconds = 0.05;
constexpr size_t kUnderWay = 2;
constexpr int64_t kGrowth = 8;  // from one submission to the next, since a first step may be slow

}  // namespace

Steps::Steps(Executable& executable, StepsOptions options)
    : executable_(executable), options_(std::move(options)), feed_(executable, options_.feed) {
  options_.most_repeats =
      std::clamp<int64_t>(options_.most_repeats, 1, feed_.most_steps() / static_cast<int64_t>(kUnderWay));
}

Steps::~Steps() {
  try {
    if (!under_way_.empty()) executable_.wait(under_way_.back().number);
  } catch (const UserError&) {  // a device that has failed executes nothing more
  }
}

int64_t Steps::repeats(const codegen::Entry& entry, int64_t left) const {
  const int64_t most = std::min({left, options_.most_repeats, feed_.most_rows() / entry.fed_rows});
  const auto measured = seconds_.find(&entry);
  if (measured == seconds_.end()) return 1;
  const double wanted = kSubmissionSeconds / std::max(measured->second, 1e-9);
  const auto grown = static_cast<double>(largest_.at(&entry) * kGrowth);
  const auto k = std::clamp<int64_t>(static_cast<int64_t>(std::min(wanted, grown)), 1, most);
  // What a device records is 64 steps, 8, or one.
  return k >= 64 ? k / 64 * 64 : k >= 8 ? k / 8 * 8 : k;
}

void Steps::submit(const codegen::Entry& entry, int64_t repeats) {
  feed_.provide(repeats * entry.fed_rows);
  Submission s{.number = 0, .entry = &entry, .repeats = repeats, .first_row = next_row_, .begin = Clock::now()};
  const Watchdog::Watch watch(options_.watchdog);
  s.number = executable_.submit(entry, repeats);
  under_way_.push_back(s);
  next_row_ += repeats * entry.fed_rows;
}

bool Steps::finish_first(const Watch& watch) {
  const Submission s = under_way_.front();
  {
    const Watchdog::Watch at_work(options_.watchdog);
    executable_.wait(s.number);
  }
  under_way_.pop_front();
  const Clock::time_point end = Clock::now();
  const double seconds = std::chrono::duration<double>(end - std::max(s.begin, last_end_)).count();
  last_end_ = end;
  seconds_[s.entry] = seconds / static_cast<double>(s.repeats);
  largest_[s.entry] = std::max(largest_[s.entry], s.repeats);
  const std::vector<StepRecord> records = feed_.take(s.repeats);
  done_ += s.repeats;
  for (size_t i = 0; i < records.size(); ++i)
    if (watch.record)
      watch.record({.record = records[i],
                    .entry = s.entry,
                    .first_row = s.first_row + static_cast<int64_t>(i) * s.entry->fed_rows,
                    .last = i + 1 == records.size()});
  return !watch.stop || !watch.stop();
}

int64_t Steps::run(const data::Table& table, std::span<const uint32_t> order, std::span<const Part> parts,
                   const Watch& watch, Draws draws) {
  feed_.begin(table, order, draws);
  next_row_ = done_ = 0;
  bool go_on = true;
  int64_t submitted = 0;
  for (const Part& part : parts) {
    for (int64_t left = part.times; left > 0 && go_on;) {
      const int64_t k = repeats(*part.entry, left);
      if (watch.before) watch.before(submitted);
      submit(*part.entry, k);
      left -= k, submitted += k;
      while (!under_way_.empty() && (under_way_.size() == kUnderWay || executable_.poll() >= under_way_.front().number))
        go_on = finish_first(watch) && go_on;
    }
  }
  while (!under_way_.empty()) finish_first(watch);
  return done_;
}

}  // namespace heddle::runtime
