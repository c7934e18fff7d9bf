#include "tools/predict/text_inputs.h"

#include <algorithm>

#include "runtime/text/tokenizer.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {
namespace {

using namespace runtime::data;  // NOLINT: this file speaks of little else

const std::vector<frontend::Named>* words_of(const frontend::DataReader& reader, const std::string& input) {
  const auto found = reader.columns.find(input);
  return found == reader.columns.end() ? nullptr : &found->second;
}

// What the reader makes an input of, by its key or by the setting "text"; "" for other than text.
std::string unit_of(const frontend::DataReader& reader, const std::string& input) {
  if (const ReaderSetting* setting = find_setting(reader.settings, "text")) {
    const auto& units = std::get<ClassNames>(setting->value);
    const auto unit = units.find(input);
    return unit == units.end() ? "" : unit->second.at(0);
  }
  const auto* words = words_of(reader, input);
  return words == nullptr || !find_reader(reader.op)->one_text ? "" : words->at(0).text;
}

std::vector<std::string> source_of(const frontend::DataReader& reader, const std::string& input) {
  std::vector<std::string> source;
  if (find_reader(reader.op)->one_text) return source;
  if (const auto* words = words_of(reader, input))
    for (const frontend::Named& word : *words) source.push_back(word.text);
  return source;
}

bool has_token(const std::string& tokenizer, const char* token) {
  const SourceFile file{"", tokenizer};
  return runtime::text::read_tokenizer_json(file).find(token).has_value();
}

}  // namespace

TextInputs::TextInputs(const driver::Predictor& predictor, const std::vector<size_t>& numbers) {
  const frontend::Data& data = predictor.data();
  const frontend::DataReader* reader = nullptr;
  for (const auto* split : {&data.test, &data.validation, &data.train})
    if (reader == nullptr && split->has_value()) reader = &**split;
  inputs_.resize(numbers.size());
  if (reader == nullptr) return;
  ReaderRequest request{.op = reader->op, .columns = {}, .settings = reader->settings, .where = reader->where};
  const ReaderDef& def = *find_reader(request.op);
  const bool has_settings = ir::find_key(def.keys, "padding") != nullptr;
  if (!has_settings && !def.one_text) return;  // a reader of no text
  if (has_settings) settings_ = text_settings(request);
  for (const auto& [name, words] : reader->columns) settings_.lengths |= unit_of(*reader, name) == "length";
  for (size_t i = 0; i < numbers.size(); ++i) {
    Input& input = inputs_[i];
    input.request = &predictor.inputs()[numbers[i]].request;
    const std::string word = unit_of(*reader, input.request->input);
    input.source = source_of(*reader, input.request->input);
    input.size = word == "length";
    const auto unit = text_unit(word);
    if (!unit || input.request->tokenizer.empty()) continue;
    // As texts are drawn; weights of other texts need not have it.
    if (!has_settings && has_token(input.request->tokenizer, "<pad>")) settings_.padding = "<pad>";
    input.rows = std::make_unique<TextRows>(*input.request, *unit, settings_);
  }
}

bool TextInputs::any() const {
  return std::ranges::any_of(inputs_, [](const Input& input) { return input.rows != nullptr; });
}

std::vector<std::string> TextInputs::notes() const {
  std::vector<std::string> notes;
  for (const Input& input : inputs_)
    if (input.rows != nullptr && !input.rows->note().empty()) notes.push_back(input.rows->note());
  return notes;
}

void TextInputs::begin_row() {
  for (Input& input : inputs_) input.filled = false;
}

bool TextInputs::put_text(size_t input, std::string_view text, std::byte* to, const TextCoder::Fail& fail) {
  Input& one = inputs_[input];
  if (one.rows == nullptr) return false;
  one.rows->encode(text, fail);
  one.rows->store_ids(text_type(*one.request), to);
  return one.filled = true;
}

bool TextInputs::put_size(size_t input, std::byte* to) {
  Input& size = inputs_[input];
  if (!size.size) return false;
  for (const Input& one : inputs_) {
    if (one.rows == nullptr || !one.filled || one.source != size.source) continue;
    one.rows->store_size(text_type(*size.request), to);
    return size.filled = true;
  }
  return false;
}

}  // namespace heddle::tools
