// Unigram (Kudo 2018): of all ways to part a piece into tokens the one whose scores add up to the most, by Viterbi's
// algorithm.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "runtime/data/printable.h"
#include "runtime/text/part_def.h"
#include "runtime/text/trie.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

constexpr double kUnknownPenalty =
    10;  // an unknown character scores so much below the lowest token, as in SentencePiece

struct Unigram {
  std::vector<double> scores;  // by id
  Trie trie;
  std::optional<uint32_t> unknown;
  std::vector<uint32_t> bytes;
  double unknown_score = 0;
};

struct Step {
  double score = 0;
  uint32_t begin = 0, id = 0;
  bool reached = false, known = false;
};

// The best last step to each place of the piece, from left to right.
std::vector<Step> best_steps(const Unigram& model, std::string_view piece) {
  std::vector<Step> steps(piece.size() + 1);
  for (size_t at = 0; at < piece.size();) {
    const double score = steps[at].score;
    size_t next = at;
    next_code(piece, next);
    bool single = false;
    const auto reach = [&](size_t end, double added, uint32_t id, bool known) {
      Step& step = steps[end];
      if (step.reached && score + added <= step.score) return;
      step = {score + added, static_cast<uint32_t>(at), id, true, known};
    };
    model.trie.each_prefix(piece.substr(at), [&](size_t length, uint32_t id) {
      reach(at + length, model.scores[id], id, true);
      single = single || at + length == next;
    });
    if (!single) reach(next, model.unknown_score, model.unknown.value_or(0), false);
    at = next;
  }
  return steps;
}

bool encode(const Unigram& model, std::string_view piece, std::vector<uint32_t>& ids) {
  const std::vector<Step> steps = best_steps(model, piece);
  const size_t first = ids.size();
  bool after_unknown = false;
  for (size_t end = piece.size(); end > 0; end = steps[end].begin) {
    const Step& step = steps[end];
    if (step.known && step.id != model.unknown) {
      ids.push_back(step.id);
      after_unknown = false;
      continue;
    }
    if (!model.bytes.empty()) {
      for (size_t i = end; i > step.begin; --i) ids.push_back(model.bytes[static_cast<unsigned char>(piece[i - 1])]);
      continue;
    }
    if (!model.unknown) return false;
    if (!after_unknown) ids.push_back(*model.unknown);  // one for a run of them
    after_unknown = true;
  }
  std::reverse(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
  return true;
}

Model make_unigram(const ModelRequest& request) {
  const JsonValue& settings = request.settings;
  require_members(settings, {"type", "unk_id", "vocab", "byte_fallback"}, "Unigram");
  const JsonValue list = require(settings, "vocab").list("'vocab'");
  if (list.size() == 0) list.fail("the vocabulary is empty", "give it a token or more");
  Model model;
  const auto unigram = std::make_shared<Unigram>();
  double lowest = std::numeric_limits<double>::infinity();
  for (auto item = list.first(); item; item = item->next()) {
    if (item->list("a token").size() != 2) item->fail("expected a token and its score: [\"the\", -3.2]");
    const auto id = static_cast<uint32_t>(unigram->scores.size());
    if (id >= kMaxIds) item->fail(fmt::format("more than {} tokens", kMaxIds));
    const std::string token = item->first()->text("a token");
    require_short(token, item->where());
    if (!model.vocabulary.add(token, id))
      item->fail(fmt::format("the token '{}' is given twice", data::printable(token)), "remove one of them");
    unigram->scores.push_back(item->first()->next()->real("a score"));
    lowest = std::min(lowest, unigram->scores.back());
    if (!token.empty() && !request.special.contains(token)) unigram->trie.add(token, id);
  }
  unigram->unknown_score = lowest - kUnknownPenalty;
  if (const auto unknown = settings.find("unk_id"); unknown && !unknown->is_null()) {
    unigram->unknown = unknown->id("'unk_id'");
    if (*unigram->unknown >= unigram->scores.size())
      unknown->fail(
          fmt::format("'unk_id' is {}, the vocabulary has {} tokens", *unigram->unknown, unigram->scores.size()));
  }
  if (flag_or(settings, "byte_fallback", false))
    unigram->bytes = byte_tokens(model.vocabulary, settings.find("byte_fallback")->where());
  model.unknown = unigram->unknown;
  model.encode = [unigram](std::string_view piece, std::vector<uint32_t>& ids) { return encode(*unigram, piece, ids); };
  return model;
}

const RegisterPart unigram_def(ModelDef{"Unigram", make_unigram});

}  // namespace
}  // namespace heddle::runtime::text
