// heddle compile: shows a model at any stage, from the format to machine code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "ir/check.h"
#include "ir/loop/loops.h"
#include "ir/text/print.h"
#include "runtime/compile/source_parts.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/files/write_file.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/emit_cubin.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/print_dot.h"
#include "tools/command/print_model.h"
#include "tools/command/report.h"

namespace heddle::tools {
namespace {

struct CompileArguments {
  ModelArguments model;
  std::string emit = "program", to, print_after, target = "host", out;
  std::vector<std::string> graphs, archs;
  bool predict = false, time_passes = false, remarks = false, locs = false, json = false;
};

const std::vector<std::string> kEmits = {"model",   "graph", "grad",  "fused",  "plan", "loops",
                                         "program", "cuda",  "cubin", "report", "dot"};

// The last pass before what is shown, "" for none; no name where it is made of the program.
std::optional<std::string> last_pass(const std::string& emit) {
  if (emit == "graph" || emit == "dot") return "";
  if (emit == "grad") return "differentiate";
  if (emit == "fused") return "fuse";
  if (emit == "plan" || emit == "loops") return std::string(passes::all_passes().back().name);
  return std::nullopt;
}

void write_out(const CompileArguments& a, const std::string& text) {
  if (a.out.empty()) return write_result(text);
  runtime::write_file(a.out, text);
}

// The graphs of --graph, in its order; all where it is not given.
std::vector<const ir::Graph*> chosen_graphs(const CompileArguments& a, const ir::Module& m) {
  std::vector<const ir::Graph*> chosen;
  if (a.graphs.empty())
    for (const ir::Graph* g : m.all_graphs()) chosen.push_back(g);
  for (const std::string& name : a.graphs) {
    const ir::Graph* g = m.find_graph(name);
    if (!g) g = m.find_body(name);
    std::vector<std::string> names;
    for (const ir::Graph* other : m.all_graphs()) names.push_back(other->name);
    if (!g)
      throw UserError(ExitCode::usage, fmt::format("no graph '{}'", name),
                      fmt::format("there are {}", fmt::join(names, ", ")));
    chosen.push_back(g);
  }
  return chosen;
}

std::string module_text(const CompileArguments& a, const ir::Module& m) {
  if (a.emit == "loops") return ir::loop::print_loops(m);
  if (a.emit == "dot") return dot_text(a.model.model, chosen_graphs(a, m));
  if (a.graphs.empty()) return ir::print(m, {.locs = a.locs});
  std::string text;
  for (const ir::Graph* g : chosen_graphs(a, m)) text += ir::print(*g, {.locs = a.locs});
  return text;
}

void print_times(const std::vector<driver::StageTime>& times) {
  double total = 0;
  for (const driver::StageTime& t : times) {
    print_note("{:>10.3f} ms  {}\n", t.seconds * 1e3, t.name);
    total += t.seconds;
  }
  print_note("{:>10.3f} ms  total\n", total * 1e3);
}

std::vector<std::string> archs_of(const CompileArguments& a) {
  return a.archs.empty() ? std::vector<std::string>{"sm_90a"} : a.archs;
}

std::string report_text(const CompileArguments& a, const codegen::Program& program,
                        const std::vector<passes::Remark>& choices, std::vector<driver::StageTime>* times) {
  std::optional<runtime::CudaBinary> binary;
  const bool gpu = ir::target_by_name(a.target).gpu;  // kernels in the host's schedules have no registers of a GPU
  if (gpu && runtime::find_nvrtc().found)
    binary = compile_cubin(program, archs_of(a).front(), runtime::kCompileParts, times);
  else if (gpu)
    print_note("no NVRTC: the report has no registers and spills\n");
  const std::vector<runtime::KernelResources> none;
  const auto& resources = binary ? binary->kernels : none;
  return a.json ? report_json(program, archs_of(a).front(), resources, choices)
                : report_table(program, archs_of(a).front(), resources, choices);
}

std::string program_text(const CompileArguments& a, const codegen::Program& program,
                         const std::vector<passes::Remark>& choices, std::vector<driver::StageTime>* times) {
  if (a.emit == "program") return codegen::print(program);
  if (a.emit == "cuda") return program.source;
  return report_text(a, program, choices, times);
}

// Finds errors about the output file before compiling.
void check_out(const CompileArguments& a, const std::string& model) {
  require_different("-o", a.out, "the model", model);
  require_cubin_place(archs_of(a), a.emit == "cubin" ? a.out : "");
  if (a.emit != "cubin" && a.archs.size() > 1)
    throw UserError(ExitCode::usage, "--arch is given twice; only --emit=cubin takes several");
  const bool folder = a.emit == "cubin" && a.archs.size() > 1;
  if (!a.out.empty() && !folder && !runtime::is_stream(a.out)) require_result_path(a.out);
}

std::vector<std::string> passes_and_all() {
  std::vector<std::string> names = passes::pass_names();
  names.insert(names.begin(), "all");
  return names;
}

void require_pass(const std::string& name) {
  if (name.empty() || name == "all" || passes::find_pass(name)) return;
  throw UserError(ExitCode::usage, fmt::format("--print-after: unknown pass '{}'", name),
                  did_you_mean(name, passes_and_all()));
}

// Throws at options that the printed form does not use.
void require_meant(const CompileArguments& a) {
  const auto require = [&](bool given, bool read, const char* option, const char* help) {
    if (given && !read)
      throw UserError(ExitCode::usage, fmt::format("{} means nothing with --emit={}", option, a.emit), help);
  };
  const bool module = a.emit != "loops" && (last_pass(a.emit) || !a.to.empty());
  require(!a.graphs.empty(), module || !a.print_after.empty(), "--graph",
          "graph, grad, fused, plan and dot print the graphs of their names");
  require(a.json, a.emit == "report", "--json", "--emit=report --json prints the report as an object");
  require(!a.archs.empty(), a.emit == "report" || a.emit == "cubin", "--arch",
          "--emit=cubin and --emit=report compile for an architecture");
  if (a.model.fold_norms && !a.predict)
    throw UserError(ExitCode::usage, "--fold-norms means nothing without --predict", "only predictions fold norms");
  require(!a.to.empty(), last_pass(a.emit) || a.emit == "program", "--to", "leave --emit out: --to prints the module");
}

// Compiles as predict does: parameters are given, and no graph updates them.
void compile_predictions(const frontend::Model& model, driver::CompileOptions& options) {
  const frontend::BuildOptions all = frontend::default_build_options(model);
  if (all.predict == 0)
    throw UserError(ExitCode::failed, "the model has no \"outputs\": there is nothing to predict",
                    "name a node in its outputs");
  options.entries = {.predict = all.predict, .total_steps = all.total_steps.value_or(1)};
  options.prepare = true;
}

void compile(const CompileArguments& a) {
  require_meant(a);
  require_pass(a.print_after);
  driver::ReadModel model;
  const double begin = passes::processor_seconds();
  read(a.model, model);
  std::vector<driver::StageTime> times{{"read", passes::processor_seconds() - begin}};
  check_out(a, model.path);
  if (a.emit == "model") return write_out(a, print_model(model.model));
  driver::CompileOptions options = compile_options(a.model);
  options.target = ir::target_by_name(a.target);
  options.folder = model.folder({});
  if (a.predict) compile_predictions(model.model, options);
  options.times = &times;
  options.to = a.to.empty() ? last_pass(a.emit) : a.to;
  options.keep_module = options.to.has_value();
  options.predict = a.emit == "report";
  if (a.remarks)
    options.remark = [](const passes::Remark& r) {
      print_note("remark: {}: @{}: {}: {}\n", r.pass, r.graph, r.subject, r.reason);
    };
  std::vector<passes::Remark> choices;  // of products, where a library was asked for
  if (a.emit == "report" && !a.model.libraries.empty())
    options.remark = [&choices, also = options.remark](const passes::Remark& r) {
      if (r.pass == "select") choices.push_back(r);
      if (also) also(r);
    };
  options.after = [&](const std::string& pass, const ir::Module& m) {
    if (pass == a.print_after || a.print_after == "all") print_note("// after {}\n{}", pass, module_text(a, m));
  };
  const driver::Compiled compiled = driver::compile(model.model, options);
  if (options.to) {
    const double before = passes::processor_seconds();
    const std::string text = module_text(a, compiled.module);
    times.push_back({"print", passes::processor_seconds() - before});
    write_out(a, text);
  } else if (a.emit == "cubin") {
    write_result(emit_cubin(compiled.program, archs_of(a), a.out, &times));
  } else {
    write_out(a, program_text(a, compiled.program, choices, &times));
  }
  if (a.time_passes) print_times(times);
}

}  // namespace

void add_compile(CommandLine& line) {
  Command command = line.add_subcommand("compile", "compile a model and print it at any stage");
  const auto a = std::make_shared<CompileArguments>();
  add_model_arguments(command, a->model);
  command
      .add_option(
          "--emit", a->emit,
          "the stage: model, graph, grad, fused, plan, loops (of each kernel, and the elements that they read), "
          "program (default), cuda, cubin, report, or dot: the graph for Graphviz")
      .one_of(kEmits);
  command
      .add_option("--target", a->target,
                  "host (default): library calls of the host; h200: every kernel as generated text")
      .one_of(ir::target_names());
  command.add_option(
      "--arch", a->archs,
      "architecture of cubins and of the report's registers: sm_80, sm_90a (default), sm_120 ...; may be "
      "repeated for cubins");
  command.add_flag("--predict", a->predict,
                   "compile predictions alone, as heddle predict does: what is made of parameters alone is made once");
  add_fold_argument(command, a->model);
  command.add_option("--graph", a->graphs, "print this graph only; may be repeated");
  command
      .add_option(
          "--to", a->to,
          "run the passes up to and including this one, and print the module (heddle opt --list-passes names them)")
      .may_be(passes::pass_names);
  command
      .add_option("--print-after", a->print_after, "print the module after this pass, or after all, on standard error")
      .may_be(passes_and_all);
  command
      .add_option("-o,--out", a->out,
                  "write to this file, - is standard output; with --emit=cubin the machine code, of several "
                  "architectures a folder with a file each")
      .takes(Takes::file);
  command.add_flag("--locs", a->locs, "print the source location of each node");
  command.add_flag("--time-passes", a->time_passes, "print the time of each stage on standard error");
  command.add_flag("--remarks", a->remarks,
                   "print on standard error why passes did or did not change something, such as fuse two kernels");
  command.add_flag("--json", a->json, "with --emit=report: one JSON object");
  command.run([a] {
    if (a->out == "-") a->out.clear();  // standard output, as without -o
    compile(*a);
  });
}

}  // namespace heddle::tools
