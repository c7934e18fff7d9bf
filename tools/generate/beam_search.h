// BeamSearch: the likeliest continuations of one prompt that a search over some beams finds, each in a row of a generator.
//
//   std::vector<BeamSearch> searches = ...;      // of as many prompts, each with `width` rows of the generator
//   while (read_beams(generator, searches)) {}
//   searches[0].found()                          // the continuations of the first prompt, the best first
//
// Each step continues every beam by every token and keeps the likeliest. With as many beams as there are texts it finds
// the likeliest text of all. What is found of a prompt does not depend on the others.
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
  size_t vocabulary = 0;      // tokens from 0 on that may follow
  std::function<bool(uint32_t)> ends = {};
};

class BeamSearch {
 public:
  // `prompt` has a token at least. `text`: what has been written behind it, which may stop a continuation; of tokens
  // alone there is none.
  BeamSearch(SearchSettings settings, std::vector<uint32_t> prompt, std::optional<WrittenText> text);

  // Whether nothing that goes on can come before what has ended.
  bool done() const;
  // Nothing is searched for: its rows are there and have no text.
  void leave_out() { live_.clear(); }
  // `settings.width` rows, which read what the beams are. Whether their window has moved (rows.h).
  bool ask(int64_t context, std::span<RowText> rows);
  // They have been read, from the row `first` of the generator on. `from`: each of these rows goes on from that one.
  void answer(const driver::Generator& generator, std::span<const RowText> rows, int64_t first,
              std::span<int32_t> from);
  // `width` continuations, or as many as there are. Of equal ones the first is that of the earlier beam, then that of the
  // lower token.
  const std::vector<Continuation>& found() const { return found_; }

 private:
  struct Beam {
    std::vector<uint32_t> ids;  // of the prompt and what follows
    std::optional<WrittenText> text = {};
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
  static bool comes_before(const Candidate& a, const Candidate& b);

  double score(double sum, int64_t tokens) const;
  // Every beam by every token, in no order.
  std::vector<Candidate> candidates(const driver::Generator& generator, int64_t first) const;
  bool continues(Beam& beam, const Candidate& c) const;
  void end(Beam beam);

  SearchSettings settings_;
  std::vector<Beam> live_;
  std::vector<Continuation> found_;  // by their scores
  std::vector<double> scores_;       // of these
  TextWindow window_;                // of all beams, which have as many tokens
};

// One token more of each beam that goes on. False where all searches are done. `moved` is set where a window has moved.
bool read_beams(driver::Generator& generator, std::span<BeamSearch> searches, bool* moved = nullptr);

}  // namespace heddle::tools
