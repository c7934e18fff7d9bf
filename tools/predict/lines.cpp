#include "tools/predict/lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/files/file.h"

namespace heddle::tools {
namespace {

constexpr size_t kMostLineBytes = size_t{1} << 24;

runtime::data::InputFile open(const SourceRequest& asked) {
  if (asked.path == "-") return {STDIN_FILENO, asked.name(), {}};
  runtime::File(asked.path, O_RDONLY | O_NONBLOCK, 0, asked.path).size();  // a regular file, or it says so
  return {asked.path, asked.path, {}};
}

}  // namespace

Lines::Lines(const SourceRequest& asked) : in_(open(asked)) {}

bool Lines::next(std::string& line) {
  while (end_line() == std::string::npos && more()) {
  }
  if (text_.size() == at_) return false;
  const size_t end = end_line();
  line.assign(text_, at_, end == std::string::npos ? std::string::npos : end - at_);
  at_ = end == std::string::npos ? text_.size() : end + 1;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  ++number;
  return true;
}

bool Lines::ready() {
  while (end_line() == std::string::npos && !ended_ && in_.ready()) more();
  return ended_ || end_line() != std::string::npos;
}

size_t Lines::end_line() {
  const size_t end = text_.find('\n', std::max(at_, searched_));
  searched_ = end == std::string::npos ? text_.size() : at_;
  return end;
}

bool Lines::more() {
  if (ended_) return false;
  text_.erase(0, at_);
  at_ = 0, searched_ = text_.size();  // asked for only where no end of a line is in it
  if (text_.size() > kMostLineBytes)
    in_.fail(fmt::format("line {} has more than {} bytes", number + 1, kMostLineBytes),
             "each row is a line of its own");
  constexpr size_t kPiece = size_t{1} << 16;
  const size_t had = text_.size();
  text_.resize(had + kPiece);
  const size_t got = in_.read(reinterpret_cast<std::byte*>(text_.data()) + had, kPiece);
  text_.resize(had + got);
  ended_ = got == 0;
  return got > 0;
}

}  // namespace heddle::tools
