#include "tools/command/trials_mark.h"

#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "tools/command/read_file.h"
#include "tools/command/resolved_model.h"
#include "tools/driver/json_values.h"

namespace heddle::tools {

using frontend::Json;

std::string text_at(const Json& json, const char* key) {
  const Json* found = json.find(key);
  if (found == nullptr) return {};
  return found->kind == Json::Kind::text ? found->text : driver::json_text(*found);
}

void require_same_mark(const std::string& path, const std::string& before, const std::string& now,
                       const std::vector<const char*>& keys) {
  const SourceFile files[] = {{"mark", before}, {"mark", now}};
  const auto refuse = [&](const std::string& what) {
    throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what),
                    "--overwrite starts anew, another folder keeps what is in this one");
  };
  const auto told = [](const std::string& text) { return text.empty() ? std::string("absent") : text; };
  Json a, b;
  try {
    a = frontend::parse_json(files[0]), b = frontend::parse_json(files[1]);
  } catch (const UserError&) {
    refuse("what says which trials these are is damaged");
  }
  for (const char* key : keys)
    if (text_at(a, key) != text_at(b, key))
      refuse(fmt::format("{} is {}, in the folder it was {}", key, told(text_at(b, key)), told(text_at(a, key))));
  if (text_at(a, "model") == text_at(b, "model")) return;
  try {
    for (const Difference& d : model_differences(text_at(a, "model"), text_at(b, "model")))
      refuse(fmt::format("of another model: {} is {}, in the folder it was {}", d.path, told(d.second), told(d.first)));
  } catch (const UserError& error) {
    if (error.diagnostics().front().message.starts_with(path)) throw;
    refuse("what says which trials these are is damaged");
  }
}

void require_same_file(const std::string& path, const std::string& text) {
  std::string now;
  try {
    now = read_file(path).text;
  } catch (const UserError&) {
  }
  if (now != text)
    throw UserError(ExitCode::failed, fmt::format("{}: the model was changed while its trials ran", path),
                    "with the old file --resume continues; --overwrite starts anew with this one");
}

}  // namespace heddle::tools
