// Traits: what is true of an operator beyond the kind of its computation. Passes ask for these, never for its name.
//
//   %t = transpose(%x) {perm = [0,2,1]}     .permutation says [0,2,1]: layout moves it toward another one
//   %y = relu(%x)                           .at_least is 0: max(x, 0), so sink moves it behind a max pooling
//   %y = dot(%a, %b)                        .matrix_product: everything that is done to matmul is done to it
//
// A trait is a statement that holds for every operand and attribute. tests/numeric/op_traits_test.cpp holds each to the
// operator's oracle, and tools/check_op_names.py holds passes to traits. What an operator does not state is not used.
// Statements with attributes are functions of the node; where one is absent, it is not true of the operator.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::ir {

struct Node;
using AxisList = std::vector<int64_t>;

// Elements starts[d], starts[d] + strides[d], ... below limits[d] of each axis.
struct Slice {
  AxisList starts, limits, strides;
};
// low[d] elements of `fill` before each axis, high[d] after it, interior[d] between its elements.
struct Padding {
  AxisList low, high, interior;
  double fill = 0;
};

// The operation of a ring that an elementwise operator of two operands is.
enum class Arithmetic { none, sum, difference, product };

// What a reduction makes of n equal elements x.
enum class OfEqual { unknown, itself, times, power };  // x, n * x, x^n

// Where a convolution's three arrays are: the number of an operand, or kMade for the one that it makes.
struct ConvolutionRoles {
  static constexpr int kMade = -1;
  int image = kMade, filter = kMade, result = kMade;  // NHWC, OHWI, NHWC
};

// What of an operator's first result are whole numbers (ir/wholes.h).
enum class MakesWholes {
  no,
  within_limits,  // each between the elements of the second operand and of the third one
  and_scales      // from -127 to 127; times its second result, along an axis, they are about the operand
};

struct Traits {
  // --- every element by itself
  bool commutative = false;                  // f(a, b) is f(b, a), bit for bit
  bool jumps = false;                        // it is not continuous: near operands may give results far apart
  bool converts = false;                     // the operand's number in the result's dtype
  Arithmetic arithmetic = Arithmetic::none;  // a + b, a - b, a * b
  std::optional<double> at_least = {};       // max(x, this); nan stays nan
  double (*splat)(const Node&) = nullptr;    // the value of every element

  // --- movements of one operand, axis by axis
  bool reshapes = false;                           // all elements, in row-major order
  AxisList (*permutation)(const Node&) = nullptr;  // axis i of the result is the operand's axis [i]
  AxisList (*spread)(const Node&) = nullptr;  // the operand's axis i is the result's axis [i], increasing; it repeats
                                              // along the others, and along its own where that is of size 1
  Slice (*slice)(const Node&) = nullptr;
  Padding (*padding)(const Node&) = nullptr;
  AxisList (*reversal)(const Node&) = nullptr;  // the axes that are turned round; they may count from the end
  // Each list among its attributes has an entry for each axis of the operand, or is empty, and the result has the same
  // axes: where axes change their places, the entries do.
  bool lists_by_axis = false;

  // --- several elements or operands
  int64_t (*joined_along)(const Node&) = nullptr;  // operands lie one after the other along this axis, which may count
                                                   // from the end
  int64_t (*rows_along)(const Node&) = nullptr;    // a lookup of all that lies at a place along this axis of its first
                                                   // operand, which may count from the end
  bool (*adds_to_first)(const Node&) = nullptr;    // its first operand plus what does not depend on that one
  bool removes_axes = false;                       // a reduction over the axes of its attribute `axes`, empty: all
  OfEqual of_equal = OfEqual::unknown;
  bool largest_and_where = false;             // its results are the largest element of each window, and which it is
  bool of_one_list = false;                   // of all elements of all operands; operands may be joined end to end
  bool gathers_rows = false;                  // its first result is made of rows of the data set, as its attributes say
  int64_t (*records)(const Node&) = nullptr;  // it writes the record of a step into a ring that holds so many
  MakesWholes makes_wholes = MakesWholes::no;
  bool matrix_product = false;  // over the last two axes; transpose_a, transpose_b: which operand lies the other way
  std::optional<ConvolutionRoles> convolution = {};
};

}  // namespace heddle::ir
