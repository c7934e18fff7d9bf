#include "tools/generate/beams.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ir/check.h"
#include "tools/generate/rows.h"
#include "tools/generate/written_text.h"

namespace heddle::tools {
namespace {

struct Beam {
  std::vector<uint32_t> ids;  // of the prompt and what follows
  WrittenText written;
  Continuation made = {};
  double sum = 0;  // of log probabilities
};

// A beam and a token behind it.
struct Candidate {
  double sum = 0;
  size_t beam = 0;
  uint32_t token = 0;
  double log_probability = 0;
};
// The likelier first, then the earlier beam, then the lower token.
bool comes_before(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return std::pair(a.beam, a.token) < std::pair(b.beam, b.token);
}

std::vector<double> log_probabilities(std::span<const float> logits) {
  const double whole = runtime::text::log_sum_exp(logits);
  std::vector<double> out;
  for (const float x : logits) out.push_back(static_cast<double>(x) - whole);
  return out;
}

class Search {
 public:
  Search(driver::Generator& generator, const TextOfModel& text, const BeamSettings& settings,
         const GenerateCalls& calls)
      : generator_(generator), text_(text), settings_(settings), calls_(calls) {
    HEDDLE_CHECK(settings.width <= generator.rows(), "a row for each beam");
  }

  std::vector<Continuation> run(const SourceFile& prompt) {
    auto [ids, source] = prompt_tokens(generator_, text_, prompt);
    if (generator_.source())  // all beams have one: what is kept of it needs no other order
      encode_sources(generator_, text_, std::vector(static_cast<size_t>(generator_.rows()), &std::as_const(source)));
    WrittenText written([this](std::span<const uint32_t> some) { return text_.decode(some); }, settings_.stops, ids);
    live_.push_back({.ids = std::move(ids), .written = std::move(written)});
    while (!live_.empty() && !is_decided()) {
      read();
      go_on();
    }
    std::vector<Continuation> out;
    for (Beam& beam : ended_) out.push_back(std::move(beam.made));
    return out;
  }

 private:
  double score(double sum, int64_t tokens) const {
    return sum / std::pow(static_cast<double>(tokens), settings_.length_penalty);
  }
  double score(const Beam& beam) const { return score(beam.sum, std::ssize(beam.made.ids)); }

  // Whether nothing that still goes on can come before what has ended: a sum only falls, and long texts are divided most.
  bool is_decided() const {
    if (std::ssize(ended_) < settings_.width) return false;
    const double most = std::ranges::max_element(live_, {}, &Beam::sum)->sum;
    return score(most, settings_.length_penalty > 0 ? settings_.tokens : 1) < score(ended_.back());
  }

  // Up to the last token of every beam; all have as many tokens. Rows without a beam read what the first one does.
  void read() {
    const size_t all = live_[0].ids.size();
    if (window_.make_room(generator_.context(), all) && !std::exchange(told_, true) && calls_.note)
      calls_.note(window_note(generator_.context()));
    while (window_.next() < all) {
      std::vector<RowText> texts;
      for (size_t i = 0; i < static_cast<size_t>(generator_.rows()); ++i)
        texts.push_back({.ids = &live_[i < live_.size() ? i : 0].ids, .window = window_});
      read_next(generator_, texts);
      window_ = texts[0].window;
    }
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    for (size_t beam = 0; beam < live_.size(); ++beam) {
      const std::vector<double> logs = log_probabilities(
          finite_logits(generator_, text_.size(), static_cast<int64_t>(beam), live_[beam].ids.size()));
      for (uint32_t token = 0; token < logs.size(); ++token)
        all.push_back({live_[beam].sum + logs[token], beam, token, logs[token]});
    }
    // One token of each beam may end it: as many again go on.
    const auto most = std::min<size_t>(all.size(), static_cast<size_t>(settings_.width) + live_.size() * kMayEnd);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(), comes_before);
    all.resize(most);
    return all;
  }

  void go_on() {
    std::vector<Beam> next;
    std::vector<int32_t> from(static_cast<size_t>(generator_.rows()));
    std::iota(from.begin(), from.end(), 0);
    for (const Candidate& c : candidates()) {
      if (std::ssize(next) == settings_.width) break;
      Beam beam = live_[c.beam];
      if (ends(beam, c)) {
        end(std::move(beam));
        continue;
      }
      from[next.size()] = static_cast<int32_t>(c.beam);
      next.push_back(std::move(beam));
    }
    live_ = std::move(next);
    if (!live_.empty() && !std::ranges::is_sorted(from, std::ranges::less_equal{})) generator_.reorder(from);
  }

  bool ends(Beam& beam, const Candidate& c) const {
    beam.sum = c.sum;
    beam.ids.push_back(c.token);
    beam.made.ids.push_back(c.token);
    beam.made.log_probabilities.push_back(c.log_probability);
    if (text_.is_end(c.token)) {
      beam.made.end = TextEnd::end;
      return true;
    }
    beam.made.text += beam.written.add(c.token);
    if (beam.written.stopped()) beam.made.end = TextEnd::stop;
    return beam.written.stopped() || std::ssize(beam.made.ids) >= settings_.tokens ||
           is_full(generator_, beam.ids.size());
  }

  void end(Beam beam) {
    beam.made.text += beam.written.finish();
    const auto place = std::ranges::find_if(ended_, [&](const Beam& other) { return score(other) < score(beam); });
    ended_.insert(place, std::move(beam));
    if (std::ssize(ended_) > settings_.width) ended_.pop_back();
  }

  static constexpr size_t kMayEnd = 8;  // tokens of a beam: the end token, and those that complete a stop text
  driver::Generator& generator_;
  const TextOfModel& text_;
  const BeamSettings& settings_;
  const GenerateCalls& calls_;
  std::vector<Beam> live_, ended_;  // the latter by their scores
  TextWindow window_;               // of all of them
  bool told_ = false;
};

}  // namespace

std::vector<Continuation> beams(driver::Generator& generator, const TextOfModel& text, const SourceFile& prompt,
                                const BeamSettings& settings, const GenerateCalls& calls) {
  return Search(generator, text, settings, calls).run(prompt);
}

}  // namespace heddle::tools
