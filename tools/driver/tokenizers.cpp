#include "tools/driver/tokenizers.h"

#include <fmt/format.h>

#include "ir/diagnostic.h"
#include "runtime/text/tokenizer.h"

namespace heddle::driver {
namespace {

std::string key_of(const frontend::PlannedInput& input) { return "heddle.tokenizer." + input.name; }

// Places in the text would mean nothing to the reader of the message: it is the file that is wrong.
void require_tokenizer(const std::string& text, const std::string& key, const std::string& file) {
  const SourceFile source{file, text};
  try {
    runtime::text::read_tokenizer_json(source);
  } catch (const UserError& error) {
    throw UserError(ExitCode::failed, fmt::format("{}: the metadata '{}' is no tokenizer: {}", file, key,
                                                  error.diagnostics().front().message));
  }
}

}  // namespace

std::map<std::string, std::string> tokenizer_metadata(const frontend::TrainingPlan& plan, const Tokenizers& all) {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].empty()) out[key_of(plan.inputs[i])] = all[i];
  return out;
}

Tokenizers tokenizers(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights) {
  Tokenizers all(plan.inputs.size());
  bool any = false;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto found = weights.metadata.find(key_of(plan.inputs[i]));
    if (found == weights.metadata.end()) continue;
    require_tokenizer(found->second, found->first, weights.name);
    all[i] = found->second;
    any = true;
  }
  return any ? all : Tokenizers();
}

}  // namespace heddle::driver
