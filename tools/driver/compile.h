// compile: a model to a program. The one place that ties the compiler's stages together; commands,
// the C++ interface and sessions (tools/driver/session.h) stand on it.
//
//   Compiled made = driver::compile(model, {.target = ir::h200()});
//   made.program.find_entry(ir::Phase::train)
//
//   Model -> Planned -> build_module -> passes -> lower -> Compiled
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lower.h"
#include "frontend/build_graph.h"
#include "frontend/instantiate/model_instances.h"
#include "frontend/training/training_plan.h"
#include "ir/kernel/target.h"
#include "passes/int8_products.h"
#include "passes/pipeline.h"
#include "tools/driver/choices.h"
#include "tools/driver/gpu_libraries.h"
#include "tools/driver/tell.h"

namespace heddle::driver {

// What a stage took of the processor.
struct StageTime {
  std::string name;
  double seconds = 0;
};

struct CompileOptions {
  ir::Target target = ir::host();
  int64_t memory_bytes = 0;                 // that a program may take; 0: the target's
  std::vector<std::string> recompute = {};  // paths of blocks whose values the backward sweep computes again
  GpuLibraries libraries = {};              // that are asked for
  // The graphs and their batches; none: all that the model has. Then the rows in `folder` tell a schedule that ends how
  // long the training is, if they are at hand.
  std::optional<frontend::BuildOptions> entries = {};
  std::filesystem::path folder = {};
  std::vector<ir::DType> stored = {};  // the types of the columns that feed the plan's inputs; empty: the inputs' own
  // Of the weights that are given: those that products may take as they lie in their file, and those whose inputs are
  // observed instead.
  std::vector<passes::Int8Weight> int8 = {}, observed = {};
  bool prepare = false;     // predictions read what an entry makes of parameters once (passes/prepare.h)
  bool fold_norms = false;  // norms of predictions go into the weights before them (passes/fold_norms.h); takes prepare
  std::optional<std::string> to = {};  // stop behind this pass, "": before the first one; no program is made then
  bool keep_module = false;            // in Compiled, for who prints it
  bool predict = false;                // fills in what each step should take
  codegen::OneKernel one_kernel = codegen::OneKernel::where_faster;
  Choices choices = {};          // of a table: they come before predicted times
  passes::Decided decided = {};  // hears what was chosen among several
  Tell tell = {};                // of what is assumed of data that are not read
  std::function<void(const passes::Remark&)> remark = {};
  std::function<void(const std::string&, const ir::Module&)> after = {};  // after each pass, by name
  std::vector<StageTime>* times = nullptr;
};

struct Compiled {
  frontend::TrainingPlan plan;  // what running the program needs to know beside it
  frontend::BuildOptions entries;
  std::vector<ir::FedColumn> fed;  // of which columns the entries make their inputs, and how; none: they do not
  int64_t nodes = 0;               // of all graphs, before the passes
  ir::Module module;               // as the last pass left it, where options.keep_module
  codegen::Program program;
};

// Compiles a model: one that was read, or built in C++. The model's locations must stay. What needs
// rows is assumed: normalize without numbers takes a mean of 0 and a deviation of 1. Throws
// UserError: `failed` with every fault that is found in the model, `missing` where a library is not
// there, `limit` where the program takes more memory than the target or options.memory_bytes allow.
Compiled compile(const frontend::Model& model, const CompileOptions& options = {});

// A model with its plan, before it is compiled: whoever knows more than the model's text completes the plan, with the
// statistics of rows or weights. The model is instantiated once for both.
struct Planned {
  // The model must outlive this. Throws UserError where its shapes do not fit.
  explicit Planned(const frontend::Model& model) : instances(model), plan(frontend::plan_training(instances)) {}
  const frontend::Model& model() const { return instances.model(); }

  frontend::ModelInstances instances;
  frontend::TrainingPlan plan;
};
// As above. Gives the memory of the instances back before the passes run.
Compiled compile(Planned& planned, const CompileOptions& options);
// The first half of it: the graphs before the passes, as `module`.
Compiled build(Planned& planned, const CompileOptions& options);

// The stages alone, for modules that no model describes: the passes up to options.to, the program.
void run_passes(ir::Module& m, const CompileOptions& options, const std::vector<ir::FedColumn>& fed = {});
codegen::Program lower(const ir::Module& m, const std::string& name, const CompileOptions& options);

// Of the libraries that are asked for, those that are there; options.tell hears of each other one. Throws UserError where
// choices need one that is not there.
GpuLibraries used_libraries(const CompileOptions& options);

// The libraries that this build can call for a target, each with the real one to ask: `asked` are there.
std::vector<passes::AvailableLibrary> libraries(const ir::Target& target, const GpuLibraries& asked);

}  // namespace heddle::driver
