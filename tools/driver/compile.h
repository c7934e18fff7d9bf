// compile: compiles a model to a program. Only this file connects the stages of the compiler. Commands, the C++
// interface and sessions (tools/driver/session.h) use it.
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

// The processor time of a stage.
struct StageTime {
  std::string name;
  double seconds = 0;
};

struct CompileOptions {
  ir::Target target = ir::host();
  int64_t memory_bytes = 0;                 // limit for a program; 0: the target's memory
  std::vector<std::string> recompute = {};  // paths of blocks that the backward sweep computes again
  GpuLibraries libraries = {};              // the requested libraries
  // The graphs and their batch sizes; nothing: all that the model has. Then a schedule that needs the length of the
  // training takes it from the rows in `folder`, if they are available.
  std::optional<frontend::BuildOptions> entries = {};
  std::filesystem::path folder = {};
  std::vector<ir::DType> stored = {};  // column types of the plan's inputs; empty: the inputs' types
  // Int8 weights: `int8` may be multiplied as integers; for `observed`, the program records the range of the product's
  // inputs.
  std::vector<passes::Int8Weight> int8 = {}, observed = {};
  bool prepare = false;                // values that depend only on parameters are computed once (passes/prepare.h)
  bool fold_norms = false;             // predictions fold norms into weights (passes/fold_norms.h); needs prepare
  std::optional<std::string> to = {};  // stop after this pass; "": before the first. Makes no program
  bool keep_module = false;            // keep it in Compiled, to print it
  bool predict = false;                // predict the time of each step
  codegen::OneKernel one_kernel = codegen::OneKernel::where_faster;
  Choices choices = {};          // measured choices, which override predicted times
  passes::Decided decided = {};  // called for each choice among several candidates
  Tell tell = {};                // notes about assumptions on data that are not read
  std::function<void(const passes::Remark&)> remark = {};
  std::function<void(const std::string&, const ir::Module&)> after = {};  // after each pass, by name
  std::vector<StageTime>* times = nullptr;
};

struct Compiled {
  frontend::TrainingPlan plan;  // further information for running the program
  frontend::BuildOptions entries;
  std::vector<ir::FedColumn> fed;  // from which columns the entries make their inputs, and how; may be empty
  int64_t nodes = 0;               // nodes of all graphs before the passes
  ir::Module module;               // after the last pass, if options.keep_module
  codegen::Program program;
};

// Compiles a model that was read or built in C++. Its locations must stay valid. Values that would need rows are
// assumed: normalize without numbers takes a mean of 0 and a deviation of 1. Throws UserError: `failed` with every
// error found in the model, `missing` where a library is absent, `limit` where the program takes more memory than the
// target or options.memory_bytes allow.
Compiled compile(const frontend::Model& model, const CompileOptions& options = {});

// A model with its plan, before it is compiled. The caller may complete the plan, for example with statistics of the
// rows or weights. Plan and compilation share the instances of the model.
struct Planned {
  // The model must outlive this. Throws UserError where its shapes do not fit.
  explicit Planned(const frontend::Model& model) : instances(model), plan(frontend::plan_training(instances)) {}
  const frontend::Model& model() const { return instances.model(); }

  frontend::ModelInstances instances;
  frontend::TrainingPlan plan;
};
// As above. Frees the instances before the passes run.
Compiled compile(Planned& planned, const CompileOptions& options);
// Only the first part: builds the graphs, before the passes, in `module`.
Compiled build(Planned& planned, const CompileOptions& options);

// Single stages, for modules that do not come from a model. use_int8: rewrites what reads the weights of options.int8,
// before all passes. run_passes: up to options.to. lower: makes a program.
void use_int8(ir::Module& m, const CompileOptions& options);
void run_passes(ir::Module& m, const CompileOptions& options, const std::vector<ir::FedColumn>& fed = {});
codegen::Program lower(const ir::Module& m, const std::string& name, const CompileOptions& options);

// The requested libraries that this machine has; options.tell gets a note for each missing one. Throws UserError where
// choices need a missing library.
GpuLibraries used_libraries(const CompileOptions& options);

// The libraries that this build can call for a target, with the functions that ask the real libraries. `asked`: GPU
// libraries that this machine has.
std::vector<passes::AvailableLibrary> libraries(const ir::Target& target, const GpuLibraries& asked);

}  // namespace heddle::driver
