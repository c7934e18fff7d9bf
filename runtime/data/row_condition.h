// RowCondition: selects the rows of a table that are read. It is an expression as in model files
// (frontend/expression.h), over columns and with comparisons.
//
//   "size/2 >= 1.5 and kind in ['cat', 'dog'] and not missing(`petal width`)"
//     over the columns size, kind, petal width  ->  true for the row 3,dog,0.2
//
// condition := both ('or' both)*, both := denied ('and' denied)*, denied := 'not' denied | comparison,
// comparison := sum (('==' | '!=' | '<' | '<=' | '>' | '>=') sum | 'not'? 'in' '[' constants ']')?, and a sum is that of
// other expressions, whose operands may also be a text in single quotes, a column and missing(a column).
//
// Numbers are f64. A column is read as text where it is compared with a text, else as numbers. Texts are compared by
// their bytes.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

inline constexpr size_t kMaxConditionBytes = 4096, kMaxConditionDepth = 64;

// Reads a row's cells. A function throws where the cell does not hold what it returns.
struct RowCells {
  std::function<double(size_t column)> number;
  std::function<std::string(size_t column)> text;
  std::function<bool(size_t column)> missing;
  // Throws an error about the row's numbers: a division by zero.
  std::function<void(const std::string& message)> fail;
};

class RowCondition {
 public:
  // Returns the number of the column with this name. `where` is the place in the model file. Throws UserError where
  // there is no such column.
  using Find = std::function<size_t(const std::string& name, const Location& where)>;

  // `where` is the string in the model file, with its quotes. Errors point at the character inside the string.
  RowCondition(std::string_view text, const Location& where, const Find& find);

  bool holds(const RowCells& row) const { return truth(nodes_.back(), row); }
  const Location& where() const { return where_; }

 private:
  friend class ConditionParser;
  enum class Kind { number, text, column, missing, arithmetic, root, comparison, among, negation, both, either };
  struct Node {
    Kind kind = Kind::number;
    size_t at = 0;                        // in the text
    size_t left = 0, right = 0;           // operands
    std::string word = {};                // the operator, or a text
    double number = 0;                    // a constant
    size_t column = 0;                    // of a column
    bool texts = false;                   // texts are compared or listed
    std::vector<double> numbers = {};     // numbers of the list
    std::vector<std::string> words = {};  // likewise
  };

  bool truth(const Node& node, const RowCells& row) const;
  bool compared(const Node& node, const RowCells& row) const;
  bool listed(const Node& node, const RowCells& row) const;
  double number(const Node& node, const RowCells& row) const;
  std::string text(const Node& node, const RowCells& row) const;

  Location where_;
  std::vector<Node> nodes_;  // operands stand before their operators; the last is the whole
};

Key where_key();
// Helps of errors about cells that the expression cannot use: a missing value, a text in a column of numbers.
std::string missing_condition_help(const std::string& column);
std::string text_condition_help(const std::string& column, std::string_view text);
// A note that says how many of a file's rows the condition keeps; "" where it keeps all. Throws UserError where it
// keeps none.
std::string left_out_note(const RowCondition& condition, const std::string& name, int64_t rows, int64_t all);

}  // namespace heddle::runtime::data
