#include "ir/mixed_precision.h"

#include <array>
#include <map>

#include "ir/check.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// By name: operators are made at start-up, in any order.
std::map<std::string, MixedPrecision, std::less<>>& statements() {
  static std::map<std::string, MixedPrecision, std::less<>> all;
  return all;
}

// The rule of an operator without a statement. Kinds without a better rule compute in f32, which is always correct.
const MixedPrecision& by_kind(const OpDef& op) {
  static const MixedPrecision kNarrow{MixedRule::narrow}, kWide{MixedRule::wide}, kFixed{MixedRule::fixed};
  static const MixedPrecision kFollows{MixedRule::follows, "f32 where operands of f32 and of 16 bits meet"};
  static const MixedPrecision kMoves{MixedRule::follows};
  return visit_kind(
      op, [](const Contraction&) -> const MixedPrecision& { return kNarrow; },
      [&](const Elementwise&) -> const MixedPrecision& { return op.operands.size() > 1 ? kFollows : kMoves; },
      [](const OneOf<Movement, Lookup> auto&) -> const MixedPrecision& { return kMoves; },
      [](const OneOf<Reduction, Primitive, Composite, Scan> auto&) -> const MixedPrecision& { return kWide; },
      [](const OneOf<Source, Gradient, Call> auto&) -> const MixedPrecision& { return kFixed; });
}

}  // namespace

StatesMixedPrecision::StatesMixedPrecision(const std::vector<std::string>& ops, MixedRule rule,
                                           const std::string& departs) {
  for (const std::string& op : ops)
    HEDDLE_CHECK(statements().emplace(op, MixedPrecision{rule, departs}).second, op + " states mixed precision twice");
}

std::vector<std::string> stated_mixed_precisions() {
  std::vector<std::string> names;
  for (const auto& [name, statement] : statements()) names.push_back(name);
  return names;
}

const MixedPrecision& mixed_precision(const OpDef& op) {
  const auto at = statements().find(op.name);
  return at == statements().end() ? by_kind(op) : at->second;
}

std::string to_string(MixedRule rule) {
  static const std::array<const char*, 5> kTexts = {
      "narrow: 16-bit operands and result, sums in f32", "follows: 16 bits where an operand has 16 bits", "wide: f32",
      "restores: computes in f32, leaves the operand's bits", "fixed: its own type"};
  return kTexts.at(static_cast<size_t>(rule));
}

}  // namespace heddle::ir
