// Prints the scalar functions (namespace op) that kernel text calls. They are made from the expressions of the
// operators.
//
//   Elementwise{"x > T(0) ? x : T(slope) * x"}  ->  template <class T, class X>
//                                                   HD_DEVICE T leaky_relu(X x, T slope) { return ...; }
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::codegen {

// A call of an elementwise operator's function. `arguments` are the texts of the operands.
std::string elementwise_call(const ir::Signature& s, const std::vector<std::string>& arguments);
// A call of a source's function. `i` and `k` are texts of indices, "" if the expression does not use them.
std::string source_call(const ir::Signature& s, const std::vector<std::string>& arguments, const std::string& i,
                        const std::string& k);
// Calls of a reduction's functions: for the element of one point, and for result `r` from the accumulator.
std::string element_call(const ir::Signature& s, const std::vector<std::string>& arguments, const std::string& k);
std::string finish_call(const ir::Signature& s, size_t r, const std::string& accumulator, int64_t count,
                        const std::string& valid);
bool element_needs_k(const ir::Signature& s);
bool finish_needs_valid(const ir::Signature& s);
// "hd::Sum<float>"
std::string monoid(const ir::Signature& s);

// The definitions of all functions that the operator needs.
std::string function_text(const ir::OpDef& op);

}  // namespace heddle::codegen
