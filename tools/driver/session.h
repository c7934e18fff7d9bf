// Session: a compiled model with its data on a device, for training and evaluation.
//
//   Session s = open_session(model, {.folder = "data", .compile = {.target = device.target}});
//   load(s, *device.device);
//   initialise(s);
//   train(s, train_options(s), watcher);
//
// Predictions of a model with weights: tools/driver/predictor.h.
#pragma once
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/executable.h"
#include "runtime/train/trainer.h"
#include "runtime/weights/safetensors.h"
#include "tools/driver/compile.h"
#include "tools/driver/load_data.h"

namespace heddle::driver {

enum class Purpose { training, evaluation };

struct SessionOptions {
  Purpose purpose = Purpose::training;
  std::optional<std::filesystem::path> folder = {};  // of the data files; nothing: the caller gives one batch at a time
  // Weights whose class names and statistics are used; nullptr: those of the training rows.
  const runtime::WeightsFile* weights = nullptr;
  bool train_rows = false;                                          // reads them also for an evaluation
  std::function<void(const frontend::TrainingPlan&)> planned = {};  // called before any data are read
  CompileOptions compile = {};
};

struct Session : Compiled {
  std::map<std::string, std::string> metadata;  // for weights that are saved
  std::future<Splits> loading;                  // the rows, until `load`
  // Set by `load`.
  Splits splits;
  std::unique_ptr<runtime::Executable> executable;
};

// Compiles the model for its data. Rows are read meanwhile, because the batch sizes need only their number. Where
// kernels depend on the rows, as for normalize without numbers, the rows are read first. Throws UserError where the
// model does not fit the purpose, where a file is missing or damaged, and as `compile` does.
Session open_session(const frontend::Model& model, const SessionOptions& options);

// Loads the program on the device, and waits for the rows. Afterwards the session must not be moved, and the device
// must outlive it. Throws UserError where a compiler is missing, where memory does not suffice, or where the rows
// differ from the files' headers.
void load(Session& s, runtime::Device& device);

// Sets all states to their initial values.
void initialise(Session& s);

// Options from the model; the caller may change them.
runtime::TrainOptions train_options(const Session& s);
// Trains on the training rows, and evaluates the validation rows after each epoch. Throws UserError where a loss is not
// finite, or an index is out of range.
runtime::TrainResult train(Session& s, const runtime::TrainOptions& options, const runtime::Watcher& watcher);
runtime::MetricValues evaluate(Session& s, const runtime::Split& split, const runtime::Watcher& watcher);

runtime::BestRule best_rule(const frontend::TrainingPlan& plan);
// Whether a training ends with the weights of its best epoch: train.early_stop asks for it, and the training was not
// interrupted.
bool ends_with_best(const frontend::TrainingPlan& plan, const runtime::TrainResult& result);

}  // namespace heddle::driver
