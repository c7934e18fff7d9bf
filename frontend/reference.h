// The reference of what models may name, in Markdown, from the records themselves.
//
//   reference_table("optimizers")
//     -> | optimizer | settings (default) | meaning |
//        |---|---|---|
//        | `sgd` | `lr` (0.001), `momentum` (0), ... | stochastic gradient descent, with momentum where given |
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "frontend/settings.h"

namespace heddle::frontend {

// A record of one of the registries, as data.
struct ReferenceEntry {
  std::string kind;  // "layer", "loss", "metric", "optimizer", "schedule", "initializer"
  std::string name, doc;
  std::vector<std::string> inputs = {};  // of layers, losses and metrics
  std::vector<SettingDef> settings = {};
  std::string parameters = {};          // of layers
  std::vector<std::string> types = {};  // what each setting takes; empty where its text says so
};
std::vector<ReferenceEntry> reference_entries();  // kind by kind, sorted by name
// "one number or [h, w]": what a setting takes.
std::string setting_type_text(SettingType type);
// As the tables show it; empty where there is none.
std::string default_text(const SettingDef& setting);

// layers, losses, metrics, optimizers, schedules, initializers, maps
const std::vector<std::string>& reference_kinds();
std::string reference_table(std::string_view kind);  // of one of these

}  // namespace heddle::frontend
