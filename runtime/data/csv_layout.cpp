#include "runtime/data/csv_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "ir/diagnostic.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"

namespace heddle::runtime::data {

CsvLayout::CsvLayout(const ReaderRequest& request, const std::filesystem::path& root)
    : where_(request.place("file")),
      dialect_(csv_dialect(request.settings, request.where)),
      headed_(request.flag("header")) {
  find_files(request, root);
  read_titles();
}

void CsvLayout::find_files(const ReaderRequest& request, const std::filesystem::path& root) {
  for (const std::string& pattern : request.texts("file"))
    for (std::string& file : matching(root, pattern, where_)) {
      if (std::ranges::find(files_, file, &File::name) != files_.end())
        throw UserError(where_, fmt::format("{}: its rows would be read twice", file),
                        "name it once: another name with * stands for it, too");
      files_.push_back({file, resolve(root, file, where_)});
    }
}

std::vector<std::string> CsvLayout::notes() const {
  std::vector<std::string> notes;
  if (dialect_.delimiter != kTold) return notes;
  char before = '\0';
  for (size_t i = 0; i < files_.size(); ++i) {
    const char delimiter = open(i).delimiter();
    if (delimiter != before)
      notes.push_back(fmt::format("{}: fields are separated by {}", files_[i].name, shown_delimiter(delimiter)));
    before = delimiter;
  }
  return notes;
}

void CsvLayout::read_titles() {
  CsvFile file = open(0);
  std::vector<CsvField> fields;
  if (!file.next(fields)) empty(0);
  width_ = fields.size();
  delimiter_ = file.delimiter();
  header_line_ = fields[0].line;
  if (!headed_) return;
  for (const CsvField& f : fields) {
    Title& title = places_[titles_.emplace_back(f.text)];
    if (title.count++ == 0) title.field = titles_.size() - 1;
  }
}

void CsvLayout::take_header(CsvFile& file, size_t number, std::vector<CsvField>& fields) const {
  const bool read = file.next(fields);
  if (number == 0) return;  // where it is gone, the rows are, too
  if (!read) empty(number);
  require_header(fields, file);
}

void CsvLayout::empty(size_t file) const {
  throw UserError(where_, fmt::format("{}: the file is empty{}", files_[file].name,
                                      dialect_.skip > 0 ? " behind the lines that 'skip' leaves out" : ""));
}

// Checks the header of a file after the first.
void CsvLayout::require_header(const std::vector<CsvField>& fields, const CsvFile& file) const {
  const std::string help = "files of one table have one header; a reader of its own reads another one";
  if (fields.size() != titles_.size())
    file.fail(fields[0].line, fields[0].column,
              fmt::format("{} columns, but {} has {}", fields.size(), name(), titles_.size()), help);
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].text != titles_[i])
      file.fail(fields[i].line, fields[i].column,
                fmt::format("column {} is called '{}', in {} '{}'", i, printable(fields[i].text), name(),
                            printable(titles_[i])),
                help);
}

void CsvLayout::ragged(const std::vector<CsvField>& fields, const CsvFile& file, size_t number) const {
  std::string help;
  if (!dialect_.comma_divides && file.delimiter() == ',')
    help = "a decimal comma separates two fields, where it is not quoted; \"delimiter\": \";\" is usual with it";
  file.fail(fields[0].line, fields[0].column,
            number == 0 ? fmt::format("{} fields, but the first line has {}", fields.size(), width_)
                        : fmt::format("{} fields, but the first line of {} has {}", fields.size(), name(), width_),
            help);
}

std::string CsvLayout::title(size_t field) const {
  return titles_.empty() ? std::to_string(field) : "'" + printable(titles_[field]) + "'";
}

std::optional<size_t> CsvLayout::find(std::string_view word, const Location& where) const {
  if (const auto title = places_.find(word); title != places_.end()) {
    if (title->second.count == 1) return title->second.field;
    throw UserError(where, fmt::format("{}: {} columns are called '{}'", name(), title->second.count, printable(word)),
                    "name it by its index, counted from 0");
  }
  size_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error == std::errc{} && end == word.data() + word.size() && index < width_) return index;
  return std::nullopt;
}

void CsvLayout::add_fields(const Source& source, std::vector<size_t>& fields) const {
  const auto& [word, where] = source;
  const auto one = find(word, where);
  const size_t colon = word.find(':');
  if (one || colon == std::string::npos) {
    if (!one) unknown(source);
    fields.push_back(*one);
    return;
  }
  const auto first = find(word.substr(0, colon), where), last = find(word.substr(colon + 1), where);
  if (!first || !last) unknown(source);
  if (*last < *first)
    throw UserError(where, fmt::format("{}: '{}' ends before it begins", name(), printable(word)),
                    order_of(*first, *last));
  for (size_t i = *first; i <= *last; ++i) fields.push_back(i);
}

// The help where a range ends before it begins. Numbers in the first line become names, which is seldom meant.
std::string CsvLayout::order_of(size_t first, size_t last) const {
  if (titles_.empty()) return {};
  return fmt::format("line {} names column {} {} and column {} {}; where it is a row, \"header\": false", header_line_,
                     last, title(last), first, title(first));
}

void CsvLayout::unknown(const Source& source) const {
  const auto& [word, where] = source;
  throw UserError(where, fmt::format("{}: there is no column '{}', of {}", name(), printable(word), width_),
                  known_columns(word));
}

// A help that lists the names of the columns, so that blanks or a wrong delimiter become visible.
std::string CsvLayout::known_columns(const std::string& word) const {
  constexpr size_t kShown = 12, kMostBytes = 40;
  if (titles_.empty()) return fmt::format("columns are counted from 0: 0 to {}", width_ - 1);
  if (titles_.size() > kShown && !nearest(word, titles_).empty()) return did_you_mean(word, titles_);
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(titles_.size(), kShown); ++i)
    shown.push_back("'" + printable(titles_[i].substr(0, kMostBytes)) +
                    (titles_[i].size() > kMostBytes ? "...'" : "'"));
  if (titles_.size() > kShown) shown.emplace_back("...");
  const std::string help = fmt::format("line {} names {}", header_line_, fmt::join(shown, ", "));
  return width_ > 1 ? help
                    : help + fmt::format("; they are separated by '{}': 'delimiter' says otherwise",
                                         printable(std::string(1, delimiter_)));
}

std::string CsvLayout::word(size_t field) const {
  return titles_.empty() ? std::to_string(field) : printable(titles_[field]);
}

}  // namespace heddle::runtime::data
