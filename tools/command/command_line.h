// The command line's subcommands, options and flags, over CLI11: what a word means, and what is said of a wrong one.
//
//   CommandLine line("Compiles models.", "heddle 0.1.0");
//   Command command = line.add_subcommand("bench", "time a step");
//   command.add_option("--blocks", a->blocks, "timed blocks (default 9)").between(7, 1000);
//   command.run([a] { bench(*a); });
//   return line.parse(argc, argv);
//
// CLI11 is a header alone, half a minute of each source that includes it under sanitizers: one source does.
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

// What completes a value: nothing, or names of these.
enum class Takes { anything, file, folder, model };

// What the shells' completion (tools/completion/completion.h) knows of an option.
struct OptionWords {
  std::string name, help;  // as add_option was given them
  bool flag = false, repeated = false;
  Takes takes = Takes::anything;
  std::function<std::vector<std::string>()> values;  // empty: any; asked for by completion alone
};
struct CommandWords {
  std::string name, help, alias;
  std::deque<OptionWords> options;  // where they lie as long as the line does
};

std::vector<std::string> words_of_list(const std::string& text);  // "a,b": what stands between commas

class Option {
 public:
  Option(CLI::Option* option, OptionWords* words) : option_(option), words_(words) {}
  Option& required();
  // What a value names, or may be, for completion alone: any value is taken.
  Option& takes(Takes what);
  Option& may_be(std::function<std::vector<std::string>()> values);
  Option& may_be(const std::vector<std::string>& values);
  Option& one_of(const std::vector<std::string>& values);
  Option& list_of(const std::vector<std::string>& values);  // separated by commas
  Option& between(int low, int high);
  Option& between(double low, double high);

 private:
  CLI::Option* option_;
  OptionWords* words_;
};

class Command {
 public:
  Command(CLI::App* app, CommandWords* words, int* status) : app_(app), words_(words), status_(status) {}
  // "--name", "-n,--name", or "name" for what is given by position. A list's option is repeated, one value each time.
  Option add_option(const std::string& name, std::string& value, const std::string& help);
  Option add_option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option add_option(const std::string& name, int& value, const std::string& help);
  Option add_option(const std::string& name, double& value, const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);
  // What the subcommand does once every word is read: returns nothing, or the exit code.
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
  // `alias` is another name for it; empty: there is none.
  Command add_subcommand(const std::string& name, const std::string& help, const std::string& alias = {});
  // Reads the words, runs what they name and returns the exit code; of a wrong word it says what may have been meant.
  int parse(int argc, char** argv);
  // The subcommands in the order of the help, and their options.
  const std::deque<CommandWords>& words() const { return words_; }

 private:
  void print_help(const std::string& command) const;
  std::unique_ptr<CLI::App> app_;
  std::deque<CommandWords> words_;
  std::string description_, version_;
  std::string help_of_;  // the word behind "help"
  bool man_ = false;     // the manual page instead
  int status_ = 0;
};

}  // namespace heddle::tools
