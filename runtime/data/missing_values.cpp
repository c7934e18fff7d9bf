#include "runtime/data/missing_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

MissingRule missing_rule(const std::vector<ReaderSetting>& settings) {
  using Fill = MissingRule::Fill;
  MissingRule rule;
  const ReaderSetting* setting = find_setting(settings, "missing");
  if (setting == nullptr) return rule;
  rule.where = setting->where;
  const auto fill = [&](Fill kind, double number) {
    if (rule.fill != Fill::none)
      throw UserError(setting->where, "'missing' says twice what stands for a missing value",
                      "one of a number, \"mean\" and \"median\", and \"indicator\" beside it");
    rule.fill = kind, rule.number = number;
  };
  if (const auto* number = std::get_if<double>(&setting->value)) {
    fill(Fill::number, *number);
    return rule;
  }
  for (const std::string& word : std::get<std::vector<std::string>>(setting->value)) {
    if (word == "indicator") {
      rule.indicator = true;
    } else if (word == "mean" || word == "median") {
      fill(word == "mean" ? Fill::mean : Fill::median, 0);
    } else {
      fill(Fill::number, std::strtod(word.c_str(), nullptr));  // the frontend has written it
    }
  }
  return rule;
}

Key missing_key() {
  return {.name = "missing",
          .type = KeyType::real,
          .count = Count::several,
          .doc = "what stands for what is missing, a number or a word, and \"indicator\" beside it",
          .words = {"mean", "median", "indicator"}};
}

std::optional<double> fill_of(const MissingRule& rule, const std::vector<double>& fills, size_t place, bool indicated) {
  switch (rule.fill) {
    case MissingRule::Fill::none: return indicated ? std::optional(0.0) : std::nullopt;
    case MissingRule::Fill::number: return rule.number;
    case MissingRule::Fill::mean:
    case MissingRule::Fill::median: return place < fills.size() ? std::optional(fills[place]) : std::nullopt;
  }
  return std::nullopt;
}

std::string missing_help(const MissingRule& rule, bool named) {
  const std::string listed = "; where it is the name of a class, list it with the others in \"classes\"";
  if (rule.fits())
    return fmt::format("\"missing\": \"{}\" fills inputs of f32 and f64 that are no classes{}", rule.word(),
                       named ? listed : "");
  if (rule.indicator)
    return "an input with indicators has twice as many elements as columns; \"missing\": [NUMBER, \"indicator\"] fills "
           "the others";
  return "\"missing\": NUMBER stands for what is missing, and so does \"mean\" or \"median\"" + (named ? listed : "");
}

FillFitter::Element& FillFitter::at(size_t column, size_t element) {
  if (columns_.size() <= column) columns_.resize(column + 1);
  std::vector<Element>& elements = columns_[column];
  if (elements.size() <= element) elements.resize(element + 1);
  return elements[element];
}

// The sum is Neumaier's (1974): the mean of a constant is the constant.
void FillFitter::add(size_t column, size_t element, double value) {
  Element& e = at(column, element);
  ++e.count;
  if (rule_.fill == MissingRule::Fill::median) {
    kept_ += int64_t{sizeof value};
    if (kept_ > most_)
      throw UserError(rule_.where, fmt::format("the medians of all columns take more than {} bytes", most_),
                      "\"missing\": \"mean\" takes none");
    e.values.push_back(value);
    return;
  }
  const double sum = e.high + value;
  e.low += std::abs(e.high) >= std::abs(value) ? (e.high - sum) + value : (value - sum) + e.high;
  e.high = sum;
}

double FillFitter::number(Element& e) const {
  if (rule_.fill == MissingRule::Fill::mean) {
    const auto count = static_cast<double>(e.count);
    const double most = e.high / count;
    return most + (std::fma(-most, count, e.high) + e.low) / count;
  }
  const auto middle = e.values.begin() + e.count / 2;
  std::nth_element(e.values.begin(), middle, e.values.end());
  if (e.count % 2 == 1) return *middle;
  return *std::max_element(e.values.begin(), middle) / 2 + *middle / 2;
}

std::vector<double> FillFitter::finish(size_t column, size_t elements, const std::string& input) {
  std::vector<double> out;
  for (size_t i = 0; i < elements; ++i) {
    Element& e = at(column, i);
    if (e.count == 0)
      throw UserError(rule_.where,
                      fmt::format("value {} of input '{}', counted from 0, is missing in all training rows, of which "
                                  "'missing' takes the {}",
                                  i, input, rule_.word()),
                      "leave the column out, or write the number that stands for it");
    out.push_back(number(e));
  }
  return out;
}

}  // namespace heddle::runtime::data
