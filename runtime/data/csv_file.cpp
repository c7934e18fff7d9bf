#include "runtime/data/csv_file.h"

#include <fmt/format.h>

#include <cstring>

namespace heddle::runtime::data {

CsvFile::CsvFile(const std::filesystem::path& file, const std::string& name, const Location& where, char delimiter)
    : in_(file, name, where), name_(name), where_(where), delimiter_(delimiter), buffer_(size_t{1} << 18) {
  skip_mark();
}

CsvFile::CsvFile(int descriptor, const std::string& name, const Location& where, char delimiter)
    : in_(descriptor, name, where), name_(name), where_(where), delimiter_(delimiter), buffer_(size_t{1} << 18) {
  skip_mark();
}

bool CsvFile::ready() {
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
  for (int c = peek(); c >= 0 && c != static_cast<unsigned char>(delimiter_) && c != '\n' && c != '\r'; c = peek()) {
    if (c == '"')
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
    if (c == '"') {
      if (peek() != '"') break;
      take();
    }
    add(static_cast<char>(c));
    if (c == '\n') ++line_, column_ = 1;
  }
  const int c = peek();
  if (c >= 0 && c != static_cast<unsigned char>(delimiter_) && c != '\n' && c != '\r')
    fail(line_, column_, "text behind the closing quotation mark", "double the quotation marks inside a field");
}

bool CsvFile::next(std::vector<CsvField>& fields) {
  while (end_line()) {
  }
  if (peek() < 0) return false;
  text_.clear(), begins_.clear(), fields.clear();
  for (bool more = true; more;) {
    if (fields.size() == kMaxCsvFields) fail(line_, column_, fmt::format("more than {} fields", kMaxCsvFields));
    fields.push_back({.text = {}, .line = line_, .column = column_});
    begins_.push_back(text_.size());
    if (peek() == '"') {
      read_quoted();
    } else {
      read_plain();
    }
    more = peek() == static_cast<unsigned char>(delimiter_);
    if (more) take();
  }
  end_line();
  begins_.push_back(text_.size());
  for (size_t i = 0; i < fields.size(); ++i)
    fields[i].text = std::string_view(text_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  return true;
}

}  // namespace heddle::runtime::data
