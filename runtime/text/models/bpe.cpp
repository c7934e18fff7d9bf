// BPE: byte pair encoding, as tokenizer.json holds it.
#include "runtime/text/bpe.h"

#include <fmt/format.h>

#include "runtime/data/printable.h"

namespace heddle::runtime::text {
namespace {

// "a b", or ["a", "b"].
Merge merge_of(const JsonValue& item, const Bpe& bpe) {
  if (item.kind() == JsonValue::Kind::list) {
    if (item.size() != 2) item.fail("a merge is of two tokens");
    const JsonValue left = *item.first(), right = *left.next();
    return read_merge(bpe.vocabulary, left.text("a token"), right.text("a token"), bpe.prefix, item.where());
  }
  const std::string pair = item.text("a merge");
  const size_t space = pair.find(' ');
  if (space == std::string::npos || pair.find(' ', space + 1) != std::string::npos)
    item.fail(fmt::format("the merge '{}' is not two tokens with a space between them", data::printable(pair)),
              "write tokens with spaces as a list: [\"a\", \"b c\"]");
  return read_merge(bpe.vocabulary, std::string_view(pair).substr(0, space), std::string_view(pair).substr(space + 1),
                    bpe.prefix, item.where());
}

Model make_bpe(const ModelRequest& request) {
  const JsonValue& settings = request.settings;
  require_members(settings,
                  {"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                   "fuse_unk", "byte_fallback", "ignore_merges"},
                  "BPE");
  if (const auto dropout = settings.find("dropout"); dropout && !dropout->is_null() && dropout->real("'dropout'") != 0)
    dropout->fail("dropout of merges is not supported", "set \"dropout\": null");
  Bpe bpe;
  bpe.vocabulary = read_vocabulary(require(settings, "vocab"));
  bpe.prefix = text_or(settings, "continuing_subword_prefix", "");
  bpe.suffix = text_or(settings, "end_of_word_suffix", "");
  bpe.fuse_unknown = flag_or(settings, "fuse_unk", false);
  bpe.ignore_merges = flag_or(settings, "ignore_merges", false);
  if (const auto unknown = settings.find("unk_token"); unknown && !unknown->is_null()) {
    const std::string token = unknown->text("'unk_token'");
    bpe.unknown = bpe.vocabulary.find(token);
    if (!bpe.unknown)
      unknown->fail(fmt::format("the vocabulary has no '{}'", data::printable(token)),
                    "add it there, or set \"unk_token\": null");
  }
  if (flag_or(settings, "byte_fallback", false))
    bpe.bytes = byte_tokens(bpe.vocabulary, settings.find("byte_fallback")->where());
  for (auto item = require(settings, "merges").list("'merges'").first(); item; item = item->next())
    bpe.merges.push_back(merge_of(*item, bpe));
  bpe.special = request.special;
  return bpe_model(std::move(bpe));
}

const RegisterPart bpe(ModelDef{"BPE", make_bpe});

}  // namespace
}  // namespace heddle::runtime::text
