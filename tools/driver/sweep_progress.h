// SweepProgress: the position of a sweep: which trials run next, and which finished one is the best.
//
//   SweepProgress p({{9, 1}, {3, 3}, {1, 9}}, /*higher=*/false);   // nine trials; three of them; one
//   p.left()                           -> {0, 1, ..., 8}
//   p.take({.trial = 0, .value = 0.5}); ...   // the nine of the rung, in their order
//   p.left()                           -> {2, 4, 7}: those of the three best values
//   p.best()                           -> the row of trial 4
//
// The position depends on the rows alone. So a resumed sweep passes in the rows that it has, and continues from there.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/search_space.h"

namespace heddle::driver {

// The result of a trial in a rung.
struct SweepRow {
  int64_t trial = 0;            // from 0
  std::optional<double> value;  // of its best epoch, finite; nothing: it failed
  std::string error = {};       // why it failed
};

class SweepProgress {
 public:
  // `higher`: a larger value is a better one.
  SweepProgress(std::vector<Rung> rungs, bool higher);

  // The trials of the rung that have no row yet, in order; empty when the sweep has ended.
  std::vector<int64_t> left() const;
  // If many trials of a rung fail, the next rung has fewer trials than planned. If all fail, the sweep ends.
  bool ended() const { return rung_ == rungs_.size(); }
  size_t rung_number() const { return rung_; }  // from 0
  const Rung& rung() const { return rungs_[rung_]; }

  // Adds the row of left().front().
  void take(SweepRow row);
  size_t taken() const { return taken_; }  // rows of all rungs
  // The best of the trials' last rows. A trial whose last row is a failure does not count, because its run is gone. Of
  // equal values, the earlier trial's row is the best.
  std::optional<SweepRow> best() const;

 private:
  bool is_better(const SweepRow& a, const SweepRow& b) const;
  void begin_next();

  std::vector<Rung> rungs_;
  bool higher_;
  size_t rung_ = 0, taken_ = 0;
  std::vector<int64_t> trials_;       // of this rung
  std::vector<SweepRow> rows_;        // of the first of `trials_`
  std::map<int64_t, SweepRow> last_;  // by trial
};

}  // namespace heddle::driver
