// What a sweep varies, and which settings each trial has.
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
  std::string text;  // as it was given
  std::string path;  // "train.optimizer.lr"
  Scale scale = Scale::list;
  std::vector<std::string> values = {};  // of a list
  double low = 0, high = 0;              // of log and linear
  int64_t first = 0, last = 0;           // of whole
};

// Throws UserError (wrong usage) that says what was expected.
Variable parse_variable(const std::string& text);

// A value as JSON: as it is where it is JSON, else as a string. Two texts of one value have one.
std::string value_json(const std::string& text);

// A value for each variable.
using Setting = std::vector<std::string>;

// How many settings a grid has; nothing where a range has no end of values, or there are more than a sweep may have.
std::optional<int64_t> grid_size(const std::vector<Variable>& variables);
std::vector<Setting> grid(const std::vector<Variable>& variables);
std::vector<Setting> drawn(const std::vector<Variable>& variables, int64_t trials, uint64_t seed);

// Values to try a path with: those of a list, the ends of a range.
std::vector<std::string> samples(const Variable& variable);

constexpr int64_t kMostTrials = 100'000;

// Successive halving (Jamieson, Talwalkar 2016, arXiv:1502.07943): of n trials the best third goes on, three times as
// long, and so on.
//
//   halving_rungs(30, 27) -> {30 trials to epoch 1, 10 to epoch 3, 3 to epoch 9, 1 to epoch 27}
struct Rung {
  int64_t trials = 0, epochs = 0;
};
std::vector<Rung> halving_rungs(int64_t trials, int64_t epochs);

}  // namespace heddle::driver
