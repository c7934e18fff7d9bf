// Sampler: which token comes next, drawn from a model's logits.
//
//   Sampler sampler({.temperature = 0.8, .top_k = 40, .seed = 7});
//   sampler.draw(logits, text, {.sample = 0, .place = 12})   ->   {token 318, log probability -2.1}
//
// What is drawn is a function of the logits, the text, the seed, and the numbers of the sample and of the token: not of
// threads, nor of what else is generated at the same time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::runtime::text {

struct Sampling {
  double temperature = 1;         // logits are divided by it; 0: the likeliest token, of equal ones the lowest
  int64_t top_k = 0;              // of so many likeliest tokens only; 0: of all
  double top_p = 1;               // of the likeliest tokens only, as few as have this probability together
  double repetition_penalty = 1;  // of tokens in the text: logits above 0 are divided by it, others are multiplied with
                                  // it (Keskar et al. 2019, arXiv:1909.05858)
  uint64_t seed = 0;
};

// Which number of the sequence of random numbers is asked for.
struct DrawPlace {
  uint64_t sample = 0, place = 0;  // which sample of a prompt, which token of it
};

struct Drawn {
  uint32_t token = 0;
  double log_probability = 0;  // of the token by the model, before temperature, penalty, top_k and top_p
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : s_(sampling) {}
  // Ids from logits.size() on are none. Every logit must be finite, and there is one or more.
  Drawn draw(std::span<const float> logits, std::span<const uint32_t> text, const DrawPlace& at);

 private:
  struct Candidate {
    uint32_t token;
    double weight;  // the logit, then its share
  };
  uint32_t likeliest() const;
  void keep_top_k();
  void keep_top_p();

  const Sampling s_;
  std::vector<Candidate> all_;
};

// log of the sum of exp(x), without overflow: a token's log probability is its logit less this. One or more.
double log_sum_exp(std::span<const float> logits);
// Uniform in [0, 1), in steps of 2^-53.
double draw_uniform(uint64_t seed, const DrawPlace& at);

}  // namespace heddle::runtime::text
