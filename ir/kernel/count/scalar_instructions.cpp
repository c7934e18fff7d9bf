#include "ir/kernel/count/scalar_instructions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "ir/check.h"

namespace heddle::ir {
namespace {

struct Function {
  std::string_view name;
  double instructions;
};
// The functions of codegen/device/*.cuh that operators call, in f32 or where they take none in i32,
// as NVRTC 12 and 13 print them. Each of them is here (tests/unit/scalar_instructions_test.cpp):
// what is missing would count as nothing known.
constexpr std::array<Function, 52> kFunctions = {{{"add", 1},
                                                  {"sub", 1},
                                                  {"mul", 1},
                                                  {"div", 1},  // of integers 6 to 18
                                                  {"neg", 1},
                                                  {"abs", 1},
                                                  {"sqrt", 1},
                                                  {"rsqrt", 1},
                                                  {"floor", 1},
                                                  {"ceil", 1},
                                                  {"rint", 1},
                                                  {"is_nan", 1},
                                                  {"popcnt", 3},
                                                  {"cast", 1},  // to an integer 8
                                                  {"exp", 15},
                                                  {"expm1", 32},
                                                  {"log", 26},
                                                  {"log1p", 34},
                                                  {"sin", 40},
                                                  {"cos", 40},
                                                  {"tan", 45},
                                                  {"asin", 32},
                                                  {"acos", 36},
                                                  {"atan", 29},
                                                  {"atan2", 54},
                                                  {"sinh", 35},
                                                  {"cosh", 22},
                                                  {"tanh", 20},
                                                  {"asinh", 58},
                                                  {"acosh", 60},
                                                  {"atanh", 54},
                                                  {"cbrt", 15},
                                                  {"erf", 26},
                                                  {"erfc", 69},
                                                  {"erf_inv", 42},
                                                  {"lgamma", 495},
                                                  {"digamma", 430},       // of arguments from 1 to 4
                                                  {"trigamma", 300},      // likewise
                                                  {"resize_weight", 17},  // of a cubic 126
                                                  {"weighed", 3},
                                                  {"shift_left", 4},
                                                  {"shift_right_logical", 4},
                                                  {"shift_right_arithmetic", 5},
                                                  {"pow", 70},
                                                  {"fmod", 25},
                                                  {"max", 4},
                                                  {"min", 4},
                                                  {"sign", 4},
                                                  {"behind", 2},
                                                  {"random_uniform", 88},
                                                  {"stochastic_bf16", 12},
                                                  {"random_normal", 220}}};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Beside a constant a comparison with nan is left out.
double of_function(std::string_view name, std::string_view rest) {
  const bool limits = name == "max" || name == "min";
  if (limits && rest.find("T(") != std::string_view::npos) return 2;
  const auto* found =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
  HEDDLE_CHECK(found != kFunctions.end(), "nobody has counted the instructions of hd::" + std::string(name));
  return found->instructions;
}

}  // namespace

double scalar_instructions(std::string_view expr) {
  constexpr std::string_view kNamespace = "hd::", kOperators = "+-*/%<>=!&|^?";
  double sum = 0;
  for (size_t at = 0; at < expr.size();) {
    if (expr.substr(at).starts_with(kNamespace)) {
      const size_t from = at + kNamespace.size();
      for (at = from; at < expr.size() && in_word(expr[at]);) ++at;
      sum += of_function(expr.substr(from, at - from), expr.substr(at));
      if (at < expr.size() && expr[at] == '<') at = expr.find('>', at) + 1;  // template arguments
    } else if (kOperators.find(expr[at]) != std::string_view::npos) {
      sum += 1;
      for (++at; at < expr.size() && kOperators.find(expr[at]) != std::string_view::npos;) ++at;  // <=, &&
    } else {
      ++at;
    }
  }
  return sum;
}

// A conversion, an addition and a zero; of doubles the six additions that find what is lost, and that.
double flush_instructions(DType dtype) { return dtype == DType::f64 ? 8 : 3; }

}  // namespace heddle::ir
