// CommandLine: defines subcommands, options and flags, parses the command line by CLI11, and reports wrong words.
//
//   CommandLine line("Compiles models.", "heddle 0.1.0");
//   Command command = line.add_subcommand("bench", "time a step");
//   command.add_option("--blocks", a->blocks, "timed blocks (default 9)").between(7, 1000);
//   command.run([a] { bench(*a); });
//   return line.parse(argc, argv);
//
// CLI11 is header-only, and takes half a minute to compile with sanitizers. So only one source includes it.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heddle::tools {

// What a shell completes a value with: nothing, or names of these.
enum class Takes { anything, file, folder, model };

// Description of an option for the shells' completion (tools/completion/completion.h).
struct OptionWords {
  std::string name, help;  // as passed to add_option
  bool flag = false, repeated = false;
  Takes takes = Takes::anything;
  std::function<std::vector<std::string>()> values;  // possible values; empty: any; used only by completion
};
struct CommandWords {
  std::string name, help, alias;
  std::deque<OptionWords> options;  // a deque: references to options stay valid
};

std::vector<std::string> words_of_list(const std::string& text);  // "a,b" -> "a", "b"

class Option {
 public:
  Option(CLI::Option* option, OptionWords* words) : option_(option), words_(words) {}
  Option& required();
  // Describe the value for completion only; any value is accepted.
  Option& takes(Takes what);
  Option& may_be(std::function<std::vector<std::string>()> values);
  Option& may_be(const std::vector<std::string>& values);
  Option& one_of(const std::vector<std::string>& values);
  Option& list_of(const std::vector<std::string>& values);  // comma-separated
  Option& between(int low, int high);
  Option& between(double low, double high);

 private:
  CLI::Option* option_;
  OptionWords* words_;
};

class Command {
 public:
  Command(CLI::App* app, CommandWords* words, int* status) : app_(app), words_(words), status_(status) {}
  // `name` is "--name", "-n,--name", or "name" for a positional argument. An option of a list may be repeated, with one
  // value each time.
  Option add_option(const std::string& name, std::string& value, const std::string& help);
  Option add_option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option add_option(const std::string& name, int& value, const std::string& help);
  Option add_option(const std::string& name, double& value, const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);
  // Sets the action that runs after parsing. It returns nothing, or the exit code.
  template <class Action>
  void run(Action action) {
    if constexpr (std::is_void_v<std::invoke_result_t<Action>>)
      set_action(std::move(action));
    else
      set_action([action = std::move(action), status = status_] { *status = action(); });
  }

 private:
  void set_action(std::function<void()> action);
  Option known(CLI::Option* option, const std::string& name, const std::string& help);
  CLI::App* app_;
  CommandWords* words_;
  int* status_;
};

class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  // `alias` is a second name; empty: none.
  Command add_subcommand(const std::string& name, const std::string& help, const std::string& alias = {});
  // Parses the arguments, runs the subcommand and returns the exit code. For a wrong word, it prints a suggestion.
  int parse(int argc, char** argv);
  // The subcommands and their options, in the order of the help.
  const std::deque<CommandWords>& words() const { return words_; }

 private:
  void print_help(const std::string& command) const;
  std::unique_ptr<CLI::App> app_;
  std::deque<CommandWords> words_;
  std::string description_, version_;
  std::string help_of_;  // the word after "help"
  bool man_ = false;     // print the manual page instead
  int status_ = 0;
};

}  // namespace heddle::tools
