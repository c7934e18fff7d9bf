#include "frontend/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/initializer.h"
#include "frontend/layer_def.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"
#include "ir/check.h"
#include "ir/keys/key_text.h"
#include "ir/map_def.h"
#include "ir/op_def.h"
#include "runtime/data/reader_def.h"

namespace heddle::frontend {
namespace {

// A cell ends at '|'.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

// `units`, `bias` (true)
std::string settings_text(Keys settings) {
  std::vector<std::string> items;
  for (const Key& s : settings) {
    const std::string value = ir::default_text(s);
    items.push_back(fmt::format("`{}`", s.name) + (value.empty() ? "" : fmt::format(" ({})", cell(value))));
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string head(const std::vector<std::string>& titles) {
  return row(titles) + "|" + fmt::format("{}", fmt::join(std::vector<std::string>(titles.size(), "---|"), "")) + "\n";
}

// Operators of the IR that work element by element are listed by `heddle ops`.
std::string layers() {
  std::string text = head({"op", "`in`", "settings (default)", "parameters", "result"});
  for (const std::string& name : layer_names()) {
    const ir::OpDef* op = ir::find_op(name);
    if (op != nullptr && std::holds_alternative<ir::Elementwise>(op->kind)) continue;
    const LayerDef& def = *find_layer(name);
    std::string inputs = fmt::format("{}{}", fmt::join(def.inputs, ", "), def.variadic ? "..." : "");
    for (const std::string& port : def.optional) inputs += fmt::format(", [{}]", port);
    text += row({"`" + name + "`", inputs, settings_text(def.settings), cell(def.parameters), cell(def.doc)});
  }
  return text;
}

// Records of losses and metrics say what they read.
template <class Def>
std::string measures(const std::string& kind, const std::vector<std::string>& names,
                     const Def* (*find)(std::string_view)) {
  std::string text = head({kind, "`in`", "settings (default)", "value"});
  for (const std::string& name : names) {
    const Def& def = *find(name);
    std::string inputs = fmt::format("{}", fmt::join(def.inputs, ", "));
    for (const std::string& port : def.optional) inputs += fmt::format(", [{}]", port);
    text += row({"`" + name + "`", inputs, settings_text(def.settings), cell(def.doc)});
  }
  return text;
}

template <class Def>
std::string rules(const std::string& kind, const std::vector<std::string>& names,
                  const Def* (*find)(std::string_view)) {
  std::string text = head({kind, "settings (default)", "meaning"});
  for (const std::string& name : names) {
    const Def& def = *find(name);
    text += row({"`" + name + "`", settings_text(def.settings), cell(def.doc)});
  }
  return text;
}

// `header` (true): the first line names the columns
std::string readers() {
  std::string text = head({"reader", "keys (default)", "rows"});
  for (const std::string& name : runtime::data::reader_names()) {
    const runtime::data::ReaderDef& def = *runtime::data::find_reader(name);
    std::vector<std::string> keys;
    for (const Key& key : def.keys) {
      const std::string value = ir::default_text(key);
      keys.push_back(fmt::format("`{}`{}: {}{}", key.name, value.empty() ? "" : fmt::format(" ({})", value),
                                 ir::doc_text(key),
                                 key.words.empty() ? "" : fmt::format(", {}", fmt::join(key.words, " or "))));
    }
    text += row({"`" + name + "`", fmt::format("{}", fmt::join(keys, "; ")), def.doc});
  }
  return text;
}

// The keys of a section of the model.
std::string section(Keys keys) {
  std::string text = head({"key", "value (default)"});
  for (const Key& key : keys) {
    if (key.type == KeyType::planned) continue;
    const std::string value = ir::default_text(key);
    text += row({"`" + key.name + "`", cell(ir::doc_text(key)) + (key.required ? ", required" : "") +
                                           (value.empty() ? "" : fmt::format(" ({})", cell(value)))});
  }
  return text;
}

template <class Def>
void add_rules(std::vector<ReferenceEntry>& out, const std::string& kind, const std::vector<std::string>& names,
               const Def* (*find)(std::string_view)) {
  for (const std::string& name : names) {
    const Def& def = *find(name);
    ReferenceEntry& entry = out.emplace_back(ReferenceEntry{.kind = kind, .name = name, .doc = def.doc});
    if constexpr (requires { def.settings; }) entry.settings = def.settings;
    if constexpr (requires { def.keys; }) entry.settings = def.keys;
    if constexpr (requires { def.inputs; }) entry.inputs = def.inputs;
    if constexpr (requires { def.optional; }) entry.optional = def.optional;
    if constexpr (requires { def.parameters; }) entry.parameters = def.parameters;
  }
}

std::string maps() {
  std::string text = head({"map", "settings (default)", "of", "in", "meaning"});
  for (const std::string& name : ir::map_names()) {
    const ir::MapDef& def = *ir::find_map(name);
    text += row({"`" + name + "`", settings_text(def.keys),
                 def.picture    ? "pictures"
                 : def.integers ? "integers"
                                : "f32, f64",
                 def.training    ? "training"
                 : def.evaluates ? "training, evaluation"
                                 : "all",
                 cell(def.doc)});
  }
  return text;
}

}  // namespace

std::vector<ReferenceEntry> reference_entries() {
  std::vector<ReferenceEntry> out;
  add_rules(out, "layer", layer_names(), find_layer);
  add_rules(out, "loss", loss_names(), find_loss);
  add_rules(out, "metric", metric_names(), find_metric);
  add_rules(out, "optimizer", optimizer_names(), find_optimizer);
  add_rules(out, "schedule", schedule_names(), find_schedule);
  add_rules(out, "initializer", initializer_names(), find_initializer);
  add_rules(out, "regularizer", regularizer_names(), find_regularizer);
  add_rules(out, "constraint", constraint_names(), find_constraint);
  add_rules(out, "reader", runtime::data::reader_names(), runtime::data::find_reader);
  add_rules(out, "map", ir::map_names(), ir::find_map);
  return out;
}

std::vector<std::string> reference_tables() {
  std::vector<std::string> names;
  for (const KeyTable& table : key_tables()) names.push_back(table.name);
  for (const char* name : {"layers", "losses", "metrics", "optimizers", "schedules", "regularizers", "constraints",
                           "initializers", "readers", "maps"})
    names.emplace_back(name);
  return names;
}

std::string reference_table(std::string_view name) {
  for (const KeyTable& table : key_tables())
    if (table.name == name) return section(table.keys);
  if (name == "layers") return layers();
  if (name == "losses") return measures("loss", loss_names(), find_loss);
  if (name == "metrics") return measures("metric", metric_names(), find_metric);
  if (name == "optimizers") return rules("optimizer", optimizer_names(), find_optimizer);
  if (name == "schedules") return rules("schedule", schedule_names(), find_schedule);
  if (name == "regularizers") return rules("regularizer", regularizer_names(), find_regularizer);
  if (name == "constraints") return rules("constraint", constraint_names(), find_constraint);
  if (name == "readers") return readers();
  if (name == "maps") return maps();
  HEDDLE_CHECK(name == "initializers", std::string(name));
  return rules("initializer", initializer_names(), find_initializer);
}

}  // namespace heddle::frontend
