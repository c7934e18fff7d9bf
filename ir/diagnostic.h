// Diagnostics: messages about errors in a user's file. Each says what is wrong and where, and may have notes and a
// help.
//
//   cnn.json:14:47: error: conv2d 'conv2': kernel 3 is larger than input height 2
//      14 |     {"name": "conv2", "op": "conv2d", "filters": 64, "kernel": 3},
//         |                                                                ^
//   cnn.json:13:5: note: input [N,2,2,32] comes from max_pool2d here
//   help: use "pad": "same", or drop one pooling layer
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// A text that diagnostics point into. It must outlive every Location into it; the opener of a file keeps it alive.
struct SourceFile {
  std::string name;  // as the user wrote it
  std::string text;
};

// A byte range of a source file. A null file means "no place": the message is printed without one.
struct Location {
  const SourceFile* file = nullptr;
  uint32_t begin = 0, end = 0;
  bool valid() const { return file != nullptr; }
  bool operator==(const Location&) const = default;
};

struct LineColumn {
  int line = 0, column = 0;  // both count from 1; columns are bytes
};
LineColumn line_column(const Location& where);

// "model.json:12:5", or "" for no place.
std::string to_string(const Location& where);

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Location where;
  std::string message;            // lower case, no period, what was expected and what was found
  std::vector<Diagnostic> notes;  // further locations, such as the origin of the other operand
  std::string help;               // a remedy, empty where none is known
};

// The text as in the example at the top. Control characters of the source line are shown as '?'.
std::string render(const Diagnostic& diagnostic, bool color = false);

// The exit codes of the command line.
enum class ExitCode { ok = 0, failed = 1, usage = 2, missing = 3, limit = 4 };

// The one exception for user errors; holds at least one error. Caught once, in main.
class UserError : public std::exception {
 public:
  UserError(const Location& where, std::string message, std::string help = {}, std::vector<Diagnostic> notes = {});
  explicit UserError(std::vector<Diagnostic> diagnostics, ExitCode code = ExitCode::failed);
  // An error that is not about a file: a missing library (ExitCode::missing), a limit, a wrong command line.
  UserError(ExitCode code, std::string message, std::string help = {});

  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  ExitCode code() const { return code_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  ExitCode code_ = ExitCode::failed;
  std::string text_;
};

// Collects the errors of one phase, so that a user sees all of them at once (at most kMaxErrors).
class Diagnostics {
 public:
  static constexpr size_t kMaxErrors = 20;
  void error(const Location& where, std::string message, std::string help = {}, std::vector<Diagnostic> notes = {});
  void add(const UserError& error);
  bool empty() const { return list_.empty(); }
  void throw_if_any();  // throws UserError with everything collected

 private:
  std::vector<Diagnostic> list_;
};

// The candidate closest to `word` by edit distance, or "" if none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// "did you mean 'relu'?", or "" when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heddle
