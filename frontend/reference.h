// The reference of all layers, losses, optimizers and other parts, generated from their definitions: as data, and as
// Markdown tables.
//
//   reference_table("optimizers")
//     -> | optimizer | settings (default) | meaning |
//        |---|---|---|
//        | `sgd` | `lr` (0.001), `momentum` (0), ... | stochastic gradient descent, with momentum where given |
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "frontend/keys/model_keys.h"

namespace heddle::frontend {

// A definition in one of the registries, as data.
struct ReferenceEntry {
  // "layer", "loss", "metric", "optimizer", "schedule", "initializer", "regularizer", "constraint", "reader", "map"
  std::string kind;
  std::string name, doc;
  std::vector<std::string> inputs = {};    // of layers, losses and metrics
  std::vector<std::string> optional = {};  // further inputs, which may be left out
  Keys settings = {};
  std::string parameters = {};  // of layers
};
std::vector<ReferenceEntry> reference_entries();  // kind by kind, sorted by name

// The names of the tables: the sections of a model; layers, losses, metrics, optimizers, schedules, regularizers,
// constraints, initializers, readers, maps.
std::vector<std::string> reference_tables();
std::string reference_table(std::string_view name);  // the table in Markdown

}  // namespace heddle::frontend
