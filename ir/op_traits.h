// Traits: facts about an operator beyond the kind of its computation. Passes ask for these, never for its name.
//
//   %t = transpose(%x) {perm = [0,2,1]}     .permutation says [0,2,1]: layout moves it toward another one
//   %y = relu(%x)                           .at_least is 0: max(x, 0), so sink moves it behind a max pooling
//   %y = dot(%a, %b)                        .matrix_product: everything that is done to matmul is done to it
//
// A trait holds for all operands and attributes of the operator. tests/numeric/op_traits_test.cpp compares each trait
// with the operator's oracle, and tools/check_op_names.py checks that passes compare no names. Passes use only stated
// traits. A trait that depends on attributes is a function of the node; if the function is absent, the operator does
// not have the trait.
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

// The arithmetic operation that an elementwise operator of two operands computes.
enum class Arithmetic { none, sum, difference, product };

// The result of a reduction of n equal elements x.
enum class OfEqual { unknown, itself, times, power };  // x, n * x, x^n

// The three arrays of a convolution: the number of the operand, or kMade for the array that is the result.
struct ConvolutionRoles {
  static constexpr int kMade = -1;
  int image = kMade, filter = kMade, result = kMade;  // NHWC, OHWI, NHWC
};

// Whether an operator's first result consists of whole numbers (ir/wholes.h), and which.
enum class MakesWholes {
  no,
  within_limits,  // between the elements of the second and the third operand
  and_scales      // from -127 to 127; times the second result (scales along an axis) they approximate the operand
};

struct Traits {
  // --- elementwise operators and sources
  bool commutative = false;                  // f(a, b) is f(b, a), bit for bit
  bool jumps = false;                        // not continuous: near operands may give results far apart
  bool converts = false;                     // a conversion: the operand's number in the result's dtype
  Arithmetic arithmetic = Arithmetic::none;  // a + b, a - b, a * b
  std::optional<double> at_least = {};       // max(x, this); nan stays nan
  double (*splat)(const Node&) = nullptr;    // all elements have this value

  // --- movements of one operand, axis by axis
  bool reshapes = false;                           // all elements, in row-major order
  AxisList (*permutation)(const Node&) = nullptr;  // axis i of the result is the operand's axis [i]
  AxisList (*spread)(const Node&) = nullptr;  // a broadcast: the operand's axis i is the result's axis [i], increasing;
                                              // it repeats along all other axes, and along axes where its size is 1
  Slice (*slice)(const Node&) = nullptr;
  Padding (*padding)(const Node&) = nullptr;
  AxisList (*reversal)(const Node&) = nullptr;  // the axes that are reversed; may be negative (from the end)
  // Each list attribute has an entry for each axis of the operand, or is empty, and the result has the same axes. So if
  // the operand's axes are permuted, the entries are permuted too.
  bool lists_by_axis = false;

  // --- several elements or operands
  int64_t (*joined_along)(const Node&) = nullptr;  // a concatenation of the operands along this axis, which may be
                                                   // negative (from the end)
  int64_t (*rows_along)(const Node&) = nullptr;    // a lookup of whole slices at indices along this axis of the first
                                                   // operand; may be negative (from the end)
  bool (*adds_to_first)(const Node&) = nullptr;    // the first operand plus a value that does not depend on it
  bool removes_axes = false;                       // a reduction over the axes of its attribute `axes`, empty: all
  OfEqual of_equal = OfEqual::unknown;
  bool largest_and_where = false;             // its results are the largest element of each window, and its index
  bool of_one_list = false;                   // combines all elements of all operands, so operands may be concatenated
  bool gathers_rows = false;                  // its first result is made from rows of the data set (ir/fed_column.h)
  int64_t (*records)(const Node&) = nullptr;  // writes the record of a step into a ring of this many records
  MakesWholes makes_wholes = MakesWholes::no;
  bool matrix_product = false;  // over the last two axes; attributes transpose_a, transpose_b: operands are transposed
  std::optional<ConvolutionRoles> convolution = {};
};

}  // namespace heddle::ir
