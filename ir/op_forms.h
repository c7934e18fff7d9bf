// What the chooser asks of some operators beside their definition: other forms of a composite, and how much a primitive
// computes.
//
//   attention       forms: "in blocks"          -> select compares it with the decomposition (passes/select/forms.h)
//   attention_blocks  flops: 2.1e9 operations, of them 2.0e9 in products
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// One more way to compute a composite: the same results from other operators.
struct Form {
  std::string name;  // "in blocks"
  // Why the node cannot take it, or "".
  std::function<std::string(const Graph&, const Node&)> refusal;
  std::function<Values(Builder&, const Node&)> build;
};
const std::vector<Form>& forms_of(const OpDef& op);  // none for most

// Of a primitive whose operations are no number for each element of its result.
struct FlopCounts {
  double flops = 0;     // all of them
  double products = 0;  // those in products of matrices, at a library's rate
};
std::optional<FlopCounts> flop_counts_of(const OpDef& op, const Signature& s);

// Register at start-up, in the operator's file.
struct RegisterForm {
  RegisterForm(const std::string& op, Form form);
};
struct RegisterFlopCounts {
  RegisterFlopCounts(const std::string& op, std::function<FlopCounts(const Signature&)> work);
};

}  // namespace heddle::ir
