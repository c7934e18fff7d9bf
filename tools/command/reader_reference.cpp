#include "tools/command/reader_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>
#include <vector>

#include "runtime/data/reader_def.h"

namespace heddle::tools {
namespace {

using runtime::data::ReaderDef;
using runtime::data::ReaderKey;

std::string type_text(runtime::data::KeyType type) {
  using runtime::data::KeyType;
  switch (type) {
    case KeyType::flag: return "true or false";
    case KeyType::integer: return "an integer or an expression";
    case KeyType::real: return "a number or an expression";
    case KeyType::text: return "a text";
    case KeyType::texts: return "a text or a list of them";
    case KeyType::path: return "a path";
    case KeyType::paths: return "a path or a list of them";
    case KeyType::classes: return "an object: for an input a list of names, or \"sorted\"";
  }
  return {};
}

frontend::SettingDef as_setting(const ReaderKey& key) {
  frontend::SettingDef setting{.name = key.name, .doc = key.doc, .fallback = {}, .required = key.required};
  if (!key.fallback) return setting;
  if (const auto* flag = std::get_if<bool>(&*key.fallback)) setting.fallback = *flag;
  if (const auto* integer = std::get_if<int64_t>(&*key.fallback)) setting.fallback = *integer;
  if (const auto* real = std::get_if<double>(&*key.fallback)) setting.fallback = *real;
  const auto* words = std::get_if<std::vector<std::string>>(&*key.fallback);
  if (words != nullptr && words->size() == 1) setting.fallback = words->front();
  return setting;
}

// `header` (true): the first line names the columns
std::string key_text(const ReaderKey& key) {
  const std::string fallback = frontend::default_text(as_setting(key));
  return fmt::format("`{}`{}: {}{}", key.name, fallback.empty() ? "" : fmt::format(" ({})", fallback), key.doc,
                     key.choices.empty() ? "" : fmt::format(", {}", fmt::join(key.choices, " or ")));
}

}  // namespace

frontend::ReferenceEntry reader_entry(const std::string& name) {
  const ReaderDef& def = *runtime::data::find_reader(name);
  frontend::ReferenceEntry entry{.kind = "reader", .name = name, .doc = def.doc};
  for (const ReaderKey& key : def.keys) {
    entry.settings.push_back(as_setting(key));
    entry.types.push_back(type_text(key.type));
  }
  return entry;
}

std::string readers_table() {
  std::string text = "| reader | keys (default) | rows |\n|---|---|---|\n";
  for (const std::string& name : runtime::data::reader_names()) {
    const ReaderDef& def = *runtime::data::find_reader(name);
    std::vector<std::string> keys;
    for (const ReaderKey& key : def.keys) keys.push_back(key_text(key));
    text += fmt::format("| `{}` | {} | {} |\n", name, fmt::join(keys, "; "), def.doc);
  }
  return text;
}

}  // namespace heddle::tools
