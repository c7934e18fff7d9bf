// visit_kind: an answer for each kind of operator; visit_schedule: for each schedule of a kernel. A new one
// does not compile until every algorithm has an answer.
//
//   visit_kind(op, [](const Elementwise&) { return true; },
//              [](const OneOf<Source, Movement, Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call,
//                             Scan> auto&) { return false; });
//
// Where an algorithm asks for one kind or schedule alone, and treats all others alike whatever they
// are, a plain std::holds_alternative says so.
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
