#include "runtime/text/sampler.h"

#include <algorithm>
#include <cmath>

#include "ir/check.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::text {
namespace {

// The larger first, of equal ones the lowest token.
constexpr auto kLikelier = [](const auto& a, const auto& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
};

}  // namespace

double log_sum_exp(std::span<const float> logits) {
  const auto most = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - most);
  return most + std::log(sum);
}

double draw_uniform(uint64_t seed, const DrawPlace& at) {
  data::KeyedRandom of_sample(seed, at.sample);
  data::KeyedRandom of_place(of_sample.next(), at.place);
  return static_cast<double>(of_place.next() >> 11) * 0x1p-53;
}

uint32_t Sampler::likeliest() const { return std::min_element(all_.begin(), all_.end(), kLikelier)->token; }

void Sampler::keep_top_k() {
  const auto k = static_cast<size_t>(s_.top_k);
  if (k == 0 || k >= all_.size()) return;
  std::nth_element(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(k), all_.end(), kLikelier);
  all_.resize(k);
}

// Shares that are sorted as far as they are needed: most of a large vocabulary never is.
void Sampler::keep_top_p() {
  if (s_.top_p >= 1) return;
  double sum = 0;
  size_t sorted = 0;
  for (size_t kept = 0; kept < all_.size(); ++kept) {
    if (kept == sorted) {
      sorted = std::min(all_.size(), std::max<size_t>(64, 2 * sorted));
      std::partial_sort(all_.begin() + static_cast<std::ptrdiff_t>(kept),
                        all_.begin() + static_cast<std::ptrdiff_t>(sorted), all_.end(), kLikelier);
    }
    sum += all_[kept].weight;
    if (sum < s_.top_p) continue;
    all_.resize(kept + 1);
    return;
  }
}

Drawn Sampler::draw(std::span<const float> logits, std::span<const uint32_t> text, const DrawPlace& at) {
  HEDDLE_CHECK(!logits.empty(), "there is a token to draw");
  all_.clear();
  for (uint32_t i = 0; i < logits.size(); ++i) all_.push_back({i, static_cast<double>(logits[i])});
  const double whole = log_sum_exp(logits);
  const auto drawn = [&](uint32_t token) { return Drawn{token, static_cast<double>(logits[token]) - whole}; };

  if (s_.repetition_penalty != 1)
    for (const uint32_t token : text) {
      if (token >= all_.size()) continue;
      const auto logit = static_cast<double>(logits[token]);  // once, however often the token is there
      all_[token].weight = logit > 0 ? logit / s_.repetition_penalty : logit * s_.repetition_penalty;
    }
  if (s_.temperature == 0) return drawn(likeliest());
  keep_top_k();
  const double largest = std::min_element(all_.begin(), all_.end(), kLikelier)->weight;
  double sum = 0;  // the difference is divided, which is 0 for the likeliest: no quotient of large numbers is infinite
  for (Candidate& c : all_) sum += c.weight = std::exp((c.weight - largest) / s_.temperature);
  for (Candidate& c : all_) c.weight /= sum;
  keep_top_p();
  // In the order of the tokens, whatever the selection has left.
  const auto by_token = [](const Candidate& a, const Candidate& b) { return a.token < b.token; };
  if (!std::is_sorted(all_.begin(), all_.end(), by_token)) std::sort(all_.begin(), all_.end(), by_token);
  double rest = 0;
  for (const Candidate& c : all_) rest += c.weight;
  rest *= draw_uniform(s_.seed, at);
  for (const Candidate& c : all_) {
    rest -= c.weight;
    if (rest < 0) return drawn(c.token);
  }
  return drawn(std::max_element(all_.begin(), all_.end(), [](const Candidate& a, const Candidate& b) {
                 return a.weight < b.weight;
               })->token);  // rounding has left nothing behind the last one
}

}  // namespace heddle::runtime::text
