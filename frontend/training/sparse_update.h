// Sparse updates: an optimizer's rule on those rows of an embedding's weight that a batch looks up, and on no others.
//
//   %users = gather(%users.weight, %user)                 what the model says, with "sparse": true
//   %users.grad = gradient(%loss, %users)                 of the rows that were found, not of the table
//   %order, %sorted = argsort(%user)                      equal indices are neighbours
//   %first = cummax(..)                                   for each of them the place of the first
//   %sum = scatter_rows(0, %first, %order, %users.grad)   the gradient of row sorted[i], at the first place of each row
//   %next = rule(gather(%users.weight, %sorted), %sum)
//   update %users.weight <- scatter_rows(%users.weight, %sorted, %first, %next) {combine = "set"}
//
// The last is executed in place: a step takes memory and time in proportion to the rows of the batch. Places that are
// not the first of their row hold numbers that nobody reads. A step that an overflow skips writes the rows as they were.
#pragma once
#include <optional>

#include "frontend/instantiate/instantiate.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {

// What lookups read of a table, and their gradients: a row for each index, before equal ones are added up.
struct LookedUp {
  ir::ValueId indices, gradients;  // [n], [n, units]
};
LookedUp looked_up(ir::Builder& b, const Parameter& p, const ir::Values& lookups, ir::ValueId loss);

struct SparseRows {
  ir::ValueId sorted;    // the batch's indices, [n]
  ir::ValueId first;     // i32[n]: the first place of the same index
  ir::ValueId gradient;  // [n, units]: the sums, at first places; 0 elsewhere
};

// Throws UserError where the optimizer or the model needs the gradient of every row. `lookups` are the results of the
// gathers that the loss depends on.
void require_sparse_rule(const Parameter& p, const Model& model, const OptimizerDef& def);
void require_no_decay(const Parameter& p, const OptimizerDef& def, const Settings& settings, double decay);
ir::Values lookups_of(const Instance& e, const Parameter& p, const std::vector<bool>& reached);

SparseRows sparse_rows(ir::Builder& b, const Parameter& p, const LookedUp& found);
// What the rule reads of the weight or of a state of its shape, and what is written back.
ir::ValueId read_rows(ir::Builder& b, const SparseRows& rows, ir::ValueId table);
ir::ValueId write_rows(ir::Builder& b, const SparseRows& rows, ir::ValueId table, ir::ValueId next);
// Whether the state is such a weight, or what an optimizer keeps of one ("users.weight.m").
bool has_sparse_rows(const Instance& e, ir::ValueId state);

}  // namespace heddle::frontend
