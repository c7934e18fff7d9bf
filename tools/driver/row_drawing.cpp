#include "tools/driver/row_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "frontend/row_drawing.h"
#include "ir/check.h"
#include "runtime/data/printable.h"

namespace heddle::driver {
namespace {

using frontend::Named;
using runtime::data::Column;
using runtime::data::kNoKind;
using runtime::data::numbered;
using runtime::data::ReaderRequest;
using runtime::data::RowKinds;
using runtime::data::Table;

// Of rows with one element each.
template <class T>
std::vector<T> elements(const Column& column, int64_t rows) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(rows));
  runtime::data::visit(column.type, [&](auto value) {
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      std::memcpy(&value, column.content().data() + row * sizeof value, sizeof value);
      out.push_back(static_cast<T>(value));
    }
  });
  return out;
}

template <class T>
std::vector<T> of_training(const std::vector<T>& all, const std::vector<uint8_t>& held) {
  std::vector<T> out;
  for (size_t row = 0; row < all.size(); ++row)
    if (held.empty() || held[row] == 0) out.push_back(all[row]);
  return out;
}

std::string class_text(int64_t c, const std::vector<std::string>& names) {
  const auto i = static_cast<size_t>(c);
  return i < names.size() ? "'" + runtime::data::printable(names[i]) + "'" : std::to_string(c);
}

// Labels: how many classes there are is known, and what is ignored is drawn as no class.
RowKinds labelled(const Named& word, const std::vector<int64_t>& labels, int64_t classes,
                  const std::vector<std::string>& names) {
  RowKinds kinds{.of_row = {}, .count = static_cast<uint32_t>(classes)};
  std::vector<uint8_t> found(static_cast<size_t>(classes));
  for (const int64_t label : labels) {
    const bool is_class = label >= 0 && label < classes;
    kinds.of_row.push_back(is_class ? static_cast<uint32_t>(label) : kNoKind);
    if (is_class) found[static_cast<size_t>(label)] = 1;
  }
  if (const auto none = std::ranges::find(found, 0); none != found.end())
    throw UserError(word.where,
                    fmt::format("data: draw: 'balance': no training row is of class {} of input '{}', so that none can "
                                "be drawn",
                                class_text(none - found.begin(), names), word.text),
                    "leave the class out of the model, or give rows \"weights\"");
  return kinds;
}

RowKinds kinds_of(const Named& word, const Table& train, const ReaderRequest& request,
                  const std::filesystem::path& root, const std::vector<uint8_t>& held) {
  const Column* column = train.find(word.text);
  // The column that labels are read from means the labels.
  const auto of_labels = [&](const runtime::data::ColumnRequest& c) {
    return c.sources.size() == 1 && c.sources[0].text == word.text && (c.classes > 0 || !c.class_names.empty());
  };
  if (const auto labels = std::ranges::find_if(request.columns, of_labels);
      column == nullptr && labels != request.columns.end() && train.find(labels->input) != nullptr)
    return kinds_of({labels->input, word.where}, train, request, root, held);
  if (column == nullptr)
    return numbered(
        of_training(runtime::data::find_reader(request.op)->values(request, root, {word.text, word.where}), held));
  const auto asked = std::ranges::find(request.columns, word.text, &runtime::data::ColumnRequest::input);
  HEDDLE_CHECK(asked != request.columns.end(), "a column of the table is asked for");
  const auto labels = elements<int64_t>(*column, train.rows);
  const int64_t classes =
      asked->class_names.empty() ? asked->looked_up ? 0 : asked->classes : std::ssize(asked->class_names);
  return classes > 0 ? labelled(word, labels, classes, asked->class_names) : numbered(labels);
}

// A column that feeds no input is read as if it fed one.
std::vector<double> read_numbers(const Named& word, ReaderRequest request, const std::filesystem::path& root) {
  request.columns.push_back(
      {.input = word.text, .sources = {{word.text, word.where}}, .dtype = "f64", .dims = {}, .where = word.where});
  const Table table = runtime::data::read_table(request, root);
  return elements<double>(table.columns.back(), table.rows);
}

std::vector<double> weights_of(const Named& word, const Table& train, const ReaderRequest& request,
                               const std::filesystem::path& root, const std::vector<uint8_t>& held) {
  const Column* column = train.find(word.text);
  std::vector<double> weights =
      column != nullptr ? elements<double>(*column, train.rows) : of_training(read_numbers(word, request, root), held);
  double sum = 0;
  for (size_t row = 0; row < weights.size(); ++row) {
    if (!(weights[row] >= 0) || std::isinf(weights[row]))
      throw UserError(word.where,
                      fmt::format("data: draw: 'weights': '{}' is {} in training row {}, counted from 0", word.text,
                                  weights[row], row),
                      "a weight is 0 or more: how frequent the row is beside the others");
    sum += weights[row];
  }
  if (sum == 0 || std::isinf(sum))
    throw UserError(word.where,
                    sum == 0 ? fmt::format("data: draw: 'weights': '{}' is 0 in all training rows", word.text)
                             : fmt::format("data: draw: 'weights': the sum of '{}' is out of range", word.text),
                    sum == 0 ? "a row of weight 0 is never drawn" : "divide all weights by the same number");
  return weights;
}

}  // namespace

std::optional<runtime::data::RowDraw> row_drawing(const frontend::TrainingPlan& plan, const Table& train,
                                                  const ReaderRequest& request, const std::filesystem::path& root,
                                                  const std::vector<uint8_t>& held) {
  const std::optional<frontend::RowDrawing> drawing = frontend::row_drawing(plan.data);
  if (!drawing) return std::nullopt;
  if (drawing->balances) return runtime::data::balanced_draw(kinds_of(drawing->source, train, request, root, held));
  return runtime::data::weighted_draw(weights_of(drawing->source, train, request, root, held));
}

}  // namespace heddle::driver
