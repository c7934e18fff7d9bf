#include <algorithm>
#include <queue>
#include <unordered_map>

#include "runtime/text/train.h"
#include "runtime/text/unicode.h"
#include "runtime/text/vocabulary.h"

namespace heddle::runtime::text {
namespace {

using Pair = uint64_t;
Pair pair_of(uint32_t left, uint32_t right) { return (Pair{left} << 32) | right; }
uint32_t left_of(Pair pair) { return static_cast<uint32_t>(pair >> 32); }
uint32_t right_of(Pair pair) { return static_cast<uint32_t>(pair); }

struct Word {
  std::vector<uint32_t> ids;
  uint64_t count;
};

// The most frequent is on top; of these the lowest.
struct Candidate {
  uint64_t count;
  Pair pair;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class PairTrainer {
 public:
  PairTrainer(const std::vector<std::string>& special, const std::vector<std::string>& alphabet, std::string prefix)
      : prefix_(std::move(prefix)) {
    for (const std::string& token : special) id_of(token);
    special_ = made_.tokens.size();
    for (const std::string& token : alphabet) id_of_text(token);
  }

  TrainedPairs train(const Counted& words, uint32_t size) {
    split(words);
    count_all();
    std::priority_queue<Candidate> queue;
    for (const auto& [pair, count] : counts_) queue.push({count, pair});
    while (made_.tokens.size() < size && !queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      const uint64_t now = counts_[best.pair];
      if (now == 0) continue;
      if (now != best.count) {  // joins since have taken some
        queue.push({now, best.pair});
        continue;
      }
      for (const Pair grown : join(best.pair))
        if (counts_[grown] > 0) queue.push({counts_[grown], grown});
    }
    return std::move(made_);
  }

 private:
  uint32_t id_of(const std::string& token) {
    if (const auto known = vocabulary_.find(token)) return *known;
    const auto id = static_cast<uint32_t>(made_.tokens.size());
    made_.tokens.push_back(token);
    vocabulary_.add(token, id);
    return id;
  }

  uint32_t id_of_text(const std::string& token) {
    const uint32_t id = id_of(token);
    if (id < special_) throw special_in_text(token);
    return id;
  }

  // Characters as ids. Those with a prefix come in the order of their first words, which are sorted.
  void split(const Counted& words) {
    for (const auto& [text, count] : words) {
      Word word{{}, count};
      for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        next_code(text, at);
        const std::string character = text.substr(begin, at - begin);
        word.ids.push_back(id_of_text(begin == 0 ? character : prefix_ + character));
      }
      words_.push_back(std::move(word));
    }
  }

  void count_all() {
    for (uint32_t w = 0; w < words_.size(); ++w) {
      const Word& word = words_[w];
      for (size_t i = 0; i + 1 < word.ids.size(); ++i) {
        const Pair pair = pair_of(word.ids[i], word.ids[i + 1]);
        counts_[pair] += word.count;
        std::vector<uint32_t>& places = places_[pair];
        if (places.empty() || places.back() != w) places.push_back(w);
      }
    }
  }

  // Joins a pair in all words; returns the pairs that this makes, each once.
  std::vector<Pair> join(Pair pair) {
    const std::string& right = made_.tokens[right_of(pair)];
    const size_t skipped = !prefix_.empty() && right.starts_with(prefix_) ? prefix_.size() : 0;
    const uint32_t joined = id_of_text(made_.tokens[left_of(pair)] + right.substr(skipped));
    made_.merges.emplace_back(left_of(pair), right_of(pair));
    std::vector<uint32_t> words = std::move(places_[pair]);
    places_.erase(pair);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::vector<Pair> grown;
    for (const uint32_t w : words) join_in(w, pair, joined, grown);
    counts_[pair] = 0;
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    return grown;
  }

  void join_in(uint32_t w, Pair pair, uint32_t joined, std::vector<Pair>& grown) {
    Word& word = words_[w];
    std::vector<uint32_t>& ids = word.ids;
    const auto lose = [&](uint32_t left, uint32_t right) {
      uint64_t& count = counts_[pair_of(left, right)];
      count -= std::min(count, word.count);
    };
    const auto gain = [&](uint32_t left, uint32_t right) {
      const Pair made = pair_of(left, right);
      counts_[made] += word.count;
      places_[made].push_back(w);
      grown.push_back(made);
    };
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      if (pair_of(ids[i], ids[i + 1]) != pair) continue;
      if (i > 0) lose(ids[i - 1], ids[i]), gain(ids[i - 1], joined);
      if (i + 2 < ids.size()) lose(ids[i + 1], ids[i + 2]), gain(joined, ids[i + 2]);
      ids[i] = joined;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  std::string prefix_;
  size_t special_ = 0;  // tokens; the first ones
  TrainedPairs made_;
  Vocabulary vocabulary_;
  std::vector<Word> words_;
  std::unordered_map<Pair, uint64_t> counts_;               // never walked where order reaches the result
  std::unordered_map<Pair, std::vector<uint32_t>> places_;  // words that have held the pair
};

}  // namespace

TrainedPairs train_pairs(const Counted& words, uint32_t size, const std::vector<std::string>& special,
                         const std::vector<std::string>& alphabet, const std::string& prefix) {
  return PairTrainer(special, alphabet, prefix).train(words, size);
}

}  // namespace heddle::runtime::text
