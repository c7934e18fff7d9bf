// heddle predict: computes a model's outputs for rows.
#include <algorithm>
#include <memory>

#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/open_model.h"
#include "tools/command/output.h"
#include "tools/driver/plan_batch.h"
#include "tools/predict/result_writer.h"

namespace heddle::tools {
namespace {

struct PredictArguments {
  ModelArguments model;
  driver::DeviceRequest device;
  std::vector<std::string> weights;
  std::string prefix, precision;
  FilePredictions files;
  bool quiet = false;
};

void predict(const PredictArguments& a) {
  const bool on_input =
      std::ranges::any_of(a.files.in, [](const std::string& word) { return word == "-" || word.ends_with("=-"); });
  ModelArguments asked = a.model;
  if (!a.precision.empty()) compute_in_f32(asked);
  heddle::Model model = open_model(asked, a.device, on_input ? "--in" : "");
  model.load_weights(a.weights, a.prefix);
  const FileResult done = model.predict_files(a.files);
  if (done.not_finite > 0)
    print_note("heddle: warning: the results of {} of {} rows are not all finite\n", done.not_finite, done.rows);
  if (a.files.out != "-" && !a.quiet)
    print_note("{}: {} {}\n", a.files.out, done.rows, done.rows == 1 ? "row" : "rows");
}

}  // namespace

void add_predict(CommandLine& line) {
  Command command = line.add_subcommand("predict", "apply a model with saved weights to rows");
  const auto a = std::make_shared<PredictArguments>();
  add_model_arguments(command, a->model, ShortForms::none);
  add_plan_arguments(command, a->model);
  add_device_arguments(command, a->device);
  command.add_option("--precision", a->precision, "compute in f32, not as train.precision and int8 weights say")
      .one_of({"f32"});
  add_fold_argument(command, a->model);
  FilePredictions& r = a->files;
  command.add_option("--weights", a->weights, "the weights (safetensors); again: adapters of train.lora")
      .takes(Takes::file)
      .required();
  command.add_option("--weights-prefix", a->prefix,
                     "remove this from the names of the first file's tensors: \"module.\", \"_orig_mod.\"");
  command
      .add_option(
          "--in", r.in,
          "rows: npy, csv, idx, png, jpg, wav, jsonl, txt, a folder of pictures or sounds, or - for lines on standard "
          "input; INPUT=FILE if the model has several inputs")
      .takes(Takes::file)
      .required();
  command.add_option("--in-format", r.in_format, "the format of --in, if its name does not tell it")
      .one_of(kRowFormats);
  command.add_option("--out", r.out, "results: a file, or - (default) for standard output").takes(Takes::file);
  command.add_option("--format", r.format, "the format of the results (default: by the file's name, jsonl for streams)")
      .one_of(kResultFormats);
  command.add_option("--output", r.outputs, "an output or node to compute (default: the model's outputs)");
  command.add_option("--top", r.top, "print the K most probable classes instead of all numbers")
      .between(1, kMostClasses);
  command.add_flag("--text", r.text, "print the text that the logits of a loss ctc spell instead of all numbers");
  command.add_flag("--allow-nan", r.allow_nan,
                   "accept rows with nan and infinities (default: the first one is an error)");
  command
      .add_option("--batch", r.batch,
                  "rows of a batch (default: 64, or fewer if they would take more than 128 MiB beside the parameters)")
      .between(static_cast<int>(driver::PlannedBatch::kFewest), driver::kMostBatch);
  command.add_flag("--overwrite", r.overwrite, "replace an existing file of results");
  command.add_flag("--quiet", a->quiet, "print no progress, only results, warnings, notes and errors");
  command.run([a] { predict(*a); });
}

}  // namespace heddle::tools
