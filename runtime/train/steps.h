// Steps: runs fed entries over rows, several steps per submission, and passes their records on in order.
//
//   steps.run(table, order, {{train, 421}, {train_last, 1}}, {.record = ..., .stop = ...})
//
// A submission has as many steps as take about 50 ms. At most two submissions are under way, so the host does not wait
// for single steps. The result of a step does not depend on the size of its submission.
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
  int64_t most_repeats = int64_t{1} << 12;  // most steps of a submission
  FeedOptions feed = {};
  Watchdog* watchdog = nullptr;              // watches while the device works
  std::vector<CheckedIndices> indices = {};  // describes the model's index checks, for messages
  std::map<int64_t, std::vector<CheckedIndices>> shorter_indices = {};  // for entries of shorter rows, by row length
};

class Steps {
 public:
  explicit Steps(Executable& executable, StepsOptions options = {});
  ~Steps();  // waits for submissions under way
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  struct Part {
    const codegen::Entry* entry = nullptr;
    int64_t times = 0;
  };
  struct Done {
    StepRecord record;
    const codegen::Entry* entry = nullptr;
    int64_t first_row = 0;  // place of the batch's first row in the order
    bool last = false;      // the last step of its submission: the device holds the states after it
  };
  struct Watch {
    std::function<void(const Done&)> record;   // called for each step, in order
    std::function<bool()> stop;                // asked after each submission; true: no more are submitted
    std::function<void(int64_t)> before = {};  // called before each submission: steps submitted so far
  };
  // Returns the number of executed steps: all, unless `stop` returned true. `order` as for Feed::begin.
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
  bool finish_first(const Watch& watch);  // false: stop

  Executable& executable_;
  StepsOptions options_;
  Feed feed_;
  std::deque<Submission> under_way_;
  Clock::time_point last_end_;
  std::map<const codegen::Entry*, double> seconds_;   // per step, last measurement
  std::map<const codegen::Entry*, int64_t> largest_;  // largest submission so far
  int64_t next_row_ = 0, done_ = 0;
};

}  // namespace heddle::runtime
