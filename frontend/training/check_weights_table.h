// Checks that the parameters in a model's table of foreign names exist.
//
//   "names": {"h.{i}.mlp.{p}": "h.{i}.fcc.{p}"}   ->   no parameter is called "h.{i}.fcc.{p}"; did you mean ...
#pragma once
#include "frontend/instantiate/instantiate.h"
#include "frontend/model.h"

namespace heddle::frontend {

void check_weights_table(const WeightsTable& table, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
