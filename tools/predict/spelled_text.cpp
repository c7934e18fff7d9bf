#include "tools/predict/spelled_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::tools {
namespace {

using driver::PredictOutput;
using driver::SpelledText;

const PredictOutput& require_spelled(const driver::Predictor& predictor) {
  const PredictOutput& output = predictor.outputs().at(0);
  if (predictor.outputs().size() > 1 || !output.spelled || output.dims.size() != 2)
    throw UserError(ExitCode::usage, "--text: no loss ctc reads what is computed, which spells no text",
                    "it is for models with {\"op\": \"ctc\"}: --output chooses the logits that the loss reads");
  const SpelledText& text = *output.spelled;
  if (!text.counted)
    throw UserError(
        ExitCode::usage,
        fmt::format("--text: the steps of a row are counted by the node '{}', which is no input", text.steps),
        fmt::format("compute both, and read the text of them: --output {} --output {}", output.name, text.steps));
  if (text.tokenizer.empty())
    throw UserError(
        ExitCode::usage,
        fmt::format("--text: the weights know no tokens of input '{}', so its numbers are no text", text.target),
        "a training on text keeps them in its weights");
  if (text.blank < 0 || text.blank >= output.dims[1])
    throw UserError(ExitCode::usage, "--text: 'blank' of the loss is not a number of a class",
                    "write the number itself, no expression");
  return output;
}

runtime::text::Tokenizer read(std::deque<SourceFile>& files, const PredictOutput& output) {
  files.push_back({"the tokenizer of the weights", output.spelled->tokenizer});
  return runtime::text::read_tokenizer_json(files.back());
}

}  // namespace

SpelledTexts::SpelledTexts(const driver::Predictor& predictor)
    : predictor_(predictor), output_(require_spelled(predictor)), tokenizer_(read(files_, output_)) {}

int64_t SpelledTexts::steps_of(const PredictRows& rows, int64_t row) const {
  const int64_t all = output_.dims[0];
  for (size_t i = 0; i < predictor_.inputs().size(); ++i) {
    if (predictor_.inputs()[i].request.input != output_.spelled->steps) continue;
    const runtime::data::Column& column = rows.columns.at(i);
    return runtime::data::visit(column.type, [&](auto value) {
      std::memcpy(&value, column.content().data() + row * column.row_bytes(), sizeof value);
      return static_cast<int64_t>(std::clamp(static_cast<double>(value), 0.0, static_cast<double>(all)));
    });
  }
  return all;
}

std::string SpelledTexts::of(const PredictRows& rows, int64_t row) const {
  const int64_t steps = steps_of(rows, row), classes = output_.dims[1], blank = output_.spelled->blank;
  const std::byte* at = predictor_.result(0).data() + row * output_.row_bytes();
  std::vector<uint32_t> ids;
  int64_t last = -1;
  for (int64_t t = 0; t < steps; ++t) {
    int64_t best = 0;
    runtime::data::visit(output_.type, [&](auto value) {
      auto largest = value;
      for (int64_t c = 0; c < classes; ++c, at += sizeof value) {
        std::memcpy(&value, at, sizeof value);
        if (c == 0 || value > largest) largest = value, best = c;
      }
    });
    if (best != last && best != blank && tokenizer_.token(static_cast<uint32_t>(best)))
      ids.push_back(static_cast<uint32_t>(best));
    last = best;
  }
  return tokenizer_.decode(ids, runtime::text::Specials::leave_out);
}

}  // namespace heddle::tools
