#include "tools/command/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>

#include "ir/diagnostic.h"
#include "runtime/process/terminal.h"
#include "tools/command/man_page.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

// The subcommand the words name, or nullptr.
const CLI::App* named_command(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    for (const CLI::App* sub : app.get_subcommands([&](const CLI::App* s) { return s->check_name(argv[i]); }))
      return sub;
    return nullptr;
  }
  return nullptr;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    for (const std::string& alias : sub->get_aliases()) names.push_back(alias);
  }
  return names;
}

// A subcommand that is near, or those that begin nearly so: "pred", "complie".
std::string near_command(const std::string& word, const std::vector<std::string>& names) {
  std::string hint = did_you_mean(word, names);
  if (!hint.empty()) return hint;
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (name.size() > word.size() && !nearest(word, {name.substr(0, word.size())}).empty()) longer.push_back(name);
  return longer.empty() ? hint : fmt::format("did you mean '{}'?", fmt::join(longer, "' or '"));
}

// The first word that begins as an option and is none of the command's; empty where there is none.
std::string unknown_option(const CLI::App& command, int argc, char** argv) {
  for (int i = 1; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    std::string name = word.substr(0, word.find('='));
    if (word.size() < 2 || word[0] != '-') continue;
    const CLI::Option* option = command.get_option_no_throw(word[1] == '-' ? name : name.substr(0, 2));
    if (option == nullptr) return name;
    if (name == word && option->get_expected_min() > 0) ++i;  // its value, whatever it begins with
  }
  return {};
}

struct Usage {
  std::string message, help;
};

// "an option of train, evaluate", where other commands have it; else "".
std::string option_of_others(const CLI::App& app, const std::string& name) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    if (command->get_option_no_throw(name) != nullptr) commands.push_back(command->get_name());
  return commands.empty() ? "" : fmt::format("an option of {}", fmt::join(commands, ", "));
}

Usage no_such_option(const CLI::App& app, const CLI::App& command, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& longer : option->get_lnames()) known.push_back("--" + longer);
  std::string help = name.starts_with("--") ? did_you_mean(name, known) : "";
  if (help.empty() && name.starts_with("--")) help = option_of_others(app, name);
  return {"there is no option '" + name + "'", help};
}

// An empty path or name is mostly a variable of a script that was never set.
std::string not_empty(const std::string& value) {
  return value.empty() ? "is empty; give it a value, or leave the option out" : "";
}

const std::string kNeedsValue = " needs a value behind it";

// CLI11 takes the word behind "--run=" for its value, a file called "--resume", and any number for the yes of a flag.
void require_values(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = named_command(app, argc, argv);
  for (int i = 1; command != nullptr && i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const CLI::Option* option = command->get_option_no_throw(name);
    if (option == nullptr) continue;
    if (option->get_expected_min() > 0) {
      if (value.empty()) throw CLI::ArgumentMismatch(name + kNeedsValue);
    } else if (const auto yes_or_no = {"true", "false"}; std::ranges::count(yes_or_no, value) == 0) {
      throw CLI::ArgumentMismatch(
          fmt::format("{} is a flag: it stands alone, or with =true or =false, not ={}", name, value));
    }
  }
}

// CLI11 tells of "1 required TEXT missing". What a check says may have a line of help.
Usage usage_of(const CLI::ParseError& error) {
  std::string message = error.what();
  if (const size_t line = message.find('\n'); line != std::string::npos)
    return {message.substr(0, line), message.substr(line + 1)};
  const size_t colon = message.find(": ");
  if (colon == std::string::npos || !message.ends_with(" missing") ||
      message.find(" required ", colon) == std::string::npos)
    return {message, ""};
  return {message.substr(0, colon) + kNeedsValue, ""};
}

// Chooses which error to report first: an unknown word may be the reason why another is missing.
Usage explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* command = named_command(app, argc, argv);
  if (const std::string option = unknown_option(command ? *command : app, argc, argv); !option.empty())
    return no_such_option(app, command ? *command : app, option);
  for (int i = 1; command == nullptr && i < argc; ++i)
    if (argv[i][0] != '-')
      return {fmt::format("unknown subcommand '{}'", argv[i]), near_command(argv[i], command_names(app))};
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    for (const std::string& word : app.remaining(true))
      if (word != "--") return {"'" + word + "' is one word too many", ""};
  return usage_of(error);
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  Usage usage = explain(app, error, argc, argv);
  std::string& message = usage.message;
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  write_note("heddle: error: " + runtime::visible(message) + "\n");
  if (!usage.help.empty()) write_note("help: " + usage.help + "\n");
  write_note("help: heddle help lists the subcommands, heddle help SUBCOMMAND its options\n");
  return static_cast<int>(ExitCode::usage);
}

template <class Number>
void check_range(CLI::Option& option, Number low, Number high, const char* what) {
  const std::string range = fmt::format("{} ... {}", low, high);
  option.check(
      [=](const std::string& text) {
        Number value{};
        const bool is_inside = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;  // nan is not
        return is_inside ? std::string() : fmt::format("'{}' is no {} in {}", text, what, range);
      },
      range);
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}
namespace {
// What is said of a value that is none of those that there are, or "".
std::string refusal_of(const std::string& text, const std::vector<std::string>& values, const std::string& all) {
  if (std::ranges::count(values, text) > 0) return {};
  return fmt::format("'{}' is none of {}\n{}", text, all, did_you_mean(text, values));
}
}  // namespace

std::vector<std::string> words_of_list(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Option& Option::takes(Takes what) {
  words_->takes = what;
  return *this;
}
Option& Option::may_be(std::function<std::vector<std::string>()> values) {
  words_->values = std::move(values);
  return *this;
}
Option& Option::may_be(const std::vector<std::string>& values) {
  return may_be([values] { return values; });
}
Option& Option::one_of(const std::vector<std::string>& values) {
  const std::string all = fmt::format("{}", fmt::join(values, ", "));
  option_->check([values, all](const std::string& text) { return refusal_of(text, values, all); }, all);
  return may_be(values);
}
Option& Option::list_of(const std::vector<std::string>& values) {
  const std::string all = fmt::format("{}", fmt::join(values, ", "));
  option_->check(
      [values, all](const std::string& text) {
        for (const std::string& word : words_of_list(text))
          if (std::string why = refusal_of(word, values, all); !why.empty()) return why;
        return std::string();
      },
      all);
  return may_be(values);
}
Option& Option::between(int low, int high) {
  check_range(*option_, low, high, "integer");
  return *this;
}
Option& Option::between(double low, double high) {
  check_range(*option_, low, high, "number");
  return *this;
}

Option Command::known(CLI::Option* option, const std::string& name, const std::string& help) {
  words_->options.push_back({.name = name, .help = help, .values = {}});
  return {option, &words_->options.back()};
}
Option Command::add_option(const std::string& name, std::string& value, const std::string& help) {
  return known(app_->add_option(name, value, help)->check(not_empty, "", "not empty"), name, help);
}
Option Command::add_option(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  CLI::Option* option = app_->add_option(name, values, help);
  if (!option->get_positional()) option->allow_extra_args(false);
  Option list = known(option, name, help);
  words_->options.back().repeated = true;
  return list;
}
Option Command::add_option(const std::string& name, int& value, const std::string& help) {
  return known(app_->add_option(name, value, help), name, help);
}
Option Command::add_option(const std::string& name, double& value, const std::string& help) {
  return known(app_->add_option(name, value, help), name, help);
}
void Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  known(app_->add_flag(name, value, help), name, help);
  words_->options.back().flag = true;
}
void Command::set_action(std::function<void()> action) { app_->callback(std::move(action)); }

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description)), description_(description), version_(version) {
  app_->name("heddle");
  app_->set_version_flag("-V,--version", version);
  app_->require_subcommand(1);
  Command help = add_subcommand("help", "what a subcommand does, and its options");
  // As CLI11 takes it: an empty word is none, unlike that of other options.
  app_->get_subcommand("help")->add_option("command", help_of_, "the subcommand; without it, all of them, a line each");
  words_.back().options.push_back({.name = "command", .help = "the subcommand", .values = {}});
  help.add_flag("--man", man_, "print the manual page of all subcommands, in man's format");
  help.run([this] { man_ ? write_result(man_page(*this, description_, version_)) : print_help(help_of_); });
}
CommandLine::~CommandLine() = default;

Command CommandLine::add_subcommand(const std::string& name, const std::string& help, const std::string& alias) {
  CLI::App* app = app_->add_subcommand(name, help);
  if (!alias.empty()) app->alias(alias);
  words_.push_back({.name = name, .help = help, .alias = alias, .options = {}});
  return {app, &words_.back(), &status_};
}

void CommandLine::print_help(const std::string& command) const {
  // CLI11 would print that of the subcommand that was read: help itself.
  if (command.empty())
    return write_result(app_->get_formatter()->make_help(app_.get(), app_->get_name(), CLI::AppFormatMode::Normal));
  for (const CLI::App* sub : app_->get_subcommands([](const CLI::App*) { return true; }))
    if (sub->check_name(command)) return write_result(sub->help(app_->get_name()));
  throw UserError(ExitCode::usage, "there is no subcommand '" + runtime::visible(command) + "'",
                  near_command(command, command_names(*app_)));
}

int CommandLine::parse(int argc, char** argv) {
  try {
    require_values(*app_, argc, argv);
    app_->parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app_->exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(*app_, error, argc, argv);
  }
  return status_;
}

}  // namespace heddle::tools
