#include "runtime/data/text_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/input_file.h"
#include "runtime/data/path.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::data {
namespace {

// A binary file is recognised by its first piece, however large it is.
void require_no_nul(const SourceFile& file, size_t from) {
  const size_t nul = file.text.find('\0', from);
  if (nul == std::string::npos) return;
  const auto at = static_cast<uint32_t>(nul);
  throw UserError(Location{&file, at, at + 1}, "a NUL byte: the file is no text, or not UTF-8",
                  "convert the file first: iconv -f UTF-16 -t UTF-8 FILE");
}

// Pieces grow: most of a hundred thousand files are a few lines.
void read_all(InputFile& in, SourceFile& file) {
  constexpr size_t kFirstPiece = size_t{1} << 14, kPiece = size_t{1} << 20;
  for (size_t piece = kFirstPiece, got = piece; got == piece;) {
    const size_t had = file.text.size();
    if (had > kMostText) in.fail(fmt::format("more than {} bytes of text", kMostText), "make several files of it");
    piece = std::clamp(had, kFirstPiece, kPiece);
    file.text.resize(had + piece);
    got = in.read(reinterpret_cast<std::byte*>(file.text.data()) + had, piece);
    file.text.resize(had + got);
    require_no_nul(file, had);
  }
}

}  // namespace

void rethrow_with_place(const UserError& error, const Location& where) {
  const Diagnostic& first = error.diagnostics().front();
  if (!first.where.valid() || first.where == where) throw error;  // NOLINT: the error as it is
  throw UserError(where, fmt::format("{}: {}", to_string(first.where), first.message), first.help);
}

TextFile::TextFile(const std::filesystem::path& root, const std::string& name, const Location& where)
    : file_{name, {}}, where_(where) {
  const std::filesystem::path path = resolve(root, name, where);
  InputFile in(path, name, where);
  try {
    read_all(in, file_);
    text::require_utf8(file_);
  } catch (const UserError& error) {
    rethrow_with_place(error, where);
  }
  if (file_.text.starts_with("\xEF\xBB\xBF")) mark_ = 3;
}

bool TextFile::next_line(size_t& at, TextLine& line) const {
  const std::string_view all = text();
  if (at >= all.size()) return false;
  const size_t end = std::min(all.find('\n', at), all.size());
  line.text = all.substr(at, end - at);
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  ++line.number;
  at = end + 1;
  return true;
}

LineColumn TextFile::place(size_t offset) const {
  const auto at = static_cast<uint32_t>(mark_ + offset);
  return line_column({&file_, at, at + 1});
}

void TextFile::fail(int64_t line, int64_t column, const std::string& message, const std::string& help,
                    const std::vector<Diagnostic>& notes) const {
  throw UserError(where_, fmt::format("{}:{}:{}: {}", file_.name, line, column, message), help, notes);
}

}  // namespace heddle::runtime::data
