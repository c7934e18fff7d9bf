// heddle package: a model and the machine code of its programs in one file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <utility>

#include "ir/diagnostic.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/resolved_model.h"
#include "tools/driver/make_package.h"
#include "tools/driver/plan_batch.h"

namespace heddle::tools {
namespace {

struct PackageArguments {
  ModelArguments model;
  std::string out, data, arch = "host", purposes;
  std::vector<std::string> outputs;
  int rows = 0;
  bool quiet = false;
};

// "a,b" -> {"a", "b"}, each once.
std::vector<std::string> words_of(const std::string& list, const std::string& option) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    if (std::ranges::count(words, word) > 0)
      throw UserError(ExitCode::usage, fmt::format("{}: '{}' is given twice", option, word), "once is enough");
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> purposes_of(const PackageArguments& a) {
  const std::vector<std::string> known = {"train", "evaluate", "predict"};
  std::vector<std::string> words = words_of(a.purposes, "--for");
  for (const std::string& word : words)
    if (std::ranges::count(known, word) == 0)
      throw UserError(ExitCode::usage, fmt::format("--for: '{}' is no use of a package", word),
                      "train, evaluate or predict, or several: train,predict");
  std::ranges::sort(words, {}, [&](const std::string& word) { return std::ranges::find(known, word); });
  return words;
}

// "host,sm_90a". The host's code is for this processor; "host=haswell" names another one, as $HEDDLE_MARCH does, which
// is read where kernels are compiled.
std::vector<driver::PackedTarget> targets_of(const PackageArguments& a) {
  std::vector<driver::PackedTarget> targets;
  bool host = false;
  for (const std::string& word : words_of(a.arch, "--arch")) {
    const bool named = word.starts_with("host=");
    if (named && setenv("HEDDLE_MARCH", word.c_str() + 5, 1) != 0) throw std::bad_alloc();
    if ((named || word == "host") && std::exchange(host, true))
      throw UserError(ExitCode::usage, "--arch: the host is given twice",
                      "a package has code for one processor's name");
    targets.push_back(driver::target_of_arch(named ? "host" : word));
  }
  if (targets.empty())
    throw UserError(ExitCode::usage, "--arch names no architecture", "host, host=haswell, sm_80, sm_90a ...");
  return targets;
}

void package(const PackageArguments& a) {
  if (!a.model.libraries.empty())
    throw UserError(ExitCode::usage, "--libraries: a package holds generated kernels alone",
                    "heddle train MODEL --libraries cublaslt takes a model file");
  if (!a.out.ends_with(".heddle"))
    throw UserError(ExitCode::usage, fmt::format("-o: '{}' does not end with .heddle", a.out),
                    "packages have such names: by them they are known where they stand for a model");
  driver::PackageRequest request{.model = {},
                                 .folder = {},
                                 .targets = targets_of(a),
                                 .purposes = purposes_of(a),
                                 .predict_rows = a.rows,
                                 .outputs = a.outputs};
  driver::require_package_path(a.out);
  warn_without_kernel_cache();
  driver::ReadModel model;
  read(a.model, model);
  request.model = resolved_model(*model.model.file, read_options(a.model));
  request.file = model.path;
  request.folder = model.folder(a.data);
  request.compile = compile_options(a.model);
  if (request.compile.choices.libraries.any())
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: its choices take libraries, and a package holds generated kernels alone", a.model.choices),
        "measure without them: heddle tune MODEL -o TABLE");
  const driver::Package made = driver::make_package(request);
  driver::write_package(a.out, made);
  if (a.quiet) return;
  std::error_code ec;
  print_note("{}: {} for {} target{}, {} bytes\n", a.out, made.model_name, made.targets.size(),
             made.targets.size() == 1 ? "" : "s", std::filesystem::file_size(a.out, ec));
}

}  // namespace

void add_package(CommandLine& line) {
  Command command =
      line.add_subcommand("package", "a model and its compiled kernels in one file, for machines without a compiler");
  const auto a = std::make_shared<PackageArguments>();
  add_model_arguments(command, a->model);
  command.add_option("-o,--out", a->out, "the package: FILE.heddle").takes(Takes::file).required();
  command
      .add_option("--arch", a->arch,
                  "what the code is for: host (default: this processor), host=haswell, sm_80, sm_90a ...; several: "
                  "host,sm_90a")
      .may_be({"host", "sm_80", "sm_90a"});
  command
      .add_option("--for", a->purposes,
                  "train, evaluate, predict, or several: train,predict (default: all that the model has)")
      .may_be({"train", "evaluate", "predict"});
  command.add_option("--data", a->data, "the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  command.add_option("--rows", a->rows, "rows of a batch of predict (default: as predict chooses)")
      .between(static_cast<int>(driver::PlannedBatch::kFewest), driver::kMostBatch);
  command.add_option("--output", a->outputs, "an output or node that predict computes (default: the model's outputs)");
  command.add_flag("--quiet", a->quiet, "print only warnings, notes and errors");
  command.run([a] { package(*a); });
}

}  // namespace heddle::tools
