// Session: a compiled model on its data and a device. What trains, and what evaluates, begins here.
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
  std::optional<std::filesystem::path> folder = {};  // of the data files; none: rows are given, a batch at a time
  // Whose names of classes and statistics hold for what follows; nullptr: the training rows say.
  const runtime::WeightsFile* weights = nullptr;
  bool train_rows = false;                                          // reads them for an evaluation, too
  std::function<void(const frontend::TrainingPlan&)> planned = {};  // called before any data are looked at
  CompileOptions compile = {};
};

struct Session : Compiled {
  std::map<std::string, std::string> metadata;  // of weights that are saved
  std::future<Splits> loading;                  // the rows, until `load`
  // From `load` on.
  Splits splits;
  std::unique_ptr<runtime::Executable> executable;
};

// Compiles the model for its rows. They are read at the same time: the batches need only their
// counts. Where kernels hold what the rows say, as of normalize without numbers, the rows are read
// first. Throws UserError where the model does not fit the purpose, a file is missing or damaged,
// and as `compile` does.
Session open_session(const frontend::Model& model, const SessionOptions& options);

// Puts the program on the device, and waits for the rows. The session stays where it is from now
// on, and the device is kept beside it. Throws UserError where a compiler is missing, memory does
// not suffice, or the rows are not as promised.
void load(Session& s, runtime::Device& device);

// Sets all states to what a training begins with.
void initialise(Session& s);

// As the model says; a caller adds what else it wants.
runtime::TrainOptions train_options(const Session& s);
// Of the training rows, with an evaluation of the validation rows after each epoch. Throws
// UserError where a loss is not finite, or an index is outside.
runtime::TrainResult train(Session& s, const runtime::TrainOptions& options, const runtime::Watcher& watcher);
runtime::MetricValues evaluate(Session& s, const runtime::Split& split, const runtime::Watcher& watcher);

runtime::BestRule best_rule(const frontend::TrainingPlan& plan);
// Whether a training that was not interrupted ends with the weights of its best epoch: as train.early_stop says.
bool ends_with_best(const frontend::TrainingPlan& plan, const runtime::TrainResult& result);

}  // namespace heddle::driver
