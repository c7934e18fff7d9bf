// Which rows of a table are read: the expressions of a model file (frontend/expression.h), over columns, with
// comparisons.
//
//   "size/2 >= 1.5 and kind in ['cat', 'dog'] and not missing(`petal width`)"
//     over the columns size, kind, petal width  ->  true for the row 3,dog,0.2
//
// condition := both ('or' both)*, both := denied ('and' denied)*, denied := 'not' denied | comparison,
// comparison := sum (('==' | '!=' | '<' | '<=' | '>' | '>=') sum | 'not'? 'in' '[' constants ']')?, and a sum is that of
// other expressions, whose operands may also be a text in single quotes, a column and missing(a column).
//
// Numbers are f64. A column holds texts where it is compared with one, else numbers. Texts are compared by their bytes.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

inline constexpr size_t kMaxConditionBytes = 4096, kMaxConditionDepth = 64;

// What a row has in a column: none of these returns where it has something else.
struct RowCells {
  std::function<double(size_t column)> number;
  std::function<std::string(size_t column)> text;
  std::function<bool(size_t column)> missing;
  // What a row's numbers make impossible: a division by zero.
  std::function<void(const std::string& message)> fail;
};

class RowCondition {
 public:
  // The number of a column of that name at a place of the model file. Throws UserError where there is none.
  using Find = std::function<size_t(const std::string& name, const Location& where)>;

  // `where` is the string in the model file, its quotes included; errors point at the character inside it.
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
    bool texts = false;                   // what is compared, or listed, are texts
    std::vector<double> numbers = {};     // that are listed
    std::vector<std::string> words = {};  // likewise
  };

  bool truth(const Node& node, const RowCells& row) const;
  bool compared(const Node& node, const RowCells& row) const;
  bool listed(const Node& node, const RowCells& row) const;
  double number(const Node& node, const RowCells& row) const;
  std::string text(const Node& node, const RowCells& row) const;

  Location where_;
  std::vector<Node> nodes_;  // operands stand before what is made of them
};

Key where_key();
// Why a row's cell is not what the expression asks for, as a help.
std::string missing_condition_help(const std::string& column);
std::string text_condition_help(const std::string& column, std::string_view text);
// How many of a file's rows are left, as a note, "" where all are. UserError where none is.
std::string left_out_note(const RowCondition& condition, const std::string& name, int64_t rows, int64_t all);

}  // namespace heddle::runtime::data
