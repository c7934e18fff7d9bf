// The search space of a sweep: what varies, and the settings of each trial.
//
//   parse_variable("train.optimizer.lr=log:1e-4..1e-1")   // a range; also linear:a..b and int:a..b
//   parse_variable("let.width=32,64,128")                 // a list of JSON values, or words
//   grid(variables)                -> {"1e-4", "32"}, {"1e-4", "64"}, ...: the last variable changes fastest
//   drawn(variables, 30, seed)     -> trial t is a function of (seed, t) alone
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

enum class Scale { list, log, linear, whole };
struct Variable {
  std::string text;  // as given
  std::string path;  // "train.optimizer.lr"
  Scale scale = Scale::list;
  std::vector<std::string> values = {};  // for list
  double low = 0, high = 0;              // for log and linear
  int64_t first = 0, last = 0;           // for whole
};

// Throws UserError (wrong usage) where the text is malformed.
Variable parse_variable(const std::string& text);

// A value as JSON: the text itself where it is JSON, else as a string. Two texts of the same value give the same
// result.
std::string value_json(const std::string& text);

// One value per variable.
using Setting = std::vector<std::string>;

// The number of settings of a grid; nothing where a range has infinitely many values, or the number exceeds
// kMostTrials.
std::optional<int64_t> grid_size(const std::vector<Variable>& variables);
std::vector<Setting> grid(const std::vector<Variable>& variables);
std::vector<Setting> drawn(const std::vector<Variable>& variables, int64_t trials, uint64_t seed);

// Values for testing a path: all of a list, or the ends of a range.
std::vector<std::string> samples(const Variable& variable);

constexpr int64_t kMostTrials = 100'000;

// Successive halving (Jamieson, Talwalkar 2016, arXiv:1502.07943). Of n trials, the best third continues three times as
// long, and so on.
//
//   halving_rungs(30, 27) -> {30 trials to epoch 1, 10 to epoch 3, 3 to epoch 9, 1 to epoch 27}
struct Rung {
  int64_t trials = 0, epochs = 0;
};
std::vector<Rung> halving_rungs(int64_t trials, int64_t epochs);

}  // namespace heddle::driver
