// FormDef: a form of kernels: its attributes, how a kernel is planned, and what it does. Each has a
// file in ir/forms. A new form is a file, an alternative of KernelForm, and the place in `fuse`
// that chooses it.
//
//   pointwise   plan: a space in which every access is affine    loops: all threads share the points, and store results
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir {

// An attribute as the text of a kernel has it. Of an integer, between `least` and `most` lies what
// makes sense. Sizes in bytes that follow from integers at their most fit in 64 bits.
template <class Form>
struct Attribute {
  const char* name;
  std::variant<bool Form::*, int64_t Form::*, std::string Form::*, Dims Form::*, ProductPrecision Form::*> member;
  int64_t least = 0, most = 0;
};
template <class Form>
using Attributes = std::vector<Attribute<Form>>;

inline constexpr int64_t kMostThreads = 1024, kMostAtOnce = 65535;  // what CUDA takes, whatever the device

// Those of every form whose text is generated, and of every form with a domain, before its own.
template <class Form>
Attributes<Form> of_generated(Attributes<Form> own) {
  own.insert(own.begin(), {{"threads", &Form::threads, 1, kMostThreads}, {"index", &Form::index, 32, 64}});
  return own;
}
template <class Form>
Attributes<Form> of_domain(Attributes<Form> own) {
  own.insert(own.begin(), {{"domain", &Form::domain}, {"split", &Form::split, 0, 64}});
  return of_generated(std::move(own));
}

template <class Form>
struct FormDef {
  const char* name;
  Attributes<Form> attributes;
  // Throws Refusal. None of a library's call, which has no loops either.
  KernelPlan (*plan)(const Graph& kernel, const Form& form) = nullptr;
  loop::Statements (*loops)(const Graph& kernel, const Form& form, const KernelPlan& plan) = nullptr;
};

const FormDef<forms::Pointwise>& form_def(const forms::Pointwise& form);
const FormDef<forms::Rows>& form_def(const forms::Rows& form);
const FormDef<forms::Tile>& form_def(const forms::Tile& form);
const FormDef<forms::Primitive>& form_def(const forms::Primitive& form);
const FormDef<forms::Product>& form_def(const forms::Product& form);
const FormDef<forms::LibraryCall>& form_def(const forms::LibraryCall& form);

}  // namespace heddle::ir
