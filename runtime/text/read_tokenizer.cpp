// Reads tokenizers from files: Hugging Face's tokenizer.json, GPT-2's vocab.json and merges.txt.
#include <fmt/format.h>

#include <filesystem>

#include "ir/read_text.h"
#include "runtime/data/printable.h"
#include "runtime/files/file.h"
#include "runtime/text/bpe.h"
#include "runtime/text/byte_level.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxBytes = size_t{64} << 20;

AddedToken read_added_token(const JsonValue& item) {
  require_members(item.object("an added token"),
                  {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}, "an added token");
  AddedToken token;
  token.text = require(item, "content").text("'content'");
  token.id = require(item, "id").id("'id'");
  token.special = flag_or(item, "special", false);
  token.single_word = flag_or(item, "single_word", false);
  token.lstrip = flag_or(item, "lstrip", false);
  token.rstrip = flag_or(item, "rstrip", false);
  token.normalized = flag_or(item, "normalized", !token.special);
  if (token.text.empty()) item.fail("an added token is empty", "remove it");
  return token;
}

// Its id is that of the model, or one that the model leaves free.
void require_own_id(const Tokenizer& tokenizer, const AddedToken& token, const JsonValue& item) {
  const Vocabulary& vocabulary = tokenizer.model.vocabulary;
  const std::string shown = data::printable(token.text);
  const JsonValue id = *item.find("id");
  if (const auto known = vocabulary.find(token.text); known && *known != token.id)
    id.fail(fmt::format("the added token '{}' has the id {}, in the vocabulary it has {}", shown, token.id, *known),
            "give it the vocabulary's id");
  if (vocabulary.holds(token.id) && vocabulary.token(token.id) != token.text)
    id.fail(fmt::format("the added token '{}' has the id {}, which is that of '{}'", shown, token.id,
                        data::printable(vocabulary.token(token.id))),
            "give it an id behind the vocabulary");
  if (const auto other = tokenizer.added.find(token.id); other != tokenizer.added.end())
    id.fail(fmt::format("the added token '{}' has the id of '{}'", shown, data::printable(other->second.text)),
            "each token needs an id of its own");
}

void require_template(const Tokenizer& tokenizer, const JsonValue& processor) {
  for (const std::optional<uint32_t>& id : tokenizer.around)
    if (id && !tokenizer.token(*id))
      processor.fail(fmt::format("the post-processor adds the id {}, which no token has", *id),
                     fmt::format("the vocabulary ends with {}", tokenizer.size() - 1));
}

void add_to_finders(Tokenizer& tokenizer) {
  for (const auto& [id, token] : tokenizer.added) {
    const bool after = token.normalized && tokenizer.normalizer;
    (token.normalized ? tokenizer.normalized : tokenizer.raw)
        .add(after ? tokenizer.normalizer(token.text) : token.text, token);
  }
}

// GPT-2's: the vocabulary and the merges beside it; each byte has a token.
Tokenizer read_gpt2(const SourceFile& vocabulary, const SourceFile& merges) {
  const JsonTree tree(vocabulary);
  Bpe bpe;
  bpe.vocabulary = read_vocabulary(tree.root());
  const std::string_view text = merges.text;
  require_utf8(merges);
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (begin == 0 && line.starts_with("#version"))) continue;
    const Location where{&merges, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + line.size())};
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      throw UserError(where, "a merge is two tokens with a space between them");
    bpe.merges.push_back(read_merge(bpe.vocabulary, line.substr(0, space), line.substr(space + 1), "", where));
  }
  Tokenizer tokenizer;
  if (const auto end = bpe.vocabulary.find("<|endoftext|>"); end) {
    bpe.special = {"<|endoftext|>"};
    tokenizer.added[*end] = {.text = "<|endoftext|>", .id = *end, .special = true};
  }
  tokenizer.model = bpe_model(std::move(bpe));
  static const SourceFile kParts{"gpt2", R"({"type": "ByteLevel", "add_prefix_space": false})"};
  const JsonTree parts(kParts);
  tokenizer.pre_tokenizer = pre_tokenizer_of(parts.root()).make(parts.root());
  tokenizer.decoder = decoder_of(parts.root()).make(parts.root());
  add_to_finders(tokenizer);
  tokenizer.named = named_ids(tokenizer);
  return tokenizer;
}

}  // namespace

Tokenizer read_tokenizer_json(const SourceFile& file) {
  const JsonTree tree(file);
  const JsonValue root = tree.root().object("a tokenizer");
  require_members(root,
                  {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                   "decoder", "model"},
                  "a tokenizer");
  if (const auto version = root.find("version"); version && version->text("'version'") != "1.0")
    version->fail("the version is not 1.0");
  const auto part = [&](std::string_view key) -> std::optional<JsonValue> {
    const std::optional<JsonValue> value = root.find(key);
    return value && !value->is_null() ? value : std::nullopt;
  };
  std::vector<std::pair<AddedToken, JsonValue>> added;
  ModelRequest request{require(root, "model"), {}};
  if (const auto list = part("added_tokens"))
    for (auto item = list->list("'added_tokens'").first(); item; item = item->next()) {
      added.emplace_back(read_added_token(*item), *item);
      if (added.back().first.special) request.special.insert(added.back().first.text);
    }
  Tokenizer tokenizer;
  if (const auto p = part("normalizer")) tokenizer.normalizer = normalizer_of(*p).make(*p);
  if (const auto p = part("pre_tokenizer")) tokenizer.pre_tokenizer = pre_tokenizer_of(*p).make(*p);
  if (const auto p = part("decoder")) tokenizer.decoder = decoder_of(*p).make(*p);
  tokenizer.model = model_of(request.settings).make(request);
  for (const auto& [token, item] : added) {
    require_own_id(tokenizer, token, item);
    tokenizer.added[token.id] = token;
  }
  if (const auto p = part("post_processor")) {
    tokenizer.around = post_processor_of(*p).make(*p);
    require_template(tokenizer, *p);
  }
  add_to_finders(tokenizer);
  tokenizer.named = named_ids(tokenizer);
  return tokenizer;
}

Tokenizer read_tokenizer(std::deque<SourceFile>& files, const std::string& path) {
  const auto open = [&](const fs::path& file) -> const SourceFile& {
    return files.emplace_back(
        SourceFile{file.string(), read_text(file.string(), fmt::format("'{}'", file.string()), kMaxBytes)});
  };
  fs::path file = path;
  std::error_code ec;
  if (fs::is_directory(file, ec)) {
    const bool single = fs::exists(file / "tokenizer.json", ec);
    if (!single && !fs::exists(file / "vocab.json", ec))
      throw UserError(
          ExitCode::failed,
          fmt::format("'{}' holds neither tokenizer.json nor vocab.json with merges.txt", data::printable(path)),
          "name the file");
    file /= single ? "tokenizer.json" : "vocab.json";
  }
  if (file.filename() != "vocab.json") return read_tokenizer_json(open(file));
  const SourceFile& vocabulary = open(file);
  return read_gpt2(vocabulary, open(file.parent_path() / "merges.txt"));
}

}  // namespace heddle::runtime::text
