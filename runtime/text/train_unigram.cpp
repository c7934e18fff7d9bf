// Training of a unigram language model of tokens: T. Kudo, Subword Regularization, 2018, arXiv:1804.10959, section 3.2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "runtime/text/train.h"
#include "runtime/text/trie.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

constexpr size_t kLongest = 16;       // characters of a token
constexpr size_t kSeeds = 1'000'000;  // tokens at the start
constexpr double kKept = 0.75;        // of the tokens by one pruning
constexpr int kSubSteps = 2;          // EM steps between prunings
constexpr double kRare = 0.5;         // expected uses: a token of fewer goes
constexpr double kMargin = 1.1;       // pruning ends that much above the size, as characters are added back

struct Token {
  std::string text;
  double score;
  bool character;  // one alone: stays
};
using Tokens = std::vector<Token>;

// Where each character of a word begins, and the word's end.
std::vector<uint32_t> boundaries(std::string_view word) {
  std::vector<uint32_t> at = {0};
  for (size_t i = 0; i < word.size();) {
    next_code(word, i);
    at.push_back(static_cast<uint32_t>(i));
  }
  return at;
}

bool by_score(const Token& a, const Token& b) { return a.score != b.score ? a.score > b.score : a.text < b.text; }

void to_log_probabilities(Tokens& tokens) {
  double sum = 0;
  for (const Token& token : tokens) sum += token.score;
  for (Token& token : tokens) token.score = std::log(token.score) - std::log(sum);
}

// All characters, and the strings inside words that are there twice or more, the longest and most frequent first.
Tokens seeds(const Counted& words) {
  std::map<std::string, uint64_t> characters;
  std::unordered_map<std::string, uint64_t> strings;
  for (const auto& [word, count] : words) {
    const std::vector<uint32_t> at = boundaries(word);
    for (size_t i = 0; i + 1 < at.size(); ++i) {
      characters[word.substr(at[i], at[i + 1] - at[i])] += count;
      for (size_t j = i + 2; j < at.size() && j <= i + kLongest; ++j)
        strings[word.substr(at[i], at[j] - at[i])] += count;
    }
  }
  Tokens tokens;
  for (const auto& [text, count] : strings)
    if (count > 1)
      tokens.push_back({text, static_cast<double>(count) * static_cast<double>(boundaries(text).size() - 1), false});
  std::sort(tokens.begin(), tokens.end(), by_score);
  if (tokens.size() > kSeeds) tokens.resize(kSeeds);
  for (const auto& [text, count] : characters) tokens.push_back({text, static_cast<double>(count), true});
  to_log_probabilities(tokens);
  return tokens;
}

Trie trie_of(const Tokens& tokens) {
  Trie trie;
  for (uint32_t id = 0; id < tokens.size(); ++id) trie.add(tokens[id].text, id);
  return trie;
}

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Adds how often each token is expected in a word, over all ways to part it: forward and backward sums.
void add_expected(const Tokens& tokens, const Trie& trie, std::string_view word, double count,
                  std::vector<double>& expected) {
  struct Edge {
    uint32_t begin, end, id;
  };
  std::vector<Edge> edges;
  std::vector<double> before(word.size() + 1, kNever), behind(word.size() + 1, kNever);
  before[0] = behind[word.size()] = 0;
  for (const uint32_t begin : boundaries(word)) {
    if (begin == word.size()) break;
    trie.each_prefix(word.substr(begin), [&](size_t length, uint32_t id) {
      const auto end = static_cast<uint32_t>(begin + length);
      edges.push_back({begin, end, id});
      before[end] = log_add(before[end], before[begin] + tokens[id].score);
    });
  }
  for (size_t i = edges.size(); i-- > 0;)
    behind[edges[i].begin] = log_add(behind[edges[i].begin], behind[edges[i].end] + tokens[edges[i].id].score);
  for (const Edge& edge : edges)
    expected[edge.id] +=
        count * std::exp(before[edge.begin] + tokens[edge.id].score + behind[edge.end] - before[word.size()]);
}

// The best parting of a word that does not use `without`: its tokens.
std::vector<uint32_t> best_parting(const Tokens& tokens, const Trie& trie, std::string_view word, uint32_t without) {
  struct Step {
    double score = kNever;
    uint32_t begin = 0, id = 0;
  };
  std::vector<Step> steps(word.size() + 1);
  steps[0].score = 0;
  for (const uint32_t begin : boundaries(word)) {
    if (begin == word.size() || steps[begin].score == kNever) continue;
    trie.each_prefix(word.substr(begin), [&](size_t length, uint32_t id) {
      const double score = steps[begin].score + tokens[id].score;
      if (id != without && score > steps[begin + length].score) steps[begin + length] = {score, begin, id};
    });
  }
  std::vector<uint32_t> ids;
  if (steps.back().score == kNever) return ids;
  for (size_t end = word.size(); end > 0; end = steps[end].begin) ids.push_back(steps[end].id);
  return ids;
}

// exp(digamma(x)): the M-step under a sparse Dirichlet prior, which starves rare tokens.
double digamma(double x) {
  double result = 0;
  while (x < 7) {
    result -= 1 / x;
    x += 1;
  }
  x -= 0.5;
  const double square = 1 / (x * x);
  return result + std::log(x) + square / 24 - 7 * square * square / 960 + 31 * square * square * square / 8064;
}

Tokens em_step(const Tokens& tokens, const Counted& words) {
  const Trie trie = trie_of(tokens);
  std::vector<double> expected(tokens.size(), 0.0);
  for (const auto& [word, count] : words) add_expected(tokens, trie, word, static_cast<double>(count), expected);
  Tokens kept;
  double sum = 0;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (expected[id] < kRare && !tokens[id].character) continue;
    kept.push_back({tokens[id].text, std::max(expected[id], kRare), tokens[id].character});
    sum += kept.back().score;
  }
  for (Token& token : kept) token.score = digamma(token.score) - digamma(sum);
  return kept;
}

// Removes the tokens whose loss lowers the likelihood of the words least.
Tokens pruned(const Tokens& tokens, const Counted& words, size_t size) {
  const Trie trie = trie_of(tokens);
  std::vector<double> uses(tokens.size(), 0.0);
  double total = 0;
  for (const auto& [word, count] : words) {
    for (const uint32_t id : best_parting(tokens, trie, word, std::numeric_limits<uint32_t>::max()))
      uses[id] += static_cast<double>(count), total += static_cast<double>(count);
  }
  std::vector<std::pair<double, uint32_t>> losses;
  Tokens kept;
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].character) {
      kept.push_back(tokens[id]);
      continue;
    }
    if (uses[id] == 0) continue;
    const std::vector<uint32_t> instead = best_parting(tokens, trie, tokens[id].text, id);
    const double grown = std::log(total + uses[id] * (static_cast<double>(instead.size()) - 1));
    double other = 0;
    for (const uint32_t part : instead) other += std::log(uses[part] + uses[id]) - grown;
    losses.emplace_back(uses[id] / total * (std::log(uses[id]) - std::log(total) - other), id);
  }
  std::sort(losses.begin(), losses.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  const size_t wanted = std::max(size, static_cast<size_t>(kKept * static_cast<double>(tokens.size())));
  for (size_t i = 0; i < losses.size() && kept.size() < wanted; ++i) kept.push_back(tokens[losses[i].second]);
  return kept;
}

}  // namespace

std::vector<std::pair<std::string, double>> train_unigram(const Counted& words, uint32_t size) {
  Tokens tokens = seeds(words);
  const auto target = static_cast<size_t>(kMargin * size);
  for (;;) {
    for (int step = 0; step < kSubSteps; ++step) tokens = em_step(tokens, words);
    if (tokens.size() <= target) break;
    Tokens fewer = pruned(tokens, words, target);
    if (fewer.size() == tokens.size()) break;
    tokens = std::move(fewer);
  }
  std::stable_sort(tokens.begin(), tokens.end(), [](const Token& a, const Token& b) {
    return a.character != b.character ? a.character : by_score(a, b);  // each character stays
  });
  if (tokens.size() > size) tokens.resize(size);
  std::sort(tokens.begin(), tokens.end(), by_score);
  std::vector<std::pair<std::string, double>> made;
  made.reserve(tokens.size());
  for (Token& token : tokens) made.emplace_back(std::move(token.text), token.score);
  return made;
}

}  // namespace heddle::runtime::text
