// FormDef: a form of kernels: how one is planned, and what it does. One file of ir/forms for each; a new form is a
// file, a name in KernelForm::Kind, and the place in `fuse` that chooses it.
//
//   pointwise   plan: a space in which every access is affine    loops: all threads share the points, and store results
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

struct FormDef {
  KernelForm::Kind kind = KernelForm::Kind::opaque;
  const char* name = "";
  // Throws Refusal. None of a form that libraries alone execute, which has no loops either.
  KernelPlan (*plan)(const Graph& kernel) = nullptr;
  loop::Statements (*loops)(const Graph& kernel, const KernelPlan& plan) = nullptr;
};

struct RegisterForm {
  explicit RegisterForm(const FormDef& form);
};

// By kind; those that nobody registered are empty.
const std::vector<FormDef>& all_forms();
const FormDef& form_def(KernelForm::Kind kind);

}  // namespace heddle::ir
