// heddle opt: .hir text in, passes, .hir text (or kernel text) out. The passes' golden tests run through this.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "codegen/emit.h"
#include "codegen/lower.h"
#include "ir/loop/loops.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/storage/view.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "passes/pipeline.h"
#include "runtime/cuda/cudnn_api.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/print_dot.h"
#include "tools/command/read_file.h"
#include "tools/driver/compile.h"

namespace heddle::tools {
namespace {

struct OptArguments {
  std::string file;
  std::vector<std::string> passes;
  std::string to, emit, target = "host", libraries = "cublaslt";
  bool locs = false, remarks = false, library = false, list = false;
};

const passes::Pass& pass_named(const std::string& name) {
  if (const passes::Pass* pass = passes::find_pass(name)) return *pass;
  const std::string near = did_you_mean(name, passes::pass_names());
  throw UserError(ExitCode::usage, fmt::format("unknown pass '{}'", name),
                  near.empty() ? "heddle opt --list-passes names them" : near);
}

// Every generated kernel of the module, scalar functions first.
std::string kernel_text(const ir::Module& m) {
  std::vector<const ir::Graph*> generated;
  for (const ir::Graph& k : m.kernels)
    if (!calls_library(k)) generated.push_back(&k);
  std::string out = codegen::emit_scalar_functions(generated);
  for (const ir::Graph* k : generated) out += codegen::emit_kernel(*k, k->name).text;
  return out;
}

void require_well_formed(const ir::Module& m, const std::string& file) {
  std::string text;
  for (const std::string& problem : ir::verify(m)) text += "\n  " + problem;
  if (!text.empty()) throw UserError(ExitCode::failed, file + " is not well formed:" + text);
}

// A program is made of calls and views whose values have places: what the whole pipeline leaves.
void require_planned(const ir::Module& m, const std::string& file) {
  for (const ir::Graph* graph : m.all_graphs()) {
    const ir::Graph& g = *graph;
    const std::vector<int> stacked = ir::stacked_in_place(g);
    for (const ir::NodeId n : g.order) {
      const bool call = std::holds_alternative<ir::Call>(g[n].op->kind) || ir::is_scan(g[n]);
      if (!call && ir::contiguous_pieces(g, g[n]).empty())
        throw UserError(g[n].loc,
                        fmt::format("{} is in no kernel: a program is made of a planned module", g[n].op->name),
                        fmt::format("heddle opt --to=assign_buffers --emit=program {}", file));
      for (const ir::ValueId v : g[n].results)
        if (!g[v].place.placed() && stacked[ir::index_of(v)] < 0)
          throw UserError(g[n].loc,
                          fmt::format("%{} has no place in memory: a program is made of a planned module", g[v].name),
                          fmt::format("heddle opt --to=assign_buffers --emit=program {}", file));
    }
  }
}

// Loops and text are of kernels, which a pass makes.
void require_kernels(const ir::Module& m, const OptArguments& a) {
  const bool empty = std::ranges::all_of(m.graphs, [](const ir::Graph& g) { return g.order.empty(); });
  if (!m.kernels.empty() || empty) return;
  throw UserError(
      ExitCode::failed,
      fmt::format("{} has no kernels, whose {} --emit={} prints", a.file, a.emit == "cuda" ? "text" : "loops", a.emit),
      fmt::format("heddle opt --to=fuse --emit={} {}", a.emit, a.file));
}

// As asked for: what is not there is an error here, not a note.
driver::GpuLibraries libraries_of(const OptArguments& a, const ir::Target& target) {
  if (!target.gpu) return {};
  const driver::GpuLibraries asked = gpu_libraries(a.libraries);
  std::string why;
  if (asked.cudnn && runtime::find_cudnn(&why) == nullptr)
    throw UserError(ExitCode::missing, "cuDNN is asked for: " + why, "set HEDDLE_CUDNN to libcudnn.so.9");
  return asked;
}

void list_passes() {
  for (const passes::Pass& pass : passes::all_passes()) print_result("{:<14} {}\n", pass.name, pass.doc);
}

void opt(const OptArguments& a) {
  if (a.list) return list_passes();
  if (a.file.empty())
    throw UserError(ExitCode::usage, "heddle opt: no file is given", "name a .hir file, or - for standard input");
  const SourceFile file = read_file(a.file);
  ir::Module m = ir::parse(file);
  require_well_formed(m, a.file);
  passes::Options options;
  options.target = ir::target_by_name(a.target);
  if (a.library) options.libraries = driver::libraries(options.target, libraries_of(a, options.target));
  if (a.remarks)
    options.remark = [](const passes::Remark& r) {
      print_note("remark: {}: @{}: {}: {}\n", r.pass, r.graph, r.subject, r.reason);
    };
  if (!a.to.empty()) {
    pass_named(a.to);
    passes::run_pipeline(m, options, {.to = a.to, .after = {}});
  }
  options.prepare = options.fold_norms = true;  // who names a pass wants it
  for (const std::string& name : a.passes) passes::run_pass(pass_named(name), m, options);
  std::string text;
  if (a.emit == "cuda" || a.emit == "loops") require_kernels(m, a);
  if (a.emit == "cuda")
    text = kernel_text(m);
  else if (a.emit == "loops")
    text = ir::loop::print_loops(m);
  else if (a.emit == "dot")
    text = dot_text(a.file, std::as_const(m).all_graphs());
  else if (a.emit == "program")
    require_planned(m, a.file), text = codegen::print(codegen::lower(m, "opt", options.target));
  else
    text = ir::print(m, {.locs = a.locs});
  write_result(text);
}

}  // namespace

void add_opt(CommandLine& line) {
  Command command = line.add_subcommand("opt", "run passes on IR text and print the result");
  const auto a = std::make_shared<OptArguments>();
  command.add_option("file", a->file, "a .hir file, or - for standard input").takes(Takes::file);
  command.add_option("--pass", a->passes, "run this pass alone; may be repeated").may_be(passes::pass_names);
  command.add_option("--to", a->to, "run the pipeline up to and including this pass").may_be(passes::pass_names);
  command
      .add_option("--emit", a->emit,
                  "hir (default), loops: of the kernels, cuda: their text, program: of a planned module, or dot: the "
                  "graphs for Graphviz")
      .one_of({"hir", "loops", "cuda", "program", "dot"});
  command.add_option("--target", a->target, "host (default) or h200").one_of(ir::target_names());
  command.add_flag("--library", a->library,
                   "let libraries execute what they can: oneDNN on the host, those of --libraries on a GPU");
  command.add_option("--libraries", a->libraries, "of a GPU: cublaslt (default), cudnn, or both: cublaslt,cudnn")
      .list_of({"cublaslt", "cudnn"});
  command.add_flag("--list-passes", a->list, "print the passes in the order of the pipeline, and what each does");
  command.add_flag("--locs", a->locs, "print the source location of each node");
  command.add_flag("--remarks", a->remarks,
                   "print on standard error why passes did or did not change something, such as fuse two kernels");
  command.run([a] { opt(*a); });
}

}  // namespace heddle::tools
