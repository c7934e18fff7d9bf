// Rows of a text: each line is the text of a row.
#include <fmt/format.h>

#include <memory>

#include "runtime/text/unicode.h"
#include "tools/predict/lines.h"
#include "tools/predict/row_source.h"
#include "tools/predict/text_inputs.h"

namespace heddle::tools {
namespace {

struct TextLines {
  TextLines(const driver::Predictor& predictor, const SourceRequest& asked)
      : name(asked.name()), lines(asked), numbers(asked.inputs), texts(predictor, asked.inputs) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      requests.push_back(&predictor.inputs()[numbers[i]].request);
      if (!texts.takes_text(i) && !(texts.is_size(i) && texts.any()))
        throw UserError(ExitCode::usage,
                        fmt::format("--in {}: lines of text do not fill the input '{}'", name, requests[i]->input),
                        help(predictor, *requests[i]));
    }
    require_one_text();
  }

  // A line fills all inputs of one text, and their lengths.
  void require_one_text() const {
    size_t one = 0;
    while (one < requests.size() && !texts.takes_text(one)) ++one;
    for (size_t other = 0; other < requests.size(); ++other) {
      if (texts.have_one_text(one, other)) continue;
      const std::string &first = requests[one]->input, &second = requests[other]->input;
      throw UserError(
          ExitCode::usage,
          fmt::format("--in {}: a line is one text, and the inputs '{}' and '{}' have two", name, first, second),
          fmt::format("{}a row of both is a line of jsonl: {{\"{}\": TEXT, \"{}\": TEXT}}",
                      texts.pairs() ? "heddle generate writes what a source becomes; " : "", first, second));
    }
  }

  static std::string help(const driver::Predictor& predictor, const runtime::data::ColumnRequest& request) {
    if (request.tokenizer.empty())
      return "weights keep a tokenizer where the model was trained on text; give ids as npy or jsonl";
    const auto& train = predictor.data().train;
    return fmt::format(
        "the weights have a tokenizer for it, but no row of the model's reader{} is a line of text; give "
        "ids as npy or jsonl",
        train ? ", '" + train->op + "'," : "");
  }

  int64_t fill(int64_t most, PredictRows& into) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      runtime::data::Column& column = into.columns.at(numbers[i]);
      column = {.input = requests[i]->input, .type = text_type(*requests[i]), .dims = requests[i]->dims};
      column.bytes.resize(static_cast<size_t>(most * column.row_bytes()));
    }
    held.rethrow();
    int64_t count = 0;
    std::string line;
    while (count < most && (count == 0 || lines.ready()) && lines.next(line)) {
      if (line.empty()) {  // as in files that are trained with
        ++empty;
        continue;
      }
      if (!held.try_row(count, [&] { read(line, count, into); })) break;
      ++count;
    }
    return count;
  }

  void read(const std::string& line, int64_t row, PredictRows& into) {
    const auto fail = [&](size_t offset, const std::string& message, const std::string& help) {
      throw UserError(Location{}, fmt::format("{}:{}:{}: {}", name, lines.number, offset + 1, message), help);
    };
    require_utf8(line, fail);
    texts.begin_row();
    const auto place = [&](size_t i) {
      runtime::data::Column& column = into.columns[numbers[i]];
      return column.bytes.data() + row * column.row_bytes();
    };
    for (size_t i = 0; i < numbers.size(); ++i) texts.put_text(i, line, place(i), fail);
    for (size_t i = 0; i < numbers.size(); ++i)
      if (!texts.takes_text(i)) texts.put_size(i, place(i));
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes = texts.notes();
    if (empty > 0)
      notes.push_back(fmt::format("{} empty line{} no row; in a line of jsonl a text may be empty", empty,
                                  empty == 1 ? " is" : "s are"));
    return notes;
  }

  static void require_utf8(const std::string& line, const runtime::data::TextCoder::Fail& fail) {
    const SourceFile alone{"", line};
    try {
      runtime::text::require_utf8(alone);
    } catch (const UserError& error) {
      const Diagnostic& fault = error.diagnostics().front();
      fail(fault.where.begin, fault.message, fault.help);
    }
  }

  std::string name;
  Lines lines;
  HeldFault held;
  std::vector<size_t> numbers;
  std::vector<const runtime::data::ColumnRequest*> requests;
  TextInputs texts;
  int64_t empty = 0;  // lines
};

}  // namespace

OpenedSource open_text(const driver::Predictor& predictor, const SourceRequest& asked) {
  const auto rows = std::make_shared<TextLines>(predictor, asked);
  return {asked.name(), asked.inputs, [rows](int64_t most, PredictRows& into) { return rows->fill(most, into); },
          [rows] { return rows->notes(); }};
}

}  // namespace heddle::tools
