#include "ir/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace heddle {
namespace {

constexpr size_t kMaxLineShown = 160;  // bytes of a source line around the caret

const char* label(Severity s) {
  switch (s) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

const char* color_code(Severity s) {
  switch (s) {
    case Severity::error: return "\033[1;31m";
    case Severity::warning: return "\033[1;35m";
    case Severity::note: return "\033[1;36m";
  }
  return "";
}

// Control characters of a file must not reach the terminal, including those from U+0080 to U+009F.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = byte >= 0x80 && byte < 0xa0 && !out.empty() && out.back() == '\xc2';
    if (upper) out.pop_back();
    out += upper || byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

// The lines of a text that may hold words of a user's file.
std::string printable_lines(std::string_view text) {
  std::string out;
  for (size_t end = 0; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, end));
    if (end < text.size()) out += text[end++];
  }
  return out;
}

size_t line_begin(const std::string& text, size_t at) {
  const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

// The source line under `where`, with a caret and a tail of tildes; long lines are cut around the caret.
std::string snippet(const Location& where) {
  const std::string& text = where.file->text;
  const size_t at = std::min<size_t>(where.begin, text.size());
  size_t begin = line_begin(text, at);
  size_t end = std::min(text.find('\n', at), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  end = std::max(end, at);
  if (at - begin > kMaxLineShown / 2) begin = at - kMaxLineShown / 2;
  end = std::min(end, begin + kMaxLineShown);
  while (begin < at && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    ++begin;  // not inside a UTF-8 character
  const size_t stop = std::clamp<size_t>(where.end, at + 1, std::max(end, at + 1));
  const auto columns = [&](size_t from, size_t to) {
    return static_cast<size_t>(std::count_if(text.begin() + static_cast<std::ptrdiff_t>(from),
                                             text.begin() + static_cast<std::ptrdiff_t>(std::min(to, text.size())),
                                             [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  };
  const std::string tildes(std::max<size_t>(columns(at, stop), 1) - 1, '~');
  return fmt::format("{:>5} | {}\n      | {}^{}\n", line_column(where).line,
                     printable({text.data() + begin, end - begin}), std::string(columns(begin, at), ' '), tildes);
}

// A model that was built by calls has locations, but no text (tools/api/built_json.h).
bool has_text(const Location& where) { return where.begin <= where.end; }

void render_into(std::string& out, const Diagnostic& d, bool color) {
  const std::string message = printable_lines(d.message);
  if (d.where.valid()) out += to_string(d.where) + ": ";
  out += color ? fmt::format("{}{}:\033[0m {}\n", color_code(d.severity), label(d.severity), message)
               : fmt::format("{}: {}\n", label(d.severity), message);
  if (d.where.valid() && has_text(d.where)) out += snippet(d.where);
  for (const Diagnostic& note : d.notes) render_into(out, note, color);
  if (!d.help.empty()) out += fmt::format("help: {}\n", printable_lines(d.help));
}

}  // namespace

LineColumn line_column(const Location& where) {
  const std::string& text = where.file->text;
  const size_t at = std::min<size_t>(where.begin, text.size());
  // From line end to line end: generated text names the place of each of its values, and this is
  // asked thousands of times.
  const std::string_view before(text.data(), at);
  int line = 1;
  size_t begin = 0;
  for (size_t end; (end = before.find('\n', begin)) != std::string_view::npos; begin = end + 1) ++line;
  return {line, static_cast<int>(at - begin) + 1};
}

std::string to_string(const Location& where) {
  if (!where.valid()) return "";
  if (!has_text(where)) return printable(where.file->name);
  const LineColumn at = line_column(where);
  return fmt::format("{}:{}:{}", printable(where.file->name), at.line, at.column);
}

std::string render(const Diagnostic& diagnostic, bool color) {
  std::string out;
  render_into(out, diagnostic, color);
  return out;
}

UserError::UserError(const Location& where, std::string message, std::string help, std::vector<Diagnostic> notes)
    : UserError(
          std::vector<Diagnostic>{{Severity::error, where, std::move(message), std::move(notes), std::move(help)}}) {}

UserError::UserError(std::vector<Diagnostic> diagnostics, ExitCode code)
    : diagnostics_(std::move(diagnostics)), code_(code) {
  for (const Diagnostic& d : diagnostics_) text_ += render(d);
}

UserError::UserError(ExitCode code, std::string message, std::string help)
    : UserError(Location{}, std::move(message), std::move(help)) {
  code_ = code;
}

void Diagnostics::error(const Location& where, std::string message, std::string help, std::vector<Diagnostic> notes) {
  list_.push_back({Severity::error, where, std::move(message), std::move(notes), std::move(help)});
  if (list_.size() >= kMaxErrors) throw_if_any();
}

void Diagnostics::add(const UserError& error) {
  for (const Diagnostic& d : error.diagnostics()) {
    list_.push_back(d);
    if (list_.size() >= kMaxErrors) throw_if_any();
  }
}

void Diagnostics::throw_if_any() {
  if (!list_.empty()) throw UserError(std::move(list_));
}

namespace {

// Edit distance with neighbour swaps (Damerau 1964, optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

// A one-letter word has no letter in common with any other one-letter word. It can only mean the single candidate of
// one letter, if there is exactly one.
std::string only_letter(const std::vector<std::string>& candidates) {
  std::string found;
  for (const std::string& c : candidates) {
    if (c.size() != 1 || c == found) continue;
    if (!found.empty()) return "";
    found = c;
  }
  return found;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > 64) return "";
  if (word.size() == 1) return only_letter(candidates);
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& c : candidates)
    if (const size_t d = edit_distance(word, c); d < best) {
      best = d;
      found = c;
    }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("did you mean '{}'?", found);
}

}  // namespace heddle
