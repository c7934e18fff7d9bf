#include "tools/command/man_page.h"

#include <fmt/format.h>

#include <string_view>

#include "ir/diagnostic.h"
#include "tools/completion/completion.h"

namespace heddle::tools {
namespace {

// Text as roff takes it: a hyphen that is copied into a shell stays one, and no line of it is a request.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    if (c == '-') out += "\\-";
    if (c == '\n') out += ' ';
    if (c != '\\' && c != '-' && c != '\n') out += c;
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string slanted(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

// What stands behind an option, by what it names.
std::string value_of(const OptionWords& option) {
  if (option.flag) return {};
  switch (option.takes) {
    case Takes::file: return " " + slanted("FILE");
    case Takes::folder: return " " + slanted("FOLDER");
    case Takes::model: return " " + slanted("MODEL");
    case Takes::anything: break;
  }
  return " " + slanted("VALUE");
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string option_text(const OptionWords& option) {
  std::string names;
  for (const std::string& name : dashed_names(option)) names += (names.empty() ? "" : ", ") + bold(name);
  if (names.empty()) return fmt::format(".TP\n{}\n{}\n", slanted(upper(option.name)), roff(option.help));
  return fmt::format(".TP\n{}{}\n{}{}\n", names, value_of(option), roff(option.help),
                     option.repeated ? "; may be given several times" : "");
}

std::string command_text(const CommandWords& command) {
  std::string text = fmt::format(".SS heddle {}", roff(command.name));
  for (const OptionWords& option : command.options)
    if (!option.name.starts_with('-')) text += " " + slanted(upper(option.name));
  text += "\n" + roff(command.help) + "\n";
  if (!command.alias.empty()) text += ".PP\n" + bold(command.alias) + " is the same word.\n";
  for (const OptionWords& option : command.options) text += option_text(option);
  return text;
}

std::string exit_codes() {
  const auto code = [](ExitCode c, std::string_view what) {
    return fmt::format(".TP\n{}\n{}\n", static_cast<int>(c), roff(what));
  };
  return code(ExitCode::ok, "all is done") +
         code(ExitCode::failed, "a file, a model or a run is at fault, as the message says") +
         code(ExitCode::usage, "a word of the command line is wrong") +
         code(ExitCode::missing, "a compiler or library that is needed is not there") +
         code(ExitCode::limit, "memory, time or another limit does not suffice") +
         fmt::format(".TP\n128 + {}\na signal ended it\n", slanted("N"));
}

}  // namespace

std::string man_page(const CommandLine& line, const std::string& description, const std::string& version) {
  std::string text = fmt::format(".TH HEDDLE 1 \"\" \"{}\" \"User Commands\"\n", roff(version));
  text += ".SH NAME\nheddle \\- compiler and runtime that train and apply neural networks\n";
  text += ".SH SYNOPSIS\n" + bold("heddle") + " " + slanted("SUBCOMMAND") + " [" + slanted("WORDS") + "]\n";
  text += ".SH DESCRIPTION\n" + roff(description) + "\n.PP\n";
  text += roff("Results go to standard output, what is said to people to standard error.") + "\n.SH SUBCOMMANDS\n";
  for (const CommandWords& command : line.words()) text += command_text(command);
  text += ".SH \"EXIT STATUS\"\n" + exit_codes();
  text += ".SH \"SEE ALSO\"\n" + roff("The documents that are installed with the program, in share/doc/heddle: ") +
          roff("README.md, docs/tutorial.md and docs/command-line.md among them.") + "\n";
  return text;
}

}  // namespace heddle::tools
