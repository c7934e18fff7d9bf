#include "tools/driver/class_names.h"

#include <fmt/format.h>

#include "frontend/json/json.h"
#include "ir/diagnostic.h"
#include "runtime/json_text.h"

namespace heddle::driver {
namespace {

std::string key_of(const frontend::PlannedInput& input) { return "heddle.classes." + input.name; }

// Places in the text would mean nothing to the reader of the message: it is the file that is wrong.
std::vector<std::string> read_list(const std::string& text, const std::string& key, const std::string& file) {
  const SourceFile source{file, text};
  std::vector<std::string> names;
  try {
    const frontend::Json list = frontend::parse_json(source);
    for (const frontend::Json& item : frontend::as_list(list, key).items) names.push_back(frontend::as_text(item, key));
  } catch (const UserError&) {
    throw UserError(ExitCode::failed, fmt::format("{}: the metadata '{}' is no list of names", file, key));
  }
  return names;
}

}  // namespace

std::map<std::string, std::string> class_metadata(const frontend::TrainingPlan& plan, const ClassNames& names) {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    out[key_of(plan.inputs[i])] = runtime::json_texts(names[i]);
  }
  return out;
}

ClassNames class_names(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights) {
  ClassNames names(plan.inputs.size());
  bool any = false;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto found = weights.metadata.find(key_of(plan.inputs[i]));
    if (found == weights.metadata.end()) continue;
    names[i] = read_list(found->second, found->first, weights.name);
    any = true;
  }
  return any ? names : ClassNames();
}

}  // namespace heddle::driver
