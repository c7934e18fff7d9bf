// Where a sweep stands: the trials that run next, and the best of those that have ended.
//
//   SweepProgress p({{9, 1}, {3, 3}, {1, 9}}, /*higher=*/false);   // nine trials; three of them; one
//   p.left()                           -> {0, 1, ..., 8}
//   p.take({.trial = 0, .value = 0.5}); ...   // the nine of the rung, in their order
//   p.left()                           -> {2, 4, 7}: those of the three best values
//   p.best()                           -> the row of trial 4
//
// A function of the rows alone: a sweep that is resumed hands in the rows that it has, and stands where it stood.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/search_space.h"

namespace heddle::driver {

// What a trial has come to in a rung.
struct SweepRow {
  int64_t trial = 0;            // from 0
  std::optional<double> value;  // of its best epoch, a finite number; nothing where it failed
  std::string error = {};       // why
};

class SweepProgress {
 public:
  // `higher`: a larger value is a better one.
  SweepProgress(std::vector<Rung> rungs, bool higher);

  // Of the rung, those without a row, in order; none once the sweep has ended.
  std::vector<int64_t> left() const;
  // A rung that most trials fail in has fewer survivors than places in the next one; one without any ends the sweep.
  bool ended() const { return rung_ == rungs_.size(); }
  size_t rung_number() const { return rung_; }  // from 0
  const Rung& rung() const { return rungs_[rung_]; }

  // The row of left().front().
  void take(SweepRow row);
  size_t taken() const { return taken_; }  // rows of all rungs
  // By the last row of each trial; one that has failed at last does not count, since its run is gone. Of equal values
  // the earlier trial's.
  std::optional<SweepRow> best() const;

 private:
  bool is_better(const SweepRow& a, const SweepRow& b) const;
  void begin_next();

  std::vector<Rung> rungs_;
  bool higher_;
  size_t rung_ = 0, taken_ = 0;
  std::vector<int64_t> trials_;       // of the rung
  std::vector<SweepRow> rows_;        // of the first of these
  std::map<int64_t, SweepRow> last_;  // by trial
};

}  // namespace heddle::driver
