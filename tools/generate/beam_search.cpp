#include "tools/generate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ir/check.h"
#include "runtime/text/sampler.h"

namespace heddle::tools {
namespace {

std::vector<double> log_probabilities(std::span<const float> logits) {
  const double whole = runtime::text::log_sum_exp(logits);
  std::vector<double> out;
  for (const float x : logits) out.push_back(static_cast<double>(x) - whole);
  return out;
}

}  // namespace

BeamSearch::BeamSearch(SearchSettings settings, std::vector<uint32_t> prompt, std::optional<WrittenText> text)
    : settings_(std::move(settings)) {
  live_.push_back({.ids = std::move(prompt), .text = std::move(text)});
}

double BeamSearch::score(double sum, int64_t tokens) const {
  return sum / std::pow(static_cast<double>(tokens), settings_.length_penalty);
}

// The sum of log probabilities only falls. With a penalty above 0, the longest text has the best score for a given sum.
bool BeamSearch::done() const {
  if (live_.empty()) return true;
  if (std::ssize(found_) < settings_.width) return false;
  const double most = std::ranges::max_element(live_, {}, &Beam::sum)->sum;
  return score(most, settings_.length_penalty > 0 ? settings_.tokens : 1) < scores_.back();
}

// Rows without a beam read what the first one does.
bool BeamSearch::ask(int64_t context, std::span<RowText> rows) {
  const bool moved = window_.make_room(context, live_[0].ids.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = {.ids = &live_[i < live_.size() ? i : 0].ids, .window = window_};
  return moved;
}

void BeamSearch::answer(const driver::Generator& generator, std::span<const RowText> rows, int64_t first,
                        std::span<int32_t> from) {
  window_ = rows[0].window;
  if (window_.next() < live_[0].ids.size()) return;  // the last token of the beams is still to be read
  std::vector<Beam> next;
  std::vector<Candidate> all = candidates(generator, first);
  size_t sorted = 0;  // of them; more where many of these end their beams
  for (size_t i = 0; i < all.size() && std::ssize(next) < settings_.width; ++i) {
    if (i == sorted) {
      sorted = std::min(all.size(), sorted + 2 * static_cast<size_t>(settings_.width));
      std::partial_sort(all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(sorted),
                        all.end(), comes_before);
    }
    const Candidate& c = all[i];
    Beam beam = live_[c.beam];
    if (!continues(beam, c)) {
      end(std::move(beam));
      continue;
    }
    from[next.size()] = static_cast<int32_t>(first + static_cast<int64_t>(c.beam));
    next.push_back(std::move(beam));
  }
  live_ = std::move(next);
}

// The likelier first, then the earlier beam, then the lower token.
bool BeamSearch::comes_before(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return std::pair(a.beam, a.token) < std::pair(b.beam, b.token);
}

std::vector<BeamSearch::Candidate> BeamSearch::candidates(const driver::Generator& generator, int64_t first) const {
  std::vector<Candidate> all;
  for (size_t beam = 0; beam < live_.size(); ++beam) {
    const std::vector<double> logs = log_probabilities(
        finite_logits(generator, settings_.vocabulary, first + static_cast<int64_t>(beam), live_[beam].ids.size()));
    for (uint32_t token = 0; token < logs.size(); ++token)
      all.push_back({live_[beam].sum + logs[token], beam, token, logs[token]});
  }
  return all;
}

// Extends the beam by the token. Returns whether the beam goes on.
bool BeamSearch::continues(Beam& beam, const Candidate& c) const {
  beam.sum = c.sum;
  beam.ids.push_back(c.token);
  beam.made.ids.push_back(c.token);
  beam.made.log_probabilities.push_back(c.log_probability);
  if (settings_.ends && settings_.ends(c.token)) {
    beam.made.end = TextEnd::end;
    return false;
  }
  if (beam.text) beam.made.text += beam.text->add(c.token);
  if (beam.text && beam.text->stopped()) {
    beam.made.end = TextEnd::stop;
    return false;
  }
  return std::ssize(beam.made.ids) < settings_.tokens;
}

void BeamSearch::end(Beam beam) {
  if (beam.text) beam.made.text += beam.text->finish();
  const double reached = score(beam.sum, std::ssize(beam.made.ids));
  const auto place = std::ranges::find_if(scores_, [&](double other) { return other < reached; });
  found_.insert(found_.begin() + (place - scores_.begin()), std::move(beam.made));
  scores_.insert(place, reached);
  if (std::ssize(found_) <= settings_.width) return;
  found_.pop_back();
  scores_.pop_back();
}

bool read_beams(driver::Generator& generator, std::span<BeamSearch> searches, bool* moved) {
  const size_t width = static_cast<size_t>(generator.rows()) / searches.size();
  if (std::ranges::all_of(searches, &BeamSearch::done)) return false;
  std::vector<RowText> rows(static_cast<size_t>(generator.rows()));
  const auto of = [&](auto all, size_t i) { return all.subspan(i * width, width); };
  for (size_t i = 0; i < searches.size(); ++i)
    if (!searches[i].done() && searches[i].ask(generator.context(), of(std::span(rows), i)) && moved != nullptr)
      *moved = true;
  fill_up(rows);
  read_next(generator, rows);
  std::vector<int32_t> from(rows.size());
  std::iota(from.begin(), from.end(), 0);
  const std::vector<int32_t> as_they_are = from;
  for (size_t i = 0; i < searches.size(); ++i)
    if (!searches[i].done())
      searches[i].answer(generator, of(std::span<const RowText>(rows), i), static_cast<int64_t>(i * width),
                         of(std::span(from), i));
  if (from != as_they_are) generator.reorder(from);
  return true;
}

}  // namespace heddle::tools
