// The rule for missing values: a fill (a number, or the mean or the median of the training rows), an indicator element
// that is 1 where the value is missing, or both.
//
//   "missing": "mean"                -> {fill = mean}
//   "missing": [-1, "indicator"]     -> {fill = number, number = -1, indicator = true}
//   "missing": "indicator"           -> {fill = none, indicator = true}: 0 in inputs with indicators
//
// Columns a, b of a row "4,": an input of two elements reads 4 and the fill, one of four elements 4, the fill, 0, 1.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/element.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct MissingRule {
  enum class Fill { none, number, mean, median };
  Fill fill = Fill::none;
  double number = 0;
  bool indicator = false;
  Location where = {};

  bool fits() const { return fill == Fill::mean || fill == Fill::median; }
  // Whether the fill of an element of this type comes from the training rows; `named`: the element is a class.
  bool fits(ElementType type, bool named) const { return fits() && is_floating(type) && !named; }
  std::string word() const { return fill == Fill::median ? "median" : "mean"; }
};

// The rule that the settings of a reader state. Without the setting, missing values are an error.
MissingRule missing_rule(const std::vector<ReaderSetting>& settings);
Key missing_key();

// Whether an input with `elements` elements holds `sources` values and an indicator for each.
inline bool has_indicators(const MissingRule& rule, int64_t elements, int64_t sources) {
  return rule.indicator && elements == 2 * sources;
}

// The fill of element `place` of an input; nothing where the rule has none. `fills`: the fills from the training rows;
// empty where the rule does not use them.
std::optional<double> fill_of(const MissingRule& rule, const std::vector<double>& fills, size_t place, bool indicated);
// The help of an error about a missing value.
std::string missing_help(const MissingRule& rule, bool named);

// Computes the means or medians of the elements of a table's columns, over the training rows.
class FillFitter {
 public:
  // Medians need all values in memory: at most `most` bytes of them.
  FillFitter(const MissingRule& rule, int64_t most) : rule_(rule), most_(most) {}
  void add(size_t column, size_t element, double value);
  // Returns the fills of the column's `elements` elements. Throws UserError where an element has no value in any row.
  std::vector<double> finish(size_t column, size_t elements, const std::string& input);

 private:
  struct Element {
    double high = 0, low = 0;  // a sum, and its rounding error
    int64_t count = 0;
    std::vector<double> values;
  };
  Element& at(size_t column, size_t element);
  double number(Element& element) const;

  MissingRule rule_;
  int64_t most_, kept_ = 0;
  std::vector<std::vector<Element>> columns_;
};

}  // namespace heddle::runtime::data
