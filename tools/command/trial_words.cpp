#include "tools/command/trial_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "ir/diagnostic.h"

namespace heddle::tools {

std::vector<std::string> train_words(const RunArguments& a, int jobs) {
  if (a.model.model == "-")
    throw UserError(ExitCode::usage, "the model cannot come from standard input here: each process reads it",
                    "save it as a file, and name that");
  const std::string& model = a.model.model;
  std::vector<std::string> words{"/proc/self/exe", "train", model.starts_with('-') ? "./" + model : model};
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.push_back(option + "=" + value);
  };
  const auto add_number = [&](const std::string& option, double value) {
    if (value != 0) words.push_back(fmt::format("{}={}", option, value));
  };
  for (const std::string& set : a.model.set) add("--set", set);
  add("--epochs", a.model.epochs), add("--lr", a.model.lr), add("--batch", a.model.batch);
  add("--seed", a.model.seed);
  if (a.model.small) words.emplace_back("--small");
  add("--memory-limit", a.model.memory_limit), add("--libraries", a.model.libraries);
  add("--choices", a.model.choices);
  add("--data", a.data), add("--weights-prefix", a.prefix);
  for (const std::string& weights : a.weights) add("--weights", weights);
  add("--device", a.device.device);
  const int threads = a.device.threads > 0 ? a.device.threads : static_cast<int>(std::thread::hardware_concurrency());
  add_number("--threads", std::max(1, threads / jobs));
  add_number("--repeat", a.repeat);
  if (a.check_finite) words.emplace_back("--check-finite");
  add("--checkpoint-every", a.saving.every), add("--step-timeout", a.saving.step_timeout);
  add_number("--max-memory", a.saving.max_memory);
  return words;
}

}  // namespace heddle::tools
