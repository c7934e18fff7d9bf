#include "tools/driver/compile.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "codegen/predict.h"
#include "passes/outline.h"
#include "passes/select/cublaslt.h"
#include "passes/select/cudnn.h"
#include "passes/select/onednn.h"
#include "passes/select/winograd.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cudnn_plan.h"
#include "runtime/host/onednn.h"
#include "runtime/host/winograd_call.h"
#include "tools/driver/cudnn_device.h"
#include "tools/driver/entries.h"
#include "tools/driver/plan_within.h"
#include "tools/driver/statistics.h"
#include "tools/driver/token_maps.h"

namespace heddle::driver {
namespace {

template <class F>
auto timed(const std::string& name, std::vector<StageTime>* times, F&& f) {
  const double begin = passes::processor_seconds();
  auto result = f();
  if (times) times->push_back({name, passes::processor_seconds() - begin});
  return result;
}

int64_t nodes_of(const ir::Module& m) {
  int64_t nodes = 0;
  for (const ir::Graph* g : m.all_graphs()) nodes += std::ssize(g->order);
  return nodes;
}

// The plan as the program has it, its entries and what feeds them.
Compiled describe(const Planned& planned, const CompileOptions& options) {
  Compiled made{.plan = planned.plan, .entries = {}, .fed = {}, .module = {}, .program = {}};
  const bool has_loss = !planned.model().train.losses.empty();
  if (has_loss && (!options.entries || takes_rows(*options.entries))) {
    assume_statistics(made.plan, options.tell);
    assume_tokens(made.plan, options.tell);
    made.fed = fed_columns(made.plan, options.stored);
  }
  made.entries =
      options.entries ? *options.entries : all_entries(planned.model(), planned.plan, options.folder, options.tell);
  return made;
}

using Answers = std::unordered_map<std::string, passes::LibraryAnswer>;

// Asks about each body once: a deep model asks about one layer over and over, and building a call's primitives, or
// planning for it, takes milliseconds.
template <class Ask>
auto asked_once(Ask ask) {
  return [ask = std::move(ask), answers = Answers()](const ir::Graph& kernel) mutable {
    const std::string body = passes::body_key(kernel);
    const auto known = answers.find(body);
    if (known != answers.end()) return known->second;
    return answers.emplace(body, ask(codegen::describe_library(kernel))).first->second;
  };
}

}  // namespace

GpuLibraries used_libraries(const CompileOptions& options) {
  const GpuLibraries& chosen = options.choices.libraries;
  const auto is_there = [&](bool asked, bool needed, const char* name, auto find, const char* generated) {
    if (!asked && !needed) return false;
    std::string why = "it runs on a GPU only";
    if (options.target.gpu && find(&why) != nullptr) return true;
    if (needed)
      throw UserError(ExitCode::missing,
                      fmt::format("{}: its choices take {}, and {}", options.choices.file, name, why),
                      "measure again: heddle tune MODEL -o TABLE");
    if (options.tell) options.tell(fmt::format("{} is not used: {}; all {} are generated", name, why, generated));
    return false;
  };
  const GpuLibraries& asked = options.libraries;
  return {.cublaslt = is_there(asked.cublaslt, chosen.cublaslt, "cuBLASLt", runtime::find_cublaslt, "products"),
          .cudnn = is_there(asked.cudnn, chosen.cudnn, "cuDNN", runtime::find_cudnn, "convolutions")};
}

Compiled compile(const frontend::Model& model, const CompileOptions& options) {
  Planned planned(model);
  return compile(planned, options);
}

Compiled build(Planned& planned, const CompileOptions& options) {
  Compiled made = describe(planned, options);
  made.module = timed("build", options.times, [&] { return frontend::build_module(planned.instances, made.entries); });
  planned.instances.clear();
  made.nodes = nodes_of(made.module);
  return made;
}

Compiled compile(Planned& planned, const CompileOptions& given) {
  require_choices_for(given.choices, given.target);
  CompileOptions options = given;
  options.libraries = used_libraries(given);
  ChoicesUsed used(given.choices);
  if (!given.choices.empty())
    options.decided = [&](const passes::Decision& decision) {
      used.see(decision);
      if (given.decided) given.decided(decision);
    };
  Compiled made = build(planned, options);
  ir::Module m = std::exchange(made.module, {});
  if (!options.observed.empty()) passes::observe_inputs(m, options.observed);
  use_int8(m, options);
  if (!options.to || !options.to->empty()) m = plan_within(std::move(m), planned.plan.memory, options, made.fed);
  if (!options.to) made.program = lower(m, planned.model().name, options);
  used.see(m);
  const bool unused = given.choices.empty() || !used.any();
  if (!options.to && options.tell && !given.choices.file.empty() && unused) options.tell(told_of_unused(given.choices));
  if (options.keep_module) made.module = std::move(m);
  return made;
}

std::vector<passes::AvailableLibrary> libraries(const ir::Target& target, const GpuLibraries& asked) {
  std::vector<passes::AvailableLibrary> all;
  if (asked.cublaslt)
    all.push_back(
        {&passes::cublaslt(), [workspace = runtime::cublaslt_workspace(target.arch)](const ir::Graph& kernel) {
           return passes::LibraryAnswer{workspace, runtime::cublaslt_refusal(codegen::describe_library(kernel))};
         }});
  if (asked.cudnn)
    all.push_back({&passes::cudnn(), asked_once([device = cudnn_device(target)](const codegen::Library& call) {
                     const runtime::CudnnNeeds needs = runtime::cudnn_needs(*runtime::find_cudnn(), call, device);
                     return passes::LibraryAnswer{needs.workspace, needs.refusal};
                   })});
  // The first of equal figures is taken: where both wait for memory, it is Winograd's for every batch.
  if (!target.gpu)
    all.push_back({&passes::winograd(), asked_once([](const codegen::Library& call) {
                     const runtime::WinogradNeeds needs = runtime::winograd_needs(call);
                     return passes::LibraryAnswer{needs.workspace, needs.refusal};
                   })});
  all.push_back({&passes::onednn(), asked_once([](const codegen::Library& call) {
                   const runtime::OnednnNeeds needs = runtime::onednn_needs(call);
                   return passes::LibraryAnswer{needs.workspace, needs.refusal};
                 })});
  return all;
}

void use_int8(ir::Module& m, const CompileOptions& options) {
  passes::Options pass_options;
  pass_options.target = options.target;
  pass_options.remark = options.remark;
  if (!options.int8.empty()) passes::int8_products(m, options.int8, pass_options);
}

void run_passes(ir::Module& m, const CompileOptions& options, const std::vector<ir::FedColumn>& fed) {
  passes::Options pass_options;
  pass_options.target = options.target;
  pass_options.libraries = libraries(options.target, options.libraries);
  pass_options.memory_bytes = options.memory_bytes;
  pass_options.remark = options.remark;
  pass_options.columns = fed;
  pass_options.recompute = options.recompute;
  pass_options.prepare = options.prepare;
  pass_options.fold_norms = options.prepare && options.fold_norms;
  pass_options.choices = options.choices.kernels;
  pass_options.decided = options.decided;
  passes::RunOptions run;
  run.to = options.to.value_or("");
  if (options.after)
    run.after = [&](const passes::Pass& pass, const ir::Module& after, bool) {
      options.after(std::string(pass.name), after);
    };
  for (const passes::PassTime& t : passes::run_pipeline(m, pass_options, run))
    if (options.times) options.times->push_back({t.name, t.seconds});
}

codegen::Program lower(const ir::Module& m, const std::string& name, const CompileOptions& options) {
  codegen::Program program = timed("lower", options.times, [&] {
    return codegen::lower(m, name, options.target, options.one_kernel, one_kernels(options.choices, m));
  });
  if (options.predict) timed("predict", options.times, [&] { return codegen::predict(program, m, options.target), 0; });
  return program;
}

}  // namespace heddle::driver
