// Steps: runs fed entries over rows, several steps a submission, and hands over their records in
// order.
//
//   steps.run(table, order, {{train, 421}, {train_last, 1}}, {.record = ..., .stop = ...})
//
// A submission is as many steps as take about 50 ms, at most two are under way, and nobody waits
// for a single step. What a step computes does not depend on how many a submission has.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "runtime/feed.h"
#include "runtime/train/watchdog.h"

namespace heddle::runtime {

struct StepsOptions {
  int64_t most_repeats = int64_t{1} << 12;  // steps of a submission
  FeedOptions feed = {};
  Watchdog* watchdog = nullptr;              // is told when the device is at work
  std::vector<CheckedIndices> indices = {};  // what the model's checks of indices are about, for messages
  std::map<int64_t, std::vector<CheckedIndices>> shorter_indices = {};  // of entries of shorter rows, by their length
};

class Steps {
 public:
  explicit Steps(Executable& executable, StepsOptions options = {});
  ~Steps();  // waits for what is under way
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  struct Part {
    const codegen::Entry* entry = nullptr;
    int64_t times = 0;
  };
  struct Done {
    StepRecord record;
    const codegen::Entry* entry = nullptr;
    int64_t first_row = 0;  // of the batch, in the order
    bool last = false;      // of those that were executed together: what the device holds is the state after it
  };
  struct Watch {
    std::function<void(const Done&)> record;   // of each step, in order
    std::function<bool()> stop;                // asked after each submission: true, and no more are submitted
    std::function<void(int64_t)> before = {};  // told, before each submission, how many steps have been submitted
  };
  // Returns how many steps were executed: all, unless `stop` said so. `order` as for Feed::begin.
  int64_t run(const data::Table& table, std::span<const uint32_t> order, std::span<const Part> parts,
              const Watch& watch, Draws draws = {});

 private:
  using Clock = std::chrono::steady_clock;
  struct Submission {
    uint64_t number = 0;
    const codegen::Entry* entry = nullptr;
    int64_t repeats = 0, first_row = 0;
    Clock::time_point begin;
  };
  int64_t repeats(const codegen::Entry& entry, int64_t left) const;
  void submit(const codegen::Entry& entry, int64_t repeats);
  bool finish_first(const Watch& watch);  // false where it shall stop

  Executable& executable_;
  StepsOptions options_;
  Feed feed_;
  std::deque<Submission> under_way_;
  Clock::time_point last_end_;
  std::map<const codegen::Entry*, double> seconds_;   // of a step, as last measured
  std::map<const codegen::Entry*, int64_t> largest_;  // submission so far
  int64_t next_row_ = 0, done_ = 0;
};

}  // namespace heddle::runtime
