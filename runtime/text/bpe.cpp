#include "runtime/text/bpe.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <queue>

#include "runtime/data/printable.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

constexpr uint32_t kNone = 0xffffffff;
constexpr size_t kShort = 48;  // characters: a piece of fewer is scanned, a longer one has a heap

// Pairs of ids -> rank and what they become.
class MergeTable {
 public:
  explicit MergeTable(size_t count) {
    size_t size = 16;
    while (size < 2 * count) size *= 2;
    slots_.resize(size);
  }
  struct Found {
    uint64_t pair = ~uint64_t{0};
    uint32_t rank = kNone, joined = kNone;
  };
  // The first of two merges of one pair holds.
  void add(const Merge& merge, uint32_t rank) {
    Found& slot = slots_[place(pair_of(merge.left, merge.right))];
    if (slot.rank == kNone) slot = {pair_of(merge.left, merge.right), rank, merge.joined};
  }
  const Found& find(uint32_t left, uint32_t right) const { return slots_[place(pair_of(left, right))]; }

 private:
  static uint64_t pair_of(uint32_t left, uint32_t right) { return (uint64_t{left} << 32) | right; }
  size_t place(uint64_t pair) const {
    const size_t mask = slots_.size() - 1;
    uint64_t mixed = pair * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29;
    size_t at = mixed & mask;
    while (slots_[at].rank != kNone && slots_[at].pair != pair) at = (at + 1) & mask;
    return at;
  }
  std::vector<Found> slots_;
};

class Encoder {
 public:
  Encoder(Vocabulary vocabulary, Bpe bpe)
      : vocabulary_(std::move(vocabulary)), bpe_(std::move(bpe)), table_(bpe_.merges.size()) {
    for (uint32_t rank = 0; rank < bpe_.merges.size(); ++rank)
      if (!is_special(bpe_.merges[rank].joined)) table_.add(bpe_.merges[rank], rank);
    bpe_.merges = {};
  }

  bool encode(std::string_view piece, std::vector<uint32_t>& ids) const {
    if (bpe_.ignore_merges)
      if (const auto whole = find(piece)) {
        ids.push_back(*whole);
        return true;
      }
    const size_t first = ids.size();
    if (!characters(piece, ids)) return false;
    ids.size() - first <= kShort ? join_short(ids, first) : join_long(ids, first);
    return true;
  }

 private:
  bool is_special(uint32_t id) const { return bpe_.special.contains(vocabulary_.token(id)); }
  std::optional<uint32_t> find(std::string_view token) const {
    const std::optional<uint32_t> id = vocabulary_.find(token);
    return id && !bpe_.special.empty() && is_special(*id) ? std::nullopt : id;
  }

  bool characters(std::string_view piece, std::vector<uint32_t>& ids) const {
    bool after_unknown = false;
    std::string decorated;
    for (size_t at = 0; at < piece.size();) {
      const size_t begin = at;
      next_code(piece, at);
      std::string_view token = piece.substr(begin, at - begin);
      const bool prefixed = begin > 0 && !bpe_.prefix.empty(), suffixed = at == piece.size() && !bpe_.suffix.empty();
      if (prefixed || suffixed) {
        decorated = (prefixed ? bpe_.prefix : "") + std::string(token) + (suffixed ? bpe_.suffix : "");
        token = decorated;
      }
      const std::optional<uint32_t> id = find(token);
      if (id) {
        ids.push_back(*id);
      } else if (!bpe_.bytes.empty()) {
        for (const char c : token) ids.push_back(bpe_.bytes[static_cast<unsigned char>(c)]);
      } else if (!bpe_.unknown) {
        return false;
      } else if (!after_unknown || !bpe_.fuse_unknown) {
        ids.push_back(*bpe_.unknown);
      }
      after_unknown = !id && bpe_.bytes.empty();
    }
    return true;
  }

  // The lowest rank, and the leftmost of these.
  void join_short(std::vector<uint32_t>& ids, size_t first) const {
    std::array<uint32_t, kShort> ranks{};
    size_t count = ids.size() - first;
    uint32_t* const id = ids.data() + first;
    for (size_t i = 0; i + 1 < count; ++i) ranks[i] = table_.find(id[i], id[i + 1]).rank;
    while (count > 1) {
      size_t best = 0;
      for (size_t i = 1; i + 1 < count; ++i)
        if (ranks[i] < ranks[best]) best = i;
      if (ranks[best] == kNone) break;
      id[best] = table_.find(id[best], id[best + 1]).joined;
      --count;
      for (size_t i = best + 1; i < count; ++i) id[i] = id[i + 1];
      for (size_t i = best + 1; i + 1 < count; ++i) ranks[i] = ranks[i + 1];
      if (best > 0) ranks[best - 1] = table_.find(id[best - 1], id[best]).rank;
      if (best + 1 < count) ranks[best] = table_.find(id[best], id[best + 1]).rank;
    }
    ids.resize(first + count);
  }

  // The same with a list of the symbols and a heap of the pairs.
  void join_long(std::vector<uint32_t>& ids, size_t first) const {
    struct Symbol {
      uint32_t id, before, after;
    };
    struct Pair {
      uint32_t rank, at, joined, left, right;
      bool operator<(const Pair& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
    };
    const auto count = static_cast<uint32_t>(ids.size() - first);
    std::vector<Symbol> symbols(count);
    for (uint32_t i = 0; i < count; ++i)
      symbols[i] = {ids[first + i], i == 0 ? kNone : i - 1, i + 1 == count ? kNone : i + 1};
    std::priority_queue<Pair> pairs;
    const auto consider = [&](uint32_t at) {
      if (at == kNone || symbols[at].after == kNone) return;
      const uint32_t left = symbols[at].id, right = symbols[symbols[at].after].id;
      const MergeTable::Found& found = table_.find(left, right);
      if (found.rank != kNone) pairs.push({found.rank, at, found.joined, left, right});
    };
    for (uint32_t i = 0; i + 1 < count; ++i) consider(i);
    while (!pairs.empty()) {
      const Pair pair = pairs.top();
      pairs.pop();
      Symbol& left = symbols[pair.at];
      if (left.id != pair.left || left.after == kNone || symbols[left.after].id != pair.right) continue;  // gone
      Symbol& right = symbols[left.after];
      left.id = pair.joined;
      right.id = kNone;
      left.after = right.after;
      if (left.after != kNone) symbols[left.after].before = pair.at;
      consider(left.before);
      consider(pair.at);
    }
    ids.resize(first);
    for (uint32_t at = 0; at != kNone; at = symbols[at].after) ids.push_back(symbols[at].id);
  }

  Vocabulary vocabulary_;
  Bpe bpe_;
  MergeTable table_;
};

}  // namespace

Model bpe_model(Bpe bpe) {
  Model model;
  model.unknown = bpe.unknown;
  Vocabulary vocabulary = std::move(bpe.vocabulary);
  model.vocabulary = vocabulary;
  model.encode = [encoder = std::make_shared<const Encoder>(std::move(vocabulary), std::move(bpe))](
                     std::string_view piece, std::vector<uint32_t>& ids) { return encoder->encode(piece, ids); };
  return model;
}

Merge read_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, const std::string& prefix,
                 const Location& where) {
  const auto id_of = [&](std::string_view token, const std::string& what) {
    const std::optional<uint32_t> id = vocabulary.find(token);
    if (!id)
      throw UserError(where,
                      fmt::format("the merge of '{}' and '{}' {} '{}', which is not in the vocabulary",
                                  data::printable(left), data::printable(right), what, data::printable(token)),
                      "merges and vocabulary must be of one training");
    return *id;
  };
  const uint32_t first = id_of(left, "reads"), second = id_of(right, "reads");
  std::string_view rest = right;
  if (!prefix.empty() && rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  return {first, second, id_of(std::string(left) + std::string(rest), "makes")};
}

}  // namespace heddle::runtime::text
