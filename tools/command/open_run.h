// Makes a session from command-line arguments, for heddle train and heddle evaluate.
//
//   RunArguments a; add_run_arguments(command, a);
//   Run run; open_run(a, driver::Purpose::evaluation, run); load_weights(run); ...
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/json_text.h"
#include "runtime/train/metrics.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/model_arguments.h"
#include "tools/command/run_arguments.h"
#include "tools/command/saved_run.h"
#include "tools/driver/open_device.h"
#include "tools/driver/session.h"
#include "tools/generate/generated_metrics.h"

namespace heddle::tools {

class Command;

struct RunArguments {
  ModelArguments model;
  driver::DeviceRequest device;
  SavingArguments saving;
  std::string data, prefix, save, log;
  std::vector<std::string> weights;  // a base, and its adapters
  int repeat = 0;
  int folds = 0, fold = 0, jobs = 1;  // folds: 0: no cross-validation; fold: 0: all folds
  int stop_after = 0;                 // epochs; 0: as many as the model says
  bool check_finite = false;          // a step with nan or infinity is executed again by oracles
  bool json = false, quiet = false;
};

void add_run_arguments(Command& command, RunArguments& a);
void add_weights_arguments(Command& command, RunArguments& a, const std::string& help);

// Everything a run needs, compiled and loaded.
struct Run {
  driver::ReadModel read;
  std::optional<runtime::WeightsFile> weights;  // to start from
  SavedRun* saved = nullptr;                    // only in a training
  driver::OpenedDevice device;
  driver::Session session;
  std::unique_ptr<GeneratedMetrics> generated;  // nullptr: no metric of generated texts
};

void open_run(const RunArguments& a, driver::Purpose purpose, Run& run);
// Loads the weights to start from into the states, and frees their memory.
void load_weights(Run& run);
// Reads the weights of --weights for the model. `begins`: a training begins with them, so quantised weights are an
// error.
runtime::WeightsFile read_start(const RunArguments& a, const frontend::Model& model, bool begins = false);
// Prepares the metrics of generated texts; to be called after the weights are loaded. Does nothing where the model has
// no such metric.
void open_generated(const RunArguments& a, Run& run);
// Computes these metrics on a split, with the weights that evaluations read.
runtime::MetricValues generated_metrics(Run& run, const runtime::Split& split, const std::function<int()>& interrupted);

// Prints a note about unusual behaviour.
void note(const std::string& text);
void announce(const RunArguments& a, const Run& run);
void report_metrics(const std::string& split, const runtime::MetricValues& values);
// Adds the fields about the program and the process that every result has.
void add_common(runtime::JsonObject& out, Run& run);

}  // namespace heddle::tools
