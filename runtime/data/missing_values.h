// What stands for a value that is missing: a number, or the mean or the median of the training rows, and a column that
// says so.
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
  // Whether the training rows say what stands for a missing element of the type, `named` if it is a class.
  bool fits(ElementType type, bool named) const { return fits() && is_floating(type) && !named; }
  std::string word() const { return fill == Fill::median ? "median" : "mean"; }
};

// Of the settings of a reader; that of one that says nothing refuses what is missing.
MissingRule missing_rule(const std::vector<ReaderSetting>& settings);
Key missing_key();

// Whether an input of `elements` is made of `sources` values and as many indicators.
inline bool has_indicators(const MissingRule& rule, int64_t elements, int64_t sources) {
  return rule.indicator && elements == 2 * sources;
}

// The number that stands for element `place` of an input, none where the rule has none. `fills`
// are those of the training rows, empty where it is not theirs.
std::optional<double> fill_of(const MissingRule& rule, const std::vector<double>& fills, size_t place, bool indicated);
// Why what is missing cannot be read, as a help.
std::string missing_help(const MissingRule& rule, bool named);

// Means or medians of elements of the columns of a table, over the rows that train.
class FillFitter {
 public:
  // A median keeps its values: at most `most` bytes of them.
  FillFitter(const MissingRule& rule, int64_t most) : rule_(rule), most_(most) {}
  void add(size_t column, size_t element, double value);
  // Of the column's `elements`. UserError where one has no value in any row.
  std::vector<double> finish(size_t column, size_t elements, const std::string& input);

 private:
  struct Element {
    double high = 0, low = 0;  // a sum, and what its additions have rounded off
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
