// Sampler: draws the next token from a model's logits.
//
//   Sampler sampler({.temperature = 0.8, .top_k = 40, .seed = 7});
//   sampler.draw(logits, text, {.sample = 0, .place = 12})   ->   {token 318, log probability -2.1}
//
// The token depends on the logits, the text, the seed, and the numbers of the sample and of the token alone. It does
// not depend on threads, or on other texts that are generated at the same time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::runtime::text {

struct Sampling {
  double temperature = 1;         // divides the logits; 0: the likeliest token, of equal ones the lowest id
  int64_t top_k = 0;              // draws among the k likeliest tokens; 0: among all
  double top_p = 1;               // draws among the fewest likeliest tokens whose probabilities add to this
  double repetition_penalty = 1;  // of tokens in the text: logits above 0 are divided by it, others are multiplied with
                                  // it (Keskar et al. 2019, arXiv:1909.05858)
  uint64_t seed = 0;
};

// The key of a random number.
struct DrawPlace {
  uint64_t sample = 0, place = 0;  // number of the sample of a prompt, number of its token
};

struct Drawn {
  uint32_t token = 0;
  double log_probability = 0;  // of the token by the model, before temperature, penalty, top_k and top_p
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : s_(sampling) {}
  // Draws a token. All logits must be finite, and there must be at least one. Ids in `text` that have no logit are
  // ignored.
  Drawn draw(std::span<const float> logits, std::span<const uint32_t> text, const DrawPlace& at);

 private:
  struct Candidate {
    uint32_t token;
    double weight;  // the logit, then the probability
  };
  uint32_t likeliest() const;
  void keep_top_k();
  void keep_top_p();

  const Sampling s_;
  std::vector<Candidate> all_;
};

// log of the sum of exp(x), without overflow. A token's log probability is its logit minus this. There must be at least
// one logit.
double log_sum_exp(std::span<const float> logits);
// Uniform in [0, 1), in steps of 2^-53.
double draw_uniform(uint64_t seed, const DrawPlace& at);

}  // namespace heddle::runtime::text
