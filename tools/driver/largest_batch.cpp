#include "tools/driver/largest_batch.h"

#include <algorithm>
#include <optional>

namespace heddle::driver {
namespace {

constexpr int kLines = 3;  // guesses by a line, before halving alone goes on

// A batch, in multiples of the step, and what it takes.
struct Known {
  int64_t at = 0, bytes = 0;
};

class Search {
 public:
  Search(const BatchSearch& search, const std::function<int64_t(int64_t)>& least_bytes)
      : search_(search), least_bytes_(least_bytes), end_(std::max<int64_t>(search.most / search.step, 1)) {}

  LargestBatch run() {
    look(std::clamp<int64_t>(search_.first / search_.step, 1, end_));
    for (int lines = 0; more_to_know(); ++lines) look(lines < kLines ? on_the_line() : halfway());
    return {fits_ ? fits_->at * search_.step : 0, fails_ ? fails_->at * search_.step : 0};
  }

 private:
  bool more_to_know() const {
    if (!fits_) return fails_->at > 1;
    return fails_ ? fails_->at - fits_->at > 1 : fits_->at < end_;
  }

  void look(int64_t at) {
    const Known known{at, least_bytes_(at * search_.step)};
    (known.bytes <= search_.limit ? fits_ : fails_) = known;
    other_ = last_;
    last_ = known;
  }

  // What is still possible.
  int64_t least() const { return fits_ ? fits_->at + 1 : 1; }
  int64_t most() const { return fails_ ? fails_->at - 1 : end_; }

  // The last batch on the line that fits, and then its neighbour.
  int64_t on_the_line() const {
    if (!other_) return std::clamp(fits_ ? 2 * last_->at : last_->at / 2, least(), most());
    const Known& a = fits_ && fails_ ? *fits_ : *other_;
    const Known& b = fits_ && fails_ ? *fails_ : *last_;
    if (a.at == b.at || (b.bytes > a.bytes) != (b.at > a.at)) return halfway();
    const double slope = static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.at - a.at);
    const double guess = static_cast<double>(a.at) + static_cast<double>(search_.limit - a.bytes) / slope;
    constexpr double kMost = 1e15;
    return std::clamp(static_cast<int64_t>(std::clamp(guess, 0.0, kMost)), least(), most());
  }

  int64_t halfway() const {
    if (!fails_) return std::min(fits_->at * 2, end_);
    return least() + (most() - least()) / 2;
  }

  const BatchSearch& search_;
  const std::function<int64_t(int64_t)>& least_bytes_;
  int64_t end_;
  std::optional<Known> fits_, fails_, last_, other_;
};

}  // namespace

LargestBatch largest_batch(const BatchSearch& search, const std::function<int64_t(int64_t)>& least_bytes) {
  return Search(search, least_bytes).run();
}

}  // namespace heddle::driver
