#include "runtime/data/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::runtime::data {

CsvFile::CsvFile(const std::filesystem::path& file, const std::string& name, const Location& where,
                 const CsvDialect& dialect)
    : in_(file, name, where), name_(name), where_(where), buffer_(size_t{1} << 18) {
  begin(dialect);
}

CsvFile::CsvFile(int descriptor, const std::string& name, const Location& where, const CsvDialect& dialect)
    : in_(descriptor, name, where), name_(name), where_(where), streamed_(true), buffer_(size_t{1} << 18) {
  begin(dialect);
}

void CsvFile::begin(const CsvDialect& dialect) {
  quote_ = dialect.quote, comment_ = dialect.comment;
  skip_mark();
  skip_lines(dialect.skip);
  delimiter_ = dialect.delimiter;
  if (delimiter_ == kTold) tell_delimiter(dialect);
}

void CsvFile::skip_lines(int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!skip_line())
      throw UserError(where_,
                      fmt::format("{}: the file ends after {} lines, and 'skip' leaves out {}", name_, i, count),
                      "\"skip\" counts the lines that stand before the header");
}

bool CsvFile::skip_line() {
  if (peek() < 0) return false;
  while (peek() >= 0) {
    const auto* begin = buffer_.data() + at_;
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', end_ - at_));
    const size_t size = end == nullptr ? end_ - at_ : static_cast<size_t>(end - begin) + 1;
    at_ += size;
    if (end == nullptr) continue;
    break;
  }
  ++line_, column_ = 1;
  return true;
}

bool CsvFile::comment_line() { return peek() == comment_ && skip_line(); }

// Reads more of the file into the buffer. Returns false where the buffer is full or the file ends.
bool CsvFile::more() {
  std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  end_ -= at_, at_ = 0;
  const size_t got = in_.read(reinterpret_cast<std::byte*>(buffer_.data()) + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

// Of a stream only the first record is used, because it is chance how many more have arrived.
void CsvFile::tell_delimiter(const CsvDialect& dialect) {
  const size_t most = streamed_ ? 1 : kToldRecords;
  ToldDelimiter told;
  for (bool whole = false;; whole = !more()) {
    told = told_delimiter(std::string_view(buffer_.data() + at_, end_ - at_), whole, dialect, most);
    if (whole && told.records == 0) told.delimiter = ',';  // of an empty file
    if (whole || told.records == most || end_ - at_ == buffer_.size()) break;
  }
  if (!told.delimiter)
    fail(line_, 1,
         fmt::format("the first {} lines do not tell the delimiter: a tab, ';', '|' and ',' vary in them",
                     std::max<size_t>(told.records, 1)),
         "say it, such as \"delimiter\": \";\"");
  delimiter_ = static_cast<unsigned char>(*told.delimiter);
}

bool CsvFile::ready() {
  while (comment_ >= 0 && at_ < end_ && peek() == comment_ &&
         std::memchr(buffer_.data() + at_, '\n', end_ - at_) != nullptr)
    comment_line();
  if (at_ == end_ && in_.ready()) peek();
  if (at_ == end_) return in_.ready();
  return std::memchr(buffer_.data() + at_, '\n', end_ - at_) != nullptr;
}

void CsvFile::fail(int64_t line, int64_t column, const std::string& message, const std::string& help,
                   const std::vector<Diagnostic>& notes) const {
  throw UserError(where_, fmt::format("{}:{}:{}: {}", name_, line, column, message), help, notes);
}

int CsvFile::peek() {
  if (at_ == end_) {
    at_ = 0, end_ = in_.read(reinterpret_cast<std::byte*>(buffer_.data()), buffer_.size());
    if (end_ == 0) return -1;
  }
  return static_cast<unsigned char>(buffer_[at_]);
}

void CsvFile::take() { ++at_, ++column_; }

void CsvFile::skip_mark() {
  if (peek() == 0xEF && end_ >= 3 && buffer_[1] == '\xBB' && buffer_[2] == '\xBF') at_ = 3;
}

bool CsvFile::end_line() {
  if (peek() == '\r') {
    take();
    if (peek() != '\n' && peek() >= 0) fail(line_, column_ - 1, "a carriage return without a line feed");
    if (peek() < 0) return true;
  }
  if (peek() != '\n') return false;
  take();
  ++line_, column_ = 1;
  return true;
}

void CsvFile::add(char c) {
  if (c == '\0') fail(line_, column_, "a zero byte: the file is no text");
  if (text_.size() == kMaxCsvRecord)
    fail(line_, column_, fmt::format("a record of more than {} bytes", kMaxCsvRecord), "is a quotation mark missing?");
  text_ += c;
}

void CsvFile::read_plain() {
  for (int c = peek(); c >= 0 && c != delimiter_ && c != '\n' && c != '\r'; c = peek()) {
    if (c == quote_)
      fail(line_, column_, "a quotation mark inside a field that does not begin with one",
           "quote the whole field and double the marks in it");
    add(static_cast<char>(c));
    take();
  }
}

void CsvFile::read_quoted() {
  const int64_t line = line_, column = column_;
  for (take();;) {
    const int c = peek();
    if (c < 0) fail(line, column, "the quotation mark is never closed");
    take();
    if (c == quote_) {
      if (peek() != quote_) break;
      take();
    }
    add(static_cast<char>(c));
    if (c == '\n') ++line_, column_ = 1;
  }
  const int c = peek();
  if (c >= 0 && c != delimiter_ && c != '\n' && c != '\r')
    fail(line_, column_, "text behind the closing quotation mark", "double the quotation marks inside a field");
}

bool CsvFile::next(std::vector<CsvField>& fields) {
  while (end_line() || comment_line()) {
  }
  if (peek() < 0) return false;
  text_.clear(), begins_.clear(), fields.clear();
  for (bool more = true; more;) {
    if (fields.size() == kMaxCsvFields) fail(line_, column_, fmt::format("more than {} fields", kMaxCsvFields));
    fields.push_back({.text = {}, .line = line_, .column = column_});
    begins_.push_back(text_.size());
    if (peek() == quote_) {
      read_quoted();
    } else {
      read_plain();
    }
    more = peek() == delimiter_;
    if (more) take();
  }
  end_line();
  begins_.push_back(text_.size());
  for (size_t i = 0; i < fields.size(); ++i)
    fields[i].text = std::string_view(text_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  return true;
}

}  // namespace heddle::runtime::data
