// What weights may be: penalties of train.regularize, which are terms of the loss, and rules of train.constrain, which
// change a parameter's next value behind the optimizer's. Registered like losses, one file each in frontend/regularizers
// and frontend/constraints.
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
  std::function<ir::ValueId(size_t)> logical;  // parameter i as the model speaks of it
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
  std::function<ir::ValueId(PenaltyContext&)> penalty;  // what the loss grows by, f32[]
  size_t least_rank = 0;                                // of each parameter
};

struct ConstraintContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId value;  // what the update makes of the parameter: [its dims] as they lie in memory, or some rows of it
  ir::Dims axes;      // over which norms are taken, of these dims; none where the parameter is one number
  std::string path;   // prefix of value names: "fc.weight"

  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs, std::string_view suffix);
  ir::ValueId norm();                                                 // the root of the sum of squares over `axes`
  ir::ValueId spread(ir::ValueId of_norms, std::string_view suffix);  // what lost `axes`, to the value's shape
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

// What the rule adds to the loss, f32[], over the parameters that it matches and that are not frozen; 0 where all of them
// are. Throws UserError where a parameter has too few axes, or is renewed by rows; globs that match nothing are reported.
ir::ValueId add_penalty(Instance& e, const Model& model, const WeightRule& rule, const std::string& name,
                        Diagnostics& errors);

// `next`, the value that an update makes of the parameter, as the rules of train.constrain that match it make it, one
// after the other. It lies as the parameter does in memory, and is some of its rows where the update is sparse.
ir::ValueId constrained(ir::Graph& g, const Model& model, const Parameter& p, ir::ValueId next);

}  // namespace heddle::frontend
