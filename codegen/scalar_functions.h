// The scalar functions (namespace op) that kernel text calls, made from the operators' own expressions.
//
//   Elementwise{"x > T(0) ? x : T(slope) * x"}  ->  template <class T, class X>
//                                                   HD_DEVICE T leaky_relu(X x, T slope) { return ...; }
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::codegen {

// A call of the operator's function: `arguments` are the operands' texts.
std::string elementwise_call(const ir::Signature& s, const std::vector<std::string>& arguments);
// `i` and `k` are index texts, "" where they do not occur.
std::string source_call(const ir::Signature& s, const std::vector<std::string>& arguments, const std::string& i,
                        const std::string& k);
// What a reduction adds for one point, and what it returns as result `r`.
std::string element_call(const ir::Signature& s, const std::vector<std::string>& arguments, const std::string& k);
std::string finish_call(const ir::Signature& s, size_t r, const std::string& accumulator, int64_t count,
                        const std::string& valid);
bool element_needs_k(const ir::Signature& s);
bool finish_needs_valid(const ir::Signature& s);
// "hd::Sum<float>"
std::string monoid(const ir::Signature& s);

// Every function that the operator needs.
std::string function_text(const ir::OpDef& op);

}  // namespace heddle::codegen
