// A model on its data, from the command line's arguments to a program that runs: what heddle train and heddle evaluate share.
//
//   RunArguments a; add_run_arguments(command, a);
//   Session s; open_session(a, training, s); ...run "init"...; load_weights(s)
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frontend/training_plan.h"
#include "runtime/executable.h"
#include "runtime/json_text.h"
#include "runtime/train/metrics.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/compile_model.h"
#include "tools/command/load_data.h"
#include "tools/command/open_device.h"
#include "tools/command/run_arguments.h"
#include "tools/command/saved_run.h"

namespace heddle::tools {

class Command;

struct RunArguments {
  ModelArguments model;
  DeviceArguments device;
  SavingArguments saving;
  std::string data, weights, prefix, save, log;
  int repeat = 0;
  bool json = false, quiet = false;
};

void add_run_arguments(Command& command, RunArguments& a);
void add_weights_arguments(Command& command, RunArguments& a, const std::string& help);

// Everything a run needs, compiled and loaded.
struct Session {
  ReadModel read;
  frontend::TrainingPlan plan;
  Splits splits;
  std::map<std::string, std::string> metadata;  // of weights that are saved
  std::optional<runtime::WeightsFile> weights;  // to start from
  frontend::BuildOptions entries;               // what the program is made of
  codegen::FedEntries fed;
  codegen::Program program;
  OpenedDevice device;
  std::unique_ptr<runtime::Executable> executable;
  SavedRun* saved = nullptr;  // of a training
};

// The folder of the data files.
std::string root_of(const RunArguments& a, const Session& s);
void open_session(const RunArguments& a, bool training, Session& s);
// The weights to start from, into the states; their memory is given back.
void load_weights(Session& s);
runtime::WeightsFile read_start(const RunArguments& a);  // those of --weights

// Tells what is done otherwise than usual.
void note(const std::string& text);
void announce(const RunArguments& a, const Session& s);
void report_metrics(const std::string& split, const runtime::MetricValues& values);
// What every result tells of the program and its process.
void add_common(runtime::JsonObject& out, Session& s);

}  // namespace heddle::tools
