#include "tools/driver/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "tools/driver/json_values.h"

namespace heddle::driver {
namespace {

constexpr const char* kExample =
    "for example --vary train.optimizer.lr=log:1e-4..1e-1, --vary let.width=32,64,128; linear:a..b and int:a..b, too";

constexpr const char* kQuotes =
    R"(a value with such a sign in it is written as a JSON string: "size [cm]", "an \"a\"")";

[[noreturn]] void misused(const std::string& text, const std::string& what, const std::string& help = kExample) {
  throw UserError(ExitCode::usage, fmt::format("--vary '{}': {}", text, what), help);
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Commas within brackets, braces and strings separate nothing here; spaces around a value are none of it.
std::vector<std::string> split_list(const std::string& text, const std::string& whole) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size()) {
      items.back() += c;
      items.back() += text[++i];
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}') && --depth < 0)
      misused(whole, fmt::format("'{}' closes nothing", c), kQuotes);
    if (c == ',' && !quoted && depth == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  if (quoted) misused(whole, "a quote is not closed", kQuotes);
  if (depth > 0) misused(whole, "a bracket is not closed", kQuotes);
  std::ranges::transform(items, items.begin(), trimmed);
  return items;
}

void require_different(const Variable& v) {
  std::map<std::string, std::string> seen;  // by what they are
  for (const std::string& value : v.values) {
    const auto [at, is_new] = seen.emplace(value_json(value), value);
    if (is_new) continue;
    misused(v.text,
            at->second == value ? fmt::format("{} stands there twice", value)
                                : fmt::format("{} and {} are one value", at->second, value),
            "leave one of them out");
  }
}

template <class Number>
Number number(const std::string& text, const std::string& whole, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    misused(whole, fmt::format("'{}' is no {}", text, what));
  return value;
}

double real(const std::string& text, const std::string& whole) {
  const auto value = number<double>(text, whole, "number");
  if (!std::isfinite(value)) misused(whole, fmt::format("'{}' is no finite number", text));
  return value;
}

void parse_range(Variable& v, const std::string& range) {
  const size_t dots = range.find("..");
  if (dots == std::string::npos) misused(v.text, "a range is written low..high");
  const std::string low = range.substr(0, dots), high = range.substr(dots + 2);
  if (v.scale == Scale::whole) {
    v.first = number<int64_t>(low, v.text, "whole number"), v.last = number<int64_t>(high, v.text, "whole number");
    constexpr int64_t kMost = int64_t{1} << 53;
    if (std::max(std::abs(v.first / 2), std::abs(v.last / 2)) > kMost / 2)
      misused(v.text, "whole numbers lie between -2^53 and 2^53");
    if (v.first >= v.last) misused(v.text, "the first number is not less than the last");
    return;
  }
  v.low = real(low, v.text), v.high = real(high, v.text);
  if (v.low >= v.high) misused(v.text, "the first number is not less than the last");
  if (v.scale == Scale::log && v.low <= 0) misused(v.text, "a range of 'log' begins above 0");
  if (!std::isfinite(v.high - v.low)) misused(v.text, "the range is too wide");
}

// Philox 4x32 with seven rounds (Salmon et al. 2011, doi:10.1145/2063384.2063405): random words of a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, uint64_t key) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  constexpr int kRounds = 7;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return c;
}

// In [0, 1), of 53 bits.
double uniform(uint64_t seed, int64_t trial, size_t variable) {
  const auto t = static_cast<uint64_t>(trial);
  const std::array<uint32_t, 4> words =
      philox({static_cast<uint32_t>(t), static_cast<uint32_t>(t >> 32), static_cast<uint32_t>(variable), 0}, seed);
  return static_cast<double>((uint64_t{words[0]} << 32 | words[1]) >> 11) * 0x1p-53;
}

// Six digits are readable, and hide differences between the logarithms of different machines.
std::string rounded(double value, const Variable& v) { return fmt::format("{:.6g}", std::clamp(value, v.low, v.high)); }

std::string value_at(const Variable& v, double u) {
  switch (v.scale) {
    case Scale::list: return v.values[static_cast<size_t>(u * static_cast<double>(v.values.size()))];
    case Scale::log: return rounded(std::exp(std::log(v.low) + u * (std::log(v.high) - std::log(v.low))), v);
    case Scale::linear: return rounded(v.low + u * (v.high - v.low), v);
    case Scale::whole: break;
  }
  const double numbers = static_cast<double>(v.last - v.first) + 1;
  return std::to_string(std::min(v.last, v.first + static_cast<int64_t>(u * numbers)));
}

std::vector<std::string> all_values(const Variable& v) {
  if (v.scale != Scale::whole) return v.values;
  std::vector<std::string> values;
  for (int64_t n = v.first; n <= v.last; ++n) values.push_back(std::to_string(n));
  return values;
}

}  // namespace

std::string value_json(const std::string& text) {
  const SourceFile source{"value", text};
  try {
    return json_text(frontend::parse_json(source));
  } catch (const UserError&) {
    return runtime::json_quoted(text);
  }
}

Variable parse_variable(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) misused(text, "expected path=values");
  Variable v{.text = text, .path = text.substr(0, equals)};
  const std::string given = text.substr(equals + 1);
  const size_t colon = given.find(':');
  const std::string word = colon == std::string::npos ? "" : given.substr(0, colon);
  const bool is_word = !word.empty() && std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  if (word == "log" || word == "linear" || word == "int") {
    v.scale = word == "log" ? Scale::log : word == "linear" ? Scale::linear : Scale::whole;
    parse_range(v, given.substr(colon + 1));
    return v;
  }
  if (given.find("..") != std::string::npos && given.find_first_of("\"[{/") == std::string::npos) {
    const std::string near = is_word ? did_you_mean(word, {"log", "linear", "int"}) : "";
    misused(text, "a range begins with log:, linear: or int:", near.empty() ? kExample : near);
  }
  v.values = split_list(given, text);
  for (const std::string& value : v.values)
    if (value.empty())
      misused(text, v.values.size() == 1 ? "there is no value" : "a value between two commas is empty");
  require_different(v);
  return v;
}

std::optional<int64_t> grid_size(const std::vector<Variable>& variables) {
  int64_t size = 1;
  for (const Variable& v : variables) {
    if (v.scale == Scale::log || v.scale == Scale::linear) return std::nullopt;
    const int64_t values = v.scale == Scale::whole ? v.last - v.first + 1 : std::ssize(v.values);
    if (values > kMostTrials || size * values > kMostTrials) return std::nullopt;
    size *= values;
  }
  return size;
}

std::vector<Setting> grid(const std::vector<Variable>& variables) {
  std::vector<Setting> settings(1);
  for (const Variable& v : variables) {
    std::vector<Setting> longer;
    for (const Setting& s : settings)
      for (const std::string& value : all_values(v)) {
        longer.push_back(s);
        longer.back().push_back(value);
      }
    settings = std::move(longer);
  }
  return settings;
}

std::vector<Setting> drawn(const std::vector<Variable>& variables, int64_t trials, uint64_t seed) {
  std::vector<Setting> settings;
  for (int64_t t = 0; t < trials; ++t) {
    Setting& s = settings.emplace_back();
    for (size_t v = 0; v < variables.size(); ++v) s.push_back(value_at(variables[v], uniform(seed, t, v)));
  }
  return settings;
}

std::vector<std::string> samples(const Variable& v) {
  if (v.scale == Scale::list) return v.values;
  if (v.scale == Scale::whole) return {std::to_string(v.first), std::to_string(v.last)};
  return {rounded(v.low, v), rounded(v.high, v)};
}

std::vector<Rung> halving_rungs(int64_t trials, int64_t epochs) {
  constexpr int64_t kPart = 3;
  std::vector<Rung> rungs;
  // From the last rung back: each one before has three times the trials and a third of the epochs.
  std::vector<int64_t> counts;
  for (int64_t n = trials; n > 0; n /= kPart) counts.push_back(n);
  for (size_t i = 0; i < counts.size(); ++i) {
    int64_t at = epochs;
    for (size_t later = i + 1; later < counts.size(); ++later) at /= kPart;
    at = std::max<int64_t>(at, 1);
    // Where epochs are too few, rungs of one epoch become one: the first, which has most trials.
    if (!rungs.empty() && rungs.back().epochs == at) continue;
    rungs.push_back({counts[i], at});
  }
  return rungs;
}

}  // namespace heddle::driver
