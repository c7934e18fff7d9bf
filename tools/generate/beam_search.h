// BeamSearch: a beam search for the likeliest continuations of one prompt. Each beam is a row of a generator.
//
//   std::vector<BeamSearch> searches = ...;      // of as many prompts, each with `width` rows of the generator
//   while (read_beams(generator, searches)) {}
//   searches[0].found()                          // the continuations of the first prompt, the best first
//
// Each step extends every beam by every token and keeps the likeliest. With as many beams as there are texts, it finds
// the likeliest of all texts. The result for a prompt does not depend on the other prompts.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tools/generate/rows.h"
#include "tools/generate/written_text.h"

namespace heddle::tools {

struct SearchSettings {
  int64_t width = 4;          // beams, and rows of the generator
  double length_penalty = 1;  // texts are compared by log probability / length^this
  int64_t tokens = 256;       // of a continuation, at most
  size_t vocabulary = 0;      // ids below it may follow
  std::function<bool(uint32_t)> ends = {};
};

class BeamSearch {
 public:
  // `prompt` has at least one token. `text`: collects the written text, in which a stop text can end a continuation;
  // nothing where only tokens are needed.
  BeamSearch(SearchSettings settings, std::vector<uint32_t> prompt, std::optional<WrittenText> text);

  // Whether the search has ended: no live beam can still become better than the continuations found.
  bool done() const;
  // Ends the search without a result. Its rows stay, without texts.
  void leave_out() { live_.clear(); }
  // Assigns the beams to `rows`, of which there are `settings.width`. Returns whether their window has moved (rows.h).
  bool ask(int64_t context, std::span<RowText> rows);
  // Takes the logits of these rows, which the generator has read as its rows from `first` on, and chooses the next
  // beams. Sets `from`: row i continues from row from[i].
  void answer(const driver::Generator& generator, std::span<const RowText> rows, int64_t first,
              std::span<int32_t> from);
  // `width` continuations, or as many as exist, the best first. Of equal ones, the earlier beam comes first, then the
  // lower token.
  const std::vector<Continuation>& found() const { return found_; }

 private:
  struct Beam {
    std::vector<uint32_t> ids;  // of the prompt and its continuation
    std::optional<WrittenText> text = {};
    Continuation made = {};
    double sum = 0;  // of log probabilities
  };
  // A beam extended by a token.
  struct Candidate {
    double sum = 0;
    size_t beam = 0;
    uint32_t token = 0;
    double log_probability = 0;
  };
  static bool comes_before(const Candidate& a, const Candidate& b);

  double score(double sum, int64_t tokens) const;
  // Every beam extended by every token, unsorted.
  std::vector<Candidate> candidates(const driver::Generator& generator, int64_t first) const;
  bool continues(Beam& beam, const Candidate& c) const;
  void end(Beam beam);

  SearchSettings settings_;
  std::vector<Beam> live_;
  std::vector<Continuation> found_;  // sorted by score
  std::vector<double> scores_;       // scores of found_
  TextWindow window_;                // shared by all beams, which have equal lengths
};

// Extends each live beam of all searches by one token. Returns false when all searches are done. Sets `moved` where a
// window has moved.
bool read_beams(driver::Generator& generator, std::span<BeamSearch> searches, bool* moved = nullptr);

}  // namespace heddle::tools
