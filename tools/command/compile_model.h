// From a model file to a Program: the one place that ties the stages together.
//
//   model.json -> read_model -> build_module -> passes -> lower -> Program
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/read_model.h"
#include "frontend/training_plan.h"
#include "ir/kernel/target.h"
#include "passes/pipeline.h"

namespace heddle::tools {

class Command;

// What every subcommand that takes a model has in common.
struct ModelArguments {
  std::string model;  // a path, or the name of a file in models/
  std::vector<std::string> set;
  std::string epochs, lr, batch, seed;  // short forms of --set; empty: not given
  bool small = false;
  int memory_gib = 0;  // that a program may take; 0: what the target has
};
enum class ShortForms { all, none };  // --epochs, --lr, --batch and --seed, which say how to train
void add_model_arguments(Command& command, ModelArguments& a, ShortForms forms = ShortForms::all);

// A model as read, with the texts its locations point into.
struct ReadModel {
  frontend::Sources sources;
  std::string path;
  frontend::Model model;
};
frontend::ReadOptions read_options(const ModelArguments& a, const std::vector<std::string>& first_set = {});
void read(const ModelArguments& a, ReadModel& into, const std::vector<std::string>& first_set = {});

// What a plan warns of, on standard error.
void print_warnings(const frontend::TrainingPlan& plan);

// What a stage took of the processor.
struct StageTime {
  std::string name;
  double seconds = 0;
};
struct CompileOptions {
  ir::Target target = ir::host();
  int memory_gib = 0;                                                // that a program may take; 0: the target's
  std::string to;                                                    // stop after this pass
  std::function<void(const passes::Remark&)> remark;                 // may be empty
  std::function<void(const std::string&, const ir::Module&)> after;  // after each pass, by name
  codegen::FedEntries fed;                                           // which entries take their batches themselves
  bool predict = false;                                              // fills in what each step should take
  std::vector<StageTime>* times = nullptr;
};
CompileOptions compile_options(const ModelArguments& a);  // what the arguments say, the rest as it stands above
ir::Module build(const frontend::Model& model, const frontend::BuildOptions& build, std::vector<StageTime>* times);
// Runs the passes on a module that build_module made.
void run_passes(ir::Module& m, const CompileOptions& options);
codegen::Program lower_module(const ir::Module& m, const std::string& name, const CompileOptions& options);
codegen::Program compile_model(const frontend::Model& model, const frontend::BuildOptions& build,
                               const CompileOptions& options);

// The libraries that this build can call, each with the real one to ask.
std::vector<passes::AvailableLibrary> libraries();

}  // namespace heddle::tools
