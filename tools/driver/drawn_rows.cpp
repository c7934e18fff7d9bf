#include "tools/driver/drawn_rows.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "frontend/json/json.h"
#include "runtime/data/draw_folds.h"
#include "runtime/data/draw_rows.h"
#include "runtime/data/printable.h"

namespace heddle::driver {
namespace {

using runtime::data::Column;
using runtime::data::numbered;
using runtime::data::ReaderRequest;

constexpr const char* kOtherGroups =
    "another seed of \"draw\" makes other groups meet; without \"by\" classes count for nothing";

std::vector<uint64_t> hash_rows(const Column& column, int64_t rows) {
  std::vector<uint64_t> hashes(static_cast<size_t>(rows));
  const auto bytes = static_cast<size_t>(column.row_bytes());
  const std::byte* at = column.content().data();
  for (uint64_t& hash : hashes) hash = XXH3_64bits(at, bytes), at += bytes;
  return hashes;
}

std::string element_text(const Column& column, size_t row, const std::vector<std::string>& names) {
  return runtime::data::visit(column.type, [&](auto value) {
    std::memcpy(&value, column.content().data() + row * sizeof value, sizeof value);
    const auto index = static_cast<size_t>(value);
    if (value >= 0 && index < names.size()) return "'" + runtime::data::printable(names[index]) + "'";
    return fmt::format("{}", value);
  });
}

[[noreturn]] void unknown(const frontend::Named& word, const char* key, const ReaderRequest& train) {
  std::vector<std::string> inputs;
  for (const auto& column : train.columns) inputs.push_back(column.input);
  throw UserError(word.where, fmt::format("data: validation: '{}': there is no input '{}'", key, word.text),
                  frontend::suggest(word.text, inputs));
}

// Whether the reader makes several columns of one text, so that none is read without the others: a length is that of ids.
bool reads_together(const ReaderRequest& train) {
  const runtime::data::ReaderDef* def = runtime::data::find_reader(train.op);
  if (def == nullptr || ir::find_key(def->keys, "padding") == nullptr) return false;
  return ir::find_key(def->keys, "text") == nullptr || train.find("text") != nullptr || train.find("sound") != nullptr;
}

// Of an input's column, which is read alone, or of another one of the file.
struct Read {
  runtime::data::RowKinds kinds;
  std::vector<std::string> texts = {};  // of the numbers; empty: not asked for
};
Read read_kinds(const ReaderRequest& train, const std::filesystem::path& root, const frontend::Named& word,
                const char* key, bool single) {
  ReaderRequest alone = train;
  const auto input = std::ranges::find(train.columns, word.text, &runtime::data::ColumnRequest::input);
  Read out;
  if (input == train.columns.end()) {
    const runtime::data::ReaderDef* def = runtime::data::find_reader(train.op);
    if (def == nullptr || !def->values) unknown(word, key, train);
    if (!reads_together(train)) alone.columns.resize(1);
    out.kinds = numbered(def->values(alone, root, {word.text, word.where}));
    return out;
  }
  if (!reads_together(train)) alone.columns = {*input};
  const auto place = std::ranges::find(alone.columns, word.text, &runtime::data::ColumnRequest::input);
  const runtime::data::Table table = runtime::data::read_table(alone, root);
  const Column& column = table.columns.at(static_cast<size_t>(place - alone.columns.begin()));
  if (single && column.row_elements() != 1)
    throw UserError(word.where,
                    fmt::format("data: validation: '{}' names classes by one number, a row of input '{}' has {}", key,
                                word.text, column.row_elements()),
                    "\"group\" takes rows of any shape");
  out.kinds = numbered(hash_rows(column, table.rows));
  if (!single) return out;
  out.texts.resize(out.kinds.count);
  for (size_t row = 0; row < out.kinds.of_row.size(); ++row)
    if (std::string& text = out.texts[out.kinds.of_row[row]]; text.empty())
      text = element_text(column, row, input->class_names);
  return out;
}

}  // namespace

DrawnRows::DrawnRows(const frontend::Data& data, const ReaderRequest& train, const std::filesystem::path& root,
                     int64_t rows)
    : data_(data), rows_(rows) {
  if (!data.draw->by.text.empty()) {
    Read read = read_kinds(train, root, data.draw->by, "by", /*single=*/true);
    classes_ = std::move(read.kinds.of_row), class_count_ = read.kinds.count, class_texts_ = std::move(read.texts);
  }
  if (!data.draw->group.text.empty()) {
    Read read = read_kinds(train, root, data.draw->group, "group", /*single=*/false);
    groups_ = std::move(read.kinds.of_row), group_count_ = read.kinds.count;
  }
}

std::vector<uint8_t> DrawnRows::draw(std::vector<uint8_t> kept) const {
  if (data_.draw->folds > 0) return fold(kept);
  const auto stay = std::ranges::count(kept, 1);
  std::vector<uint8_t> drawn = runtime::data::draw_rows({.rows = rows_,
                                                         .fraction = data_.validation_fraction,
                                                         .seed = static_cast<uint64_t>(data_.draw->seed),
                                                         .classes = {classes_, class_count_},
                                                         .groups = {groups_, group_count_},
                                                         .kept = std::move(kept)});
  require_both_sides(drawn, stay);
  return drawn;
}

// Each row is validated once, so none can stay with the training.
std::vector<uint8_t> DrawnRows::fold(const std::vector<uint8_t>& kept) const {
  const frontend::ValidationDraw& draw = *data_.draw;
  if (const auto strange = std::ranges::find(kept, 1); strange != kept.end())
    throw UserError(
        data_.where,
        fmt::format("fold {} of {}: row {} alone has a name or a character, and it is no training row of this fold",
                    draw.fold + 1, draw.folds, strange - kept.begin()),
        "\"unknown\" gives characters that no training row has a token, \"classes\" lists names");
  const std::vector<uint32_t> folds = runtime::data::draw_folds({.rows = rows_,
                                                                 .folds = draw.folds,
                                                                 .seed = static_cast<uint64_t>(draw.seed),
                                                                 .classes = {classes_, class_count_},
                                                                 .groups = {groups_, group_count_}});
  std::vector<uint8_t> held(folds.size());
  for (size_t row = 0; row < folds.size(); ++row) held[row] = folds[row] == static_cast<uint64_t>(draw.fold) ? 1 : 0;
  require_folds(folds);
  return held;
}

DrawnRows::ClassRows DrawnRows::rows_of_classes(const std::vector<uint8_t>& taken) const {
  ClassRows rows{std::vector<int64_t>(class_count_), std::vector<int64_t>(class_count_)};
  for (size_t row = 0; row < classes_.size(); ++row) ++rows.all[classes_[row]], rows.taken[classes_[row]] += taken[row];
  return rows;
}

bool DrawnRows::is_ignored(size_t c) const {
  return !class_texts_.empty() && class_texts_[c] == std::to_string(runtime::data::kIgnoreIndex);
}

std::string DrawnRows::name_of_class(size_t c) const {
  return class_texts_.empty() ? "one value" : "class " + class_texts_[c];
}

// All of them, whichever is asked for: the last one must not stop a cross-validation whose other folds have trained.
void DrawnRows::require_folds(const std::vector<uint32_t>& fold_of_row) const {
  const auto folds = static_cast<size_t>(data_.draw->folds);
  std::vector<int64_t> rows(folds), all(class_count_), taken(folds * class_count_);
  for (size_t row = 0; row < fold_of_row.size(); ++row) {
    ++rows[fold_of_row[row]];
    if (classes_.empty()) continue;
    ++all[classes_[row]], ++taken[fold_of_row[row] * class_count_ + classes_[row]];
  }
  for (size_t fold = 0; fold < folds; ++fold)
    require_fold(fold, rows[fold], all, std::span(taken).subspan(fold * class_count_, class_count_));
}

void DrawnRows::require_fold(size_t fold, int64_t rows, const std::vector<int64_t>& all,
                             std::span<const int64_t> in_fold) const {
  const frontend::ValidationDraw& draw = *data_.draw;
  const int64_t parts = groups_.empty() ? rows_ : int64_t{group_count_};
  if (rows == 0 || rows == rows_ || parts < draw.folds)
    throw UserError(data_.where,
                    groups_.empty() ? fmt::format("{} rows do not make {} folds", rows_, draw.folds)
                                    : fmt::format("'{}' makes {} groups of the rows, and these do not make {} folds",
                                                  draw.group.text, group_count_, draw.folds),
                    "--folds takes a smaller number");
  for (size_t c = 0; c < all.size(); ++c) {
    const bool enough = !groups_.empty() || all[c] >= draw.folds;
    if (is_ignored(c) || (enough && in_fold[c] > 0 && in_fold[c] < all[c])) continue;
    const std::string name = name_of_class(c);
    if (groups_.empty() && all[c] < draw.folds)
      throw UserError(draw.by.where,
                      fmt::format("data: validation: by '{}': {} has {} {}, which do not make {} folds", draw.by.text,
                                  name, all[c], all[c] == 1 ? "row" : "rows", draw.folds),
                      "--folds takes a smaller number; without \"by\" classes count for nothing");
    throw UserError(
        draw.by.where,
        fmt::format("data: validation: by '{}': {} has {} {}, and no {} row of fold {} of {} is of it", draw.by.text,
                    name, all[c], all[c] == 1 ? "row" : "rows", in_fold[c] == 0 ? "validation" : "training", fold + 1,
                    draw.folds),
        groups_.empty() ? "--folds takes a smaller number; without \"by\" classes count for nothing" : kOtherGroups);
  }
}

// `kept` rows could not be drawn.
void DrawnRows::require_both_sides(const std::vector<uint8_t>& drawn, int64_t kept) const {
  const auto [all, of_class] = rows_of_classes(drawn);
  for (size_t c = 0; c < all.size(); ++c) {
    if (is_ignored(c) || (of_class[c] > 0 && of_class[c] < all[c])) continue;
    const std::string name = name_of_class(c);
    const auto needed =
        static_cast<int64_t>(std::ceil(0.5 / std::min(data_.validation_fraction, 1 - data_.validation_fraction)));
    throw UserError(
        data_.draw->by.where,
        fmt::format("data: validation: by '{}': {} has {} {}, and no {} row is of it", data_.draw->by.text, name,
                    all[c], all[c] == 1 ? "row" : "rows", of_class[c] == 0 ? "validation" : "training"),
        groups_.empty()
            ? fmt::format(
                  "a fraction of {} needs {} rows of each class or more; without \"by\" the rows are drawn as a "
                  "whole",
                  data_.validation_fraction, std::max<int64_t>(needed, 2))
            : kOtherGroups);
  }
  const auto held = std::ranges::count(drawn, 1);
  if (held == 0 || held == rows_) {
    std::string why, help = fmt::format("each row is {:.3g} of all", 1 / static_cast<double>(rows_));
    if (!groups_.empty()) {
      why = fmt::format("; '{}' makes {} {} of them", data_.draw->group.text, group_count_,
                        group_count_ == 1 ? "group" : "groups");
      help = "a group is on one side as a whole: group by what more rows differ in";
    }
    if (kept > 0) {
      why = fmt::format("; {} rows stay, which alone have a name or a character", kept);
      help = "\"unknown\" gives characters that no training row has a token, \"classes\" lists names";
    }
    throw UserError(data_.fraction_where,
                    fmt::format("a validation fraction of {} of {} rows leaves {} empty{}", data_.validation_fraction,
                                rows_, held == 0 ? "the validation" : "the training", why),
                    help);
  }
}

}  // namespace heddle::driver
