#include "tools/command/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ir/diagnostic.h"
#include "runtime/terminal.h"
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

// What a misspelt flag or subcommand may have been.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = named_command(app, argc, argv);
  std::vector<std::string> known;
  if (!command) {
    known = command_names(app);
    for (int i = 1; i < argc; ++i)
      if (argv[i][0] != '-') return near_command(argv[i], known);
  }
  for (const CLI::Option* option : (command ? command : &app)->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    return did_you_mean(word, known);
  }
  return {};
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

// CLI11 tells of "1 required TEXT missing".
std::string message_of(const CLI::ParseError& error) {
  std::string message = error.what();
  const size_t colon = message.find(": ");
  if (colon == std::string::npos || !message.ends_with(" missing") ||
      message.find(" required ", colon) == std::string::npos)
    return message;
  return message.substr(0, colon) + kNeedsValue;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string message = message_of(error);
  if (argc > 1 && !named_command(app, argc, argv) && argv[1][0] != '-')
    message = fmt::format("unknown subcommand '{}'", argv[1]);
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  const std::string meant = suggestion(app, argc, argv);
  write_note("heddle: error: " + runtime::visible(message) + "\n");
  if (!meant.empty()) write_note("help: " + meant + "\n");
  write_note("help: heddle help lists the subcommands, heddle help SUBCOMMAND its options\n");
  return static_cast<int>(ExitCode::usage);
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
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
  option_->check(CLI::IsMember(values));
  return may_be(values);
}
Option& Option::between(int low, int high) {
  option_->check(CLI::Range(low, high));
  return *this;
}
Option& Option::between(double low, double high) {
  // A range of doubles lets nan through.
  option_->check(CLI::Range(low, high))->check([](const std::string& text) {
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is no number" : std::string();
  });
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
  app_->get_subcommand("help")->add_option("command", help_of_, "the subcommand; none: all of them in a line each");
  words_.back().options.push_back({.name = "command", .help = "the subcommand", .values = {}});
  help.add_flag("--man", man_, "print the manual page of all subcommands, as man takes it");
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
