// Sparse updates: applies an optimizer's rule only to the rows of an embedding's weight that a batch looks up.
//
//   %users = gather(%users.weight, %user)                 what the model says, with "sparse": true
//   %users.grad = gradient(%loss, %users)                 of the rows that were found, not of the table
//   %order, %sorted = argsort(%user)                      equal indices are neighbours
//   %first = cummax(..)                                   for each of them the place of the first
//   %sum = scatter_rows(0, %first, %order, %users.grad)   the gradient of row sorted[i], at the first place of each row
//   %next = rule(gather(%users.weight, %sorted), %sum)
//   update %users.weight <- scatter_rows(%users.weight, %sorted, %first, %next) {combine = "set"}
//
// The last operator runs in place, so memory and time of a step are proportional to the rows of the batch. Only the
// first place of each row holds a valid number; the others are not read. A step that is skipped after an overflow
// writes the rows unchanged.
#pragma once
#include <optional>

#include "frontend/instantiate/instantiate.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {

// The indices of all lookups in a table, and the gradients of the rows found: one row per index, before rows with equal
// indices are added up.
struct LookedUp {
  ir::ValueId indices, gradients;  // [n], [n, units]
};
LookedUp looked_up(ir::Builder& b, const Parameter& p, const ir::Values& lookups, ir::ValueId loss);

struct SparseRows {
  ir::ValueId sorted;    // the batch's indices, [n]
  ir::ValueId first;     // i32[n]: the first place of the same index
  ir::ValueId gradient;  // [n, units]: the sums, at first places; 0 elsewhere
};

// Throw UserError if the optimizer or the model needs the gradient of every row.
void require_sparse_rule(const Parameter& p, const Model& model, const OptimizerDef& def);
void require_no_decay(const Parameter& p, const OptimizerDef& def, const Settings& settings, double decay);
// The results of the gathers on the table that the loss depends on. Throws UserError if another operator reads the
// table.
ir::Values lookups_of(const Instance& e, const Parameter& p, const std::vector<bool>& reached);

SparseRows sparse_rows(ir::Builder& b, const Parameter& p, const LookedUp& found);
// Reads the rows of the batch from the weight, or from a state with its shape, and writes their next values back.
ir::ValueId read_rows(ir::Builder& b, const SparseRows& rows, ir::ValueId table);
ir::ValueId write_rows(ir::Builder& b, const SparseRows& rows, ir::ValueId table, ir::ValueId next);
// Whether the state is a weight with sparse updates, or an optimizer's state for one ("users.weight.m").
bool has_sparse_rows(const Instance& e, ir::ValueId state);

}  // namespace heddle::frontend
