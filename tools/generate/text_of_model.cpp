#include "tools/generate/text_of_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/reader_def.h"
#include "runtime/text/unicode.h"

namespace heddle::tools {
namespace {

// What the model's reader calls a token, or "".
std::string named_by_reader(const frontend::Data& data, const char* key) {
  for (const auto* split : {&data.train, &data.validation, &data.test}) {
    if (!split->has_value()) continue;
    const runtime::data::ReaderSetting* setting = runtime::data::find_setting((*split)->settings, key);
    if (setting == nullptr) continue;
    if (const auto* names = std::get_if<std::vector<std::string>>(&setting->value)) return names->at(0);
  }
  return {};
}

runtime::text::Tokenizer read(std::deque<SourceFile>& files, const std::string& input, const std::string& of_weights,
                              const std::string& path) {
  if (!path.empty()) return runtime::text::read_tokenizer(files, path);
  if (of_weights.empty())
    throw UserError(
        ExitCode::failed,
        fmt::format("the weights hold no tokenizer for input '{}': the text of its numbers is unknown", input),
        "--tokenizer FILE names a tokenizer.json; a training on text keeps its own in the weights");
  files.push_back({"the tokenizer of the weights", of_weights});
  return runtime::text::read_tokenizer_json(files.back());
}

void require_places(const runtime::text::Tokenizer& tokenizer, int64_t places, const std::string& what) {
  if (tokenizer.size() <= places) return;
  throw UserError(ExitCode::failed,
                  fmt::format("the tokenizer has {} tokens, and {} {}", tokenizer.size(), what, places),
                  "the tokenizer and the weights are not of one model, or its output is no logits of next tokens");
}

}  // namespace

TextOfModel::TextOfModel(const driver::Generator& generator, const std::string& path, bool special)
    : tokenizer_(read(files_, generator.input(), generator.tokenizer(), path)), special_(special) {
  require_places(tokenizer_, generator.vocabulary(), "the model makes logits of");
  if (generator.tokens_below() > 0)
    require_places(tokenizer_, generator.tokens_below(), "the model reads tokens below");
  const runtime::text::NamedIds named = runtime::text::named_ids(tokenizer_);
  end_ = named.end;
  if (const std::string name = named_by_reader(generator.data(), "end"); !name.empty()) end_ = tokenizer_.find(name);
  if (generator.source()) begin_ = named.begin;
  if (const std::string name = named_by_reader(generator.data(), "begin"); !name.empty())
    begin_ = tokenizer_.find(name);
  if (generator.first()) begin_ = static_cast<uint32_t>(*generator.first());
  if (generator.source()) read_source(generator, path);
}

void TextOfModel::read_source(const driver::Generator& generator, const std::string& path) {
  const driver::Generator::Source& source = *generator.source();
  source_ = read(files_, source.name, source.tokenizer, path);
  if (source.below > 0) require_places(*source_, source.below, "the model reads tokens of the source below");
  padding_ = runtime::text::named_ids(*source_).padding.value_or(0);
  if (const std::string name = named_by_reader(generator.data(), "padding"); !name.empty())
    padding_ = source_->find(name).value_or(padding_);
}

std::vector<uint32_t> TextOfModel::ids_of(const runtime::text::Tokenizer& tokenizer, const SourceFile& prompt) const {
  runtime::text::require_utf8(prompt);
  std::vector<uint32_t> ids;
  runtime::text::Encoder encoder(tokenizer);
  encoder.encode(prompt, {0, static_cast<uint32_t>(prompt.text.size())}, {.special = special_}, ids);
  return ids;
}

std::vector<uint32_t> TextOfModel::encode(const SourceFile& prompt) const {
  std::vector<uint32_t> ids = ids_of(tokenizer_, prompt);
  if (begin_ && !(special_ && !ids.empty() && ids[0] == *begin_)) ids.insert(ids.begin(), *begin_);
  if (ids.empty())
    throw UserError({&prompt, 0, 0}, "the prompt has no tokens, and the model has no token that begins a text",
                    "give it a first character");
  return ids;
}

std::vector<uint32_t> TextOfModel::encode_source(const SourceFile& prompt) const {
  std::vector<uint32_t> ids = ids_of(*source_, prompt);
  if (ids.empty()) throw UserError({&prompt, 0, 0}, "the prompt has no tokens", "give it a first character");
  return ids;
}

std::vector<uint32_t> TextOfModel::begin() const {
  if (!begin_)
    throw UserError(ExitCode::failed, "no token is known to begin the text that the model writes",
                    "the reader's setting \"begin\" names it, or a special token <s> of the tokenizer");
  return {*begin_};
}

}  // namespace heddle::tools
