#include "tools/predict/text_inputs.h"

#include <algorithm>

#include "runtime/data/text_pairs.h"
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

// Whether a row is a pair of texts. Of drawn rows the kind says it, by what inputs have of them.
bool gives_pairs(const frontend::DataReader& reader) {
  const ReaderDef& def = *find_reader(reader.op);
  if (def.pairs || !def.one_text) return def.pairs;
  return std::ranges::any_of(reader.columns, [](const auto& column) {
    const std::string& word = column.second.at(0).text;
    return word == "source" || word == "target";
  });
}

// What the reader makes of a row's text for an input.
struct Made {
  std::string word;               // a unit of text, or "length"; "" for other than text
  std::vector<std::string> of{};  // which text of the row
  TextShape shape{};
};

Made made_of_pair(const ReaderRequest& request, const std::string& word) {
  const std::optional<PairPart> part = pair_part(word);
  if (!part) return {};
  const bool drawn = !find_reader(request.op)->pairs;
  return {.word = part->length ? "length"
                  : drawn      ? "tokens"
                               : pair_unit(request),
          .of = {part->side},
          .shape = part->shape};
}

Made made_of(const frontend::DataReader& reader, const ReaderRequest& request, bool pairs, const std::string& input) {
  const auto* words = words_of(reader, input);
  if (pairs) return words == nullptr ? Made{} : made_of_pair(request, words->at(0).text);
  Made made{.word = unit_of(reader, input)};
  if (words != nullptr && !find_reader(reader.op)->one_text)
    for (const frontend::Named& word : *words) made.of.push_back(word.text);
  return made;
}

// Names the tokens of synthetic texts, if the tokenizer has them: weights for other texts may lack them.
void name_drawn(TextSettings& settings, const std::string& tokenizer, bool begin, bool end) {
  const SourceFile file{"", tokenizer};
  const runtime::text::Tokenizer known = runtime::text::read_tokenizer_json(file);
  if (known.find("<pad>")) settings.padding = "<pad>";
  if (begin && known.find("<begin>")) settings.begin = "<begin>";
  if (end && known.find("<end>")) settings.end = "<end>";
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
  pairs_ = gives_pairs(*reader);
  TextSettings settings;
  if (has_settings) settings = text_settings(request);
  for (const auto& [name, words] : reader->columns)
    settings.lengths |= made_of(*reader, request, pairs_, name).word == "length";
  for (size_t i = 0; i < numbers.size(); ++i) {
    Input& input = inputs_[i];
    input.request = &predictor.inputs()[numbers[i]].request;
    const Made made = made_of(*reader, request, pairs_, input.request->input);
    input.of = made.of;
    input.size = made.word == "length";
    const auto unit = text_unit(made.word);
    if (!unit || input.request->tokenizer.empty()) continue;
    input.settings = settings;
    if (!has_settings)
      name_drawn(input.settings, input.request->tokenizer, pairs_ && made.shape.begin, pairs_ && made.shape.end);
    input.rows = std::make_unique<TextRows>(*input.request, *unit, input.settings, made.shape);
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
    if (one.rows == nullptr || !one.filled || one.of != size.of) continue;
    one.rows->store_size(text_type(*size.request), to);
    return size.filled = true;
  }
  return false;
}

}  // namespace heddle::tools
