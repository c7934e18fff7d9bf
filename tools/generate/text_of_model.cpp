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

}  // namespace

runtime::text::Tokenizer TextOfModel::read(std::deque<SourceFile>& files, const driver::Generator& generator,
                                           const std::string& path) {
  if (!path.empty()) return runtime::text::read_tokenizer(files, path);
  if (generator.tokenizer().empty())
    throw UserError(ExitCode::failed,
                    fmt::format("the weights hold no tokenizer for input '{}': the text of its numbers is unknown",
                                generator.input()),
                    "--tokenizer FILE names a tokenizer.json; a training on text keeps its own in the weights");
  files.push_back({"the tokenizer of the weights", generator.tokenizer()});
  return runtime::text::read_tokenizer_json(files.back());
}

TextOfModel::TextOfModel(const driver::Generator& generator, const std::string& path)
    : tokenizer_(read(files_, generator, path)) {
  const auto require = [&](int64_t places, const std::string& what) {
    if (tokenizer_.size() <= places) return;
    throw UserError(ExitCode::failed,
                    fmt::format("the tokenizer has {} tokens, and {} {}", tokenizer_.size(), what, places),
                    "the tokenizer and the weights are not of one model, or its output is no logits of next tokens");
  };
  require(generator.vocabulary(), "the model makes logits of");
  if (generator.tokens_below() > 0) require(generator.tokens_below(), "the model reads tokens below");
  const runtime::text::NamedIds named = runtime::text::named_ids(tokenizer_);
  end_ = named.end;
  if (const std::string name = named_by_reader(generator.data(), "end"); !name.empty()) end_ = tokenizer_.find(name);
  if (const std::string name = named_by_reader(generator.data(), "begin"); !name.empty())
    begin_ = tokenizer_.find(name);
}

std::vector<uint32_t> TextOfModel::encode(const SourceFile& prompt) const {
  runtime::text::require_utf8(prompt);
  std::vector<uint32_t> ids;
  if (begin_) ids.push_back(*begin_);
  runtime::text::Encoder encoder(tokenizer_);
  encoder.encode(prompt, {0, static_cast<uint32_t>(prompt.text.size())}, {}, ids);
  if (ids.empty())
    throw UserError({&prompt, 0, 0}, "the prompt has no tokens, and the model has no token that begins a text",
                    "give it a first character");
  return ids;
}

}  // namespace heddle::tools
