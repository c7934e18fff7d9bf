// What a run's folder and weights say beside their numbers, and the words of the command line, mutated.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "frontend/read/read_model.h"
#include "runtime/files/temporary.h"
#include "runtime/json_text.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/made_files.h"
#include "tests/support/source_dir.h"
#include "tests/support/text_files.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/saved_run.h"
#include "tools/driver/class_names.h"
#include "tools/driver/statistics.h"

namespace heddle::testing {
namespace {

constexpr const char* kModel = R"({
  "format": "heddle-model/1", "name": "line", "inputs": {"x": {"shape": ["N", 4]}, "y": {"shape": ["N"], "dtype": "i32"}},
  "nodes": [{"name": "out", "op": "dense", "in": "x", "units": 3}], "outputs": {"out": "out"},
  "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "cross_entropy", "in": ["out", "y"]}, "optimizer": "sgd"},
  "data": {"train": {"op": "npy", "x": "x.npy", "y": "y.npy"}, "map": {"x": ["normalize"]}}})";

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// A checkpoint of a training of the model, with its checksums.
std::string checkpoint_of(const std::string& model) {
  const std::string header = fmt::format(
      R"({{"__metadata__": {{"heddle.checkpoint": "1", "heddle.step": "7", "heddle.epoch": "2", "heddle.step_of_epoch": "1", )"
      R"("heddle.seconds": "0.5", "heddle.epochs_without_better": "0", "heddle.model": {}, "heddle.model_hash": "{}"}}, )"
      R"("heddle/checksum": {{"dtype": "U8", "shape": [16], "data_offsets": [0,16]}}}})",
      runtime::json_quoted(model), hash_of(model));
  return sealed(safetensors(header, 16));
}

bool resumes(const std::string& folder) {
  tools::SavingArguments arguments;
  arguments.run = folder, arguments.resume = true;
  tools::SavedRun run(arguments);
  run.choose(kModel, false);
  return run.resumes();
}

// The folder's mark, its model and the model that a checkpoint holds: one that reads as another resumes nothing.
TEST(Fuzz, RunFolders) {
  const runtime::TemporaryFolder temporary;
  const std::string folder = temporary.path() + "/run", checkpoint = folder + "/checkpoint-000000000007.safetensors";
  std::filesystem::create_directory(folder);
  write_text(folder + "/heddle-run.json", "{\"format\": \"heddle-run/1\"}\n");
  write_text(checkpoint, checkpoint_of(kModel));
  ASSERT_TRUE(resumes(folder));
  Campaign c{.name = "run", .corpus = {kModel}, .quiet = true, .target = {}};
  c.target = [&](const std::string& model) {
    write_text(folder + "/heddle-run.json", model.substr(model.size() / 2));
    write_text(folder + "/model.json", model);
    write_text(checkpoint, checkpoint_of(model));
    resumes(folder);
  };
  run(c, 1000);
}

// Vocabularies and statistics in the metadata of weights.
TEST(Fuzz, Metadata) {
  frontend::Sources sources;
  const frontend::Model model = frontend::read_model(sources, sources.add("m.json", kModel));
  const frontend::TrainingPlan plan = frontend::plan_training(model);
  const auto take = [&](const std::string& classes, const std::string& statistics) {
    const runtime::WeightsFile file{.name = "w",
                                    .tensors = {},
                                    .metadata = {{"heddle.classes.y", classes}, {"heddle.normalize.x", statistics}},
                                    .data = {}};
    frontend::TrainingPlan fitted = plan;
    driver::take_statistics(fitted, file);
    if (driver::waits_for_statistics(fitted)) throw std::runtime_error("statistics that are none are taken");
    return driver::class_names(fitted, file);
  };
  const std::string classes = R"(["ant", "b\"ee", "\u00e9"])",
                    statistics = R"({"mean": [1, 2, 3, 4], "std": [1, 2.5, 3e-3, 4]})";
  EXPECT_EQ(take(classes, statistics).at(1).size(), 3);  // what is not mutated is read
  Campaign names{.name = "classes", .corpus = {classes}, .target = {}};
  names.target = [&](const std::string& text) { take(text, statistics); };
  run(names, 1500);
  Campaign numbers{.name = "statistics", .corpus = {statistics}, .target = {}};
  numbers.target = [&](const std::string& text) { take(classes, text); };
  run(numbers, 1500);
}

// Subcommands that only read and print: what a word may be, and what is said of a wrong one.
TEST(Fuzz, CommandLines) {
  const std::string model = (source_dir() / "models/mlp.json").string();
  Campaign c{.name = "words",
             .corpus = {"completion bash", "completion zsh", "schema", "help schema", "help", "ops dense", "--version",
                        "check " + model + " --set train.batch.N=7 --set layout=\"NCHW\"",
                        "check " + model + " --batch 7 --lr 1e-3 --seed 7 --epochs 2 --small"},
             .quiet = true,
             .target = {}};
  c.target = [](const std::string& text) {
    std::vector<std::string> words = {"heddle"};
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    std::vector<char*> argv;
    argv.reserve(words.size());
    for (std::string& word : words) argv.push_back(word.data());
    tools::CommandLine line("Reads.", "heddle 0");
    tools::add_check(line), tools::add_completion(line), tools::add_ops(line), tools::add_schema(line);
    const int status = line.parse(static_cast<int>(argv.size()), argv.data());
    if (status < 0 || status > 2) throw std::runtime_error("exit code " + std::to_string(status));
  };
  run(c, 300);
}

TEST(Fuzz, Durations) {
  Campaign c{.name = "durations", .corpus = {"500 steps", "2 epochs", "10 minutes", "1.5h", "90s", "0"}, .target = {}};
  c.target = [](const std::string& text) {
    const double seconds = tools::duration(text, "--max-time");
    if (!(seconds >= 0) || std::isinf(seconds)) throw std::runtime_error("no time");
    const runtime::SaveRule rule = tools::save_rule(text, {});
    if (rule.steps < 0 || rule.epochs < 0 || !(rule.seconds >= 0)) throw std::runtime_error("a negative rule");
    if (rule.steps == 0 && rule.epochs == 0 && rule.seconds == 0) throw std::runtime_error("never");
  };
  run(c, 3000);
}

}  // namespace
}  // namespace heddle::testing
