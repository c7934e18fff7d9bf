#include "frontend/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/initializer.h"
#include "frontend/layer_def.h"
#include "frontend/training_def.h"
#include "ir/check.h"
#include "ir/map_def.h"
#include "ir/op_def.h"

namespace heddle::frontend {
namespace {

// A cell ends at '|'.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string fallback_text(const ir::Attr& fallback) {
  if (const auto* real = std::get_if<double>(&fallback)) return fmt::format("{}", *real);
  const auto* list = std::get_if<ir::Dims>(&fallback);
  if (list != nullptr && list->size() == 1) return fmt::format("{}", list->front());
  return ir::to_string(fallback);
}

// Empty where there is none. A default that is no value stands behind the last colon: "one number or [h, w]: the window".
std::string default_of(const SettingDef& s) {
  if (s.fallback) {
    const auto* word = std::get_if<std::string>(&*s.fallback);
    return word != nullptr && word->empty() ? "" : fallback_text(*s.fallback);
  }
  const size_t colon = s.doc.rfind(": ");
  return s.required || colon == std::string::npos ? "" : s.doc.substr(colon + 2);
}

// `units`, `bias` (true)
std::string settings_text(const std::vector<SettingDef>& settings) {
  std::vector<std::string> items;
  for (const SettingDef& s : settings) {
    const std::string value = default_of(s);
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
    const std::string inputs = fmt::format("{}{}", fmt::join(def.inputs, ", "), def.variadic ? "..." : "");
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
    text += row(
        {"`" + name + "`", fmt::format("{}", fmt::join(def.inputs, ", ")), settings_text(def.settings), cell(def.doc)});
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

template <class Def>
void add_rules(std::vector<ReferenceEntry>& out, const std::string& kind, const std::vector<std::string>& names,
               const Def* (*find)(std::string_view)) {
  for (const std::string& name : names) {
    const Def& def = *find(name);
    ReferenceEntry entry{.kind = kind, .name = name, .doc = def.doc, .settings = def.settings};
    if constexpr (requires { def.inputs; }) entry.inputs = def.inputs;
    if constexpr (requires { def.parameters; }) entry.parameters = def.parameters;
    for (const SettingDef& s : def.settings) entry.types.push_back(setting_type_text(s.type));
    out.push_back(std::move(entry));
  }
}

std::string map_keys(const ir::MapDef& def) {
  std::vector<std::string> items;
  for (const ir::MapKey& key : def.keys)
    items.push_back(fmt::format("`{}`", key.name) + (key.fallback ? fmt::format(" ({})", *key.fallback) : ""));
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string maps() {
  std::string text = head({"map", "settings (default)", "of", "in", "meaning"});
  for (const std::string& name : ir::map_names()) {
    const ir::MapDef& def = *ir::find_map(name);
    text += row({"`" + name + "`", map_keys(def),
                 def.picture    ? "pictures"
                 : def.integers ? "integers"
                                : "f32, f64",
                 def.training ? "training" : "all", cell(def.doc)});
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
  return out;
}

std::string setting_type_text(SettingType type) {
  switch (type) {
    case SettingType::flag: return "true or false";
    case SettingType::integer: return "an integer or an expression";
    case SettingType::real: return "a number or an expression";
    case SettingType::text: return "a word";
    case SettingType::integers: return "an integer or a list of integers";
    case SettingType::reals: return "a number or a list of numbers";
    case SettingType::part: return "a name or {\"op\": name, ...}";
    case SettingType::padding: return "valid, same, an integer, [h, w] or [top, bottom, left, right]";
  }
  return {};
}

std::string default_text(const SettingDef& setting) { return default_of(setting); }

const std::vector<std::string>& reference_kinds() {
  static const std::vector<std::string> kinds = {"layers",    "losses",       "metrics", "optimizers",
                                                 "schedules", "initializers", "maps"};
  return kinds;
}

std::string reference_table(std::string_view kind) {
  if (kind == "layers") return layers();
  if (kind == "losses") return measures("loss", loss_names(), find_loss);
  if (kind == "metrics") return measures("metric", metric_names(), find_metric);
  if (kind == "optimizers") return rules("optimizer", optimizer_names(), find_optimizer);
  if (kind == "schedules") return rules("schedule", schedule_names(), find_schedule);
  if (kind == "maps") return maps();
  HEDDLE_CHECK(kind == "initializers", std::string(kind));
  return rules("initializer", initializer_names(), find_initializer);
}

}  // namespace heddle::frontend
