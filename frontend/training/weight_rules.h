// Rules for weights: penalties of train.regularize, which are terms of the loss, and constraints of train.constrain,
// which change a parameter's next value after the optimizer. They are registered like losses, one file each in
// frontend/regularizers and frontend/constraints.
//
//   {"op": "l2", "match": "fc.weight", "weight": 0.01}
//     -> %penalty_l2.squared_norm: f32[] = squared_norm(%fc.weight)
//        %penalty_l2: f32[] = mul(%penalty_l2.squared_norm, %penalty_l2.weight)
//   {"op": "clip", "match": "fc.weight", "max": 1}
//     -> %fc.weight.clip: f32[3,4] = clamp(%fc.weight.next) {high = 1.0}
//        update %fc.weight <- %fc.weight.clip
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"
#include "frontend/keys/settings.h"

namespace heddle::frontend {

struct PenaltyContext {
  ir::Builder& b;
  const Settings& settings;
  ir::Values parameters;                       // at least one, each as it lies in memory
  std::function<ir::ValueId(size_t)> logical;  // parameter i in its logical shape
  std::string name;                            // prefix of value names: "penalty_l2"

  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs, std::string_view suffix);
  // The sum of terms, f32[], times the setting `factor`.
  ir::ValueId weighted(const ir::Values& terms, std::string_view factor);
};

struct RegularizerDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  std::function<void(const Settings&)> check = {};
  std::function<ir::ValueId(PenaltyContext&)> penalty;  // the term of the loss, f32[]
  size_t least_rank = 0;                                // the least rank of each parameter
};

struct ConstraintContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId value;  // the parameter's next value, in the axis order of memory; only some rows if the update is sparse
  ir::Dims axes;      // the axes of `value` over which norms are taken; empty if the parameter is one number
  std::string path;   // prefix of value names: "fc.weight"

  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs, std::string_view suffix);
  ir::ValueId norm();                                                 // the root of the sum of squares over `axes`
  ir::ValueId spread(ir::ValueId of_norms, std::string_view suffix);  // broadcasts norms to the shape of `value`
};

struct ConstraintDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  bool norms = false;  // has the setting `axis`
  std::function<void(const Settings&)> check = {};
  std::function<ir::ValueId(ConstraintContext&)> apply;  // of the value's type
};

struct RegisterRegularizer {
  explicit RegisterRegularizer(RegularizerDef def);
};
struct RegisterConstraint {
  explicit RegisterConstraint(ConstraintDef def);
};

const RegularizerDef* find_regularizer(std::string_view name);
const ConstraintDef* find_constraint(std::string_view name);
std::vector<std::string> regularizer_names();
std::vector<std::string> constraint_names();

// The term that the rule adds to the loss, f32[], over the matched parameters that are not frozen; 0 if all of them
// are. Throws UserError if a parameter has too few axes, or has sparse updates. Reports globs that match nothing.
ir::ValueId add_penalty(Instance& e, const Model& model, const WeightRule& rule, const std::string& name,
                        Diagnostics& errors);

// Applies the matching rules of train.constrain, one after another, to `next`, the parameter's value after an update.
// `next` has the axis order of memory. It is only some rows if the update is sparse.
ir::ValueId constrained(ir::Graph& g, const Model& model, const Parameter& p, ir::ValueId next);

}  // namespace heddle::frontend
