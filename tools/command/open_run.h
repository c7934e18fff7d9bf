// From the command line's arguments to a session: what heddle train and heddle evaluate share.
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
  std::vector<std::string> weights;  // a base, and adapters of it
  int repeat = 0;
  int folds = 0, fold = 0, jobs = 1;  // of a cross-validation; 0: none, all folds
  int stop_after = 0;                 // epochs; 0: as many as the model says
  bool check_finite = false;          // a step that is not finite is done once more
  bool json = false, quiet = false;
};

void add_run_arguments(Command& command, RunArguments& a);
void add_weights_arguments(Command& command, RunArguments& a, const std::string& help);

// Everything a run needs, compiled and loaded.
struct Run {
  driver::ReadModel read;
  std::optional<runtime::WeightsFile> weights;  // to start from
  SavedRun* saved = nullptr;                    // of a training
  driver::OpenedDevice device;
  driver::Session session;
  std::unique_ptr<GeneratedMetrics> generated;  // nullptr: the model has no metric of texts that it writes
};

void open_run(const RunArguments& a, driver::Purpose purpose, Run& run);
// The weights to start from, into the states; their memory is given back.
void load_weights(Run& run);
// Those of --weights, for the model. `begins`: a training begins with them, which quantised ones do not.
runtime::WeightsFile read_start(const RunArguments& a, const frontend::Model& model, bool begins = false);
// What is needed for the metrics of texts that the model writes, once the weights are there; nothing where it has none.
void open_generated(const RunArguments& a, Run& run);
// These metrics of a split, with the weights that evaluations read.
runtime::MetricValues generated_metrics(Run& run, const runtime::Split& split, const std::function<int()>& interrupted);

// Tells what is done otherwise than usual.
void note(const std::string& text);
void announce(const RunArguments& a, const Run& run);
void report_metrics(const std::string& split, const runtime::MetricValues& values);
// What every result tells of the program and its process.
void add_common(runtime::JsonObject& out, Run& run);

}  // namespace heddle::tools
