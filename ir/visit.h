// visit_kind calls the function for an operator's kind; visit_schedule calls the one for a kernel's schedule. If a kind
// or a schedule is added, code does not compile until every algorithm handles it.
//
//   visit_kind(op, [](const Elementwise&) { return true; },
//              [](const OneOf<Source, Movement, Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call,
//                             Scan> auto&) { return false; });
//
// If an algorithm treats one kind or schedule specially and all others alike, it uses std::holds_alternative instead.
#pragma once
#include <concepts>
#include <utility>
#include <variant>

#include "ir/op_def.h"

namespace heddle::ir {

template <class T, class... Kinds>
concept OneOf = (std::same_as<T, Kinds> || ...);

template <class... Answers>
struct AnswerPerKind : Answers... {
  using Answers::operator()...;
};

template <class... Answers>
decltype(auto) visit_kind(const OpDef& op, Answers&&... answers) {
  return std::visit(AnswerPerKind<std::decay_t<Answers>...>{std::forward<Answers>(answers)...}, op.kind);
}

template <class... Answers>
decltype(auto) visit_schedule(const KernelSchedule& schedule, Answers&&... answers) {
  return std::visit(AnswerPerKind<std::decay_t<Answers>...>{std::forward<Answers>(answers)...}, schedule.how);
}

}  // namespace heddle::ir
