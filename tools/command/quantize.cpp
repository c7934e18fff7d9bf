// heddle quantize: quantises weights, and measures the loss of quality on the model's data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/data/path.h"
#include "runtime/json_text.h"
#include "runtime/train/progress.h"
#include "runtime/train/run_log.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/open_run.h"
#include "tools/command/output.h"
#include "tools/command/weights_sources.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/foreign_weights.h"
#include "tools/driver/int8_weights.h"
#include "tools/driver/observed_ranges.h"
#include "tools/driver/packaged_model.h"
#include "tools/driver/quantize_weights.h"

namespace heddle::tools {
namespace {

constexpr int kMostCalibrated = 1 << 30;

struct QuantizeArguments {
  RunArguments run;
  std::string out, type = "int8";
  std::vector<std::string> keep;
  int calibrate = 0;  // rows; 0: none
};

// The metrics on rows that were not used in training, before and after.
struct Measured {
  std::string split;
  runtime::MetricValues before, after;
};

const runtime::Split* measured_split(const driver::Splits& splits) {
  if (splits.validation) return &*splits.validation;
  return splits.test ? &*splits.test : nullptr;
}

bool can_be_measured(const frontend::Model& model) {
  return !model.train.losses.empty() &&
         (model.data.validation || model.data.validation_fraction > 0 || model.data.test);
}

// An evaluation of the model's own rows; nothing where it has none, or their files are not here.
std::optional<driver::Session> open_evaluation(const RunArguments& a, const driver::ReadModel& read,
                                               const runtime::WeightsFile& weights, const ir::Target& target) {
  if (!can_be_measured(read.model)) return std::nullopt;
  driver::SessionOptions options{.purpose = driver::Purpose::evaluation,
                                 .folder = read.folder(a.data),
                                 .weights = &weights,
                                 .compile = compile_options(a.model)};
  options.compile.target = target;
  try {
    return driver::open_session(read.model, options);
  } catch (const runtime::data::AbsentFile& error) {
    note("the loss of quality is not measured: " + error.diagnostics().front().message);
    return std::nullopt;
  }
}

runtime::WeightsFile read_weights(const RunArguments& a, bool stores_bf16) {
  runtime::ReadWeights read = runtime::read_weights(a.weights, a.prefix, stores_bf16);
  if (runtime::is_quantized(read.file))
    throw UserError(ExitCode::failed, read.file.name + ": these weights are quantised already",
                    "give the weights that they were made of");
  if (!read.note.empty()) note(read.note);
  return std::move(read.file);
}

// Weights whose tensors have the model's own names, and are all there.
void require_own(runtime::WeightsFile& weights, const frontend::Model& model, const frontend::TrainingPlan& plan,
                 const codegen::Program& program) {
  if (const std::string told = driver::require_weights(weights, plan, program, /*begins=*/false); !told.empty())
    note(told);
  if (model.weights) weights.metadata[driver::kOwnNames] = "true";
  std::vector<std::string> buffers;
  for (const codegen::Buffer& b : program.states)
    if (b.role == codegen::BufferRole::buffer && weights.find(b.name) != nullptr) buffers.push_back(b.name);
  runtime::set_buffer_names(weights, buffers);
}

using Ranges = std::map<std::string, std::vector<float>>;

// Rows for calibration: `rows` training rows in whole batches, else rows of another split.
runtime::Split calibration_rows(const driver::Session& s, int64_t rows) {
  const auto& splits = s.splits;
  const std::optional<runtime::Split>& from = splits.train        ? splits.train
                                              : splits.validation ? splits.validation
                                                                  : splits.test;
  HEDDLE_CHECK(from.has_value(), "an evaluation has rows");
  runtime::Split some = *from;
  const int64_t batch = s.plan.batch, whole = some.rows() / batch * batch;
  if (whole == 0)
    throw UserError(ExitCode::failed,
                    fmt::format("--calibrate: {} {} rows are no batch of {}", some.rows(), some.name, batch),
                    "give a smaller --batch");
  some.table.rows = std::min(whole, (rows + batch - 1) / batch * batch);
  if (!some.bucket.empty()) some.bucket.resize(static_cast<size_t>(some.table.rows));
  return some;
}

// The weights' products in f32, observed.
Ranges observe(const QuantizeArguments& a, const driver::ReadModel& read, const runtime::WeightsFile& weights,
               const std::vector<frontend::ProductWeight>& products) {
  driver::OpenedDevice device = driver::open_device(a.run.device);
  driver::SessionOptions options{.purpose = driver::Purpose::evaluation,
                                 .folder = read.folder(a.run.data),
                                 .weights = &weights,
                                 .train_rows = true,
                                 .compile = compile_options(a.run.model)};
  options.compile.target = device.target;
  for (const frontend::ProductWeight& p : products)
    options.compile.observed.push_back({.name = p.name, .axis = p.axis});
  driver::Session s = driver::open_session(read.model, options);
  driver::load(s, *device.device);
  runtime::load_weights(*s.executable, weights);
  return driver::observed_ranges(s, [&] {
    runtime::Watcher watcher;
    watcher.note = note;
    driver::evaluate(s, calibration_rows(s, a.calibrate), watcher);
  });
}

// As `evaluate` computes with the file.
runtime::MetricValues measure_int8(const QuantizeArguments& a, const driver::ReadModel& read,
                                   runtime::WeightsFile weights, const std::vector<passes::Int8Weight>& int8) {
  driver::OpenedDevice device = driver::open_device(a.run.device);
  driver::SessionOptions options{.purpose = driver::Purpose::evaluation,
                                 .folder = read.folder(a.run.data),
                                 .weights = &weights,
                                 .compile = compile_options(a.run.model)};
  options.compile.target = device.target;
  options.compile.int8 = int8;
  driver::Session s = driver::open_session(read.model, options);
  driver::put_int8(weights, s.program);
  driver::load(s, *device.device);
  runtime::load_weights(*s.executable, weights);
  if (const std::string told = driver::told_of_int8(s.program, read.model); !told.empty() && !a.run.quiet) note(told);
  runtime::Watcher watcher;
  watcher.note = note;
  return driver::evaluate(s, *measured_split(s.splits), watcher);
}

// With both weights, as `evaluate` would.
Measured measure(const QuantizeArguments& a, const driver::ReadModel& read, driver::Session& s, runtime::Device& device,
                 const ir::Target& target, const runtime::WeightsFile& before, const runtime::WeightsFile& after) {
  driver::load(s, device);
  const runtime::Split* split = measured_split(s.splits);
  if (split == nullptr) return {};
  runtime::Watcher watcher;
  watcher.note = note;
  Measured m{.split = split->name, .before = {}, .after = {}};
  runtime::load_weights(*s.executable, before);
  m.before = driver::evaluate(s, *split, watcher);
  runtime::WeightsFile converted = runtime::converted_weights(after).file;
  const driver::Int8Weights int8 = driver::int8_weights(converted, target);
  if (!int8.note.empty()) note(int8.note);
  if (!int8.weights.empty() && a.run.model.int8 && !GeneratedMetrics::needed(read.model)) {
    m.after = measure_int8(a, read, std::move(converted), int8.weights);
    return m;
  }
  runtime::load_weights(*s.executable, converted);
  m.after = driver::evaluate(s, *split, watcher);
  return m;
}

int64_t file_bytes(const runtime::WeightsFile& file) {
  int64_t bytes = std::ssize(runtime::safetensors_head(file));
  for (const runtime::SavedTensor& t : file.tensors) bytes += t.end - t.begin;
  return bytes;
}

// "loss +0.0012, accuracy -0.0005"
std::string differences(const Measured& m) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < m.before.size(); ++i)
    if (m.before[i].dims.empty())
      parts.push_back(fmt::format("{} {:+.4f}", m.before[i].name, m.after[i].value - m.before[i].value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void tell(const QuantizeArguments& a, const runtime::WeightsFile& weights, const driver::QuantizedWeights& made,
          const std::string& model, const Measured& m) {
  const int64_t before = file_bytes(weights), after = file_bytes(made.file);
  if (a.run.json) {
    runtime::JsonObject out;
    out.text("model", model).text("type", a.type).integer("tensors", made.tensors);
    out.integer("bytes_before", before).integer("bytes", after);
    if (!m.split.empty())
      out.text("split", m.split)
          .raw("before", runtime::metrics_json(m.before))
          .raw("after", runtime::metrics_json(m.after));
    print_result("{}\n", out.str());
  }
  if (a.run.quiet) return;
  print_note("{}: {} as {}: {} {}, {} bytes instead of {}\n", a.out, model, a.type, made.tensors,
             made.tensors == 1 ? "tensor" : "tensors", after, before);
  if (m.split.empty()) return;
  print_note("{}, f32: {}\n", m.split, runtime::metrics_text(m.before, "", ", "));
  print_note("{}, {}: {}\n", m.split, a.type, runtime::metrics_text(m.after, "", ", "));
  print_note("difference: {}\n", differences(m));
}

// A training with train.quantize has observed the ranges of its int8 weights.
driver::QuantizedWeights quantized(const QuantizeArguments& a, const driver::ReadModel& read,
                                   const driver::Compiled& made_of, const runtime::WeightsFile& weights) {
  frontend::ModelInstances instances(read.model);
  const std::vector<frontend::ProductWeight> products = frontend::product_weights(instances, made_of.plan.batch);
  const bool trained = a.type == "int8" && read.model.train.quantize;
  Ranges ranges;
  if (trained) ranges = driver::trained_ranges(weights, driver::ranged_weights(made_of.program));
  if (a.calibrate > 0) ranges = observe(a, read, weights, products);
  return driver::quantize_weights(weights, products,
                                  {.type = *runtime::stored_as(a.type),
                                   .keep = a.keep,
                                   .model = read.model.name,
                                   .ranges = ranges,
                                   .trained = trained});
}

void require_calibration(const QuantizeArguments& a, const frontend::Model& model) {
  if (a.calibrate == 0) return;
  if (a.type != "int8")
    throw UserError(ExitCode::usage, fmt::format("--calibrate is for int8 products, and --type is {}", a.type),
                    "leave out one of them");
  if (model.train.quantize)
    throw UserError(model.train.quantize->where,
                    "--calibrate: a training with 'quantize' has observed the ranges of what its weights multiply",
                    "leave out --calibrate");
  if (!can_be_measured(model))
    throw UserError(
        ExitCode::usage, "--calibrate needs rows, and the model has none that it is evaluated on",
        "give the model a loss and a validation or test split; without --calibrate each row has its own scale");
}

void quantize(const QuantizeArguments& a) {
  require_no_source("-o", a.out, a.run.weights);
  runtime::require_weights_path(a.out);
  driver::require_model_file(a.run.model.model, "the package reads what quantize writes for its model");
  warn_without_kernel_cache();
  driver::ReadModel read_model;
  read(a.run.model, read_model);
  const frontend::Model& model = read_model.model;
  require_calibration(a, model);
  runtime::WeightsFile weights = read_weights(a.run, model.train.stored.has_value());
  read_model.model.train.stored.reset();  // before and behind it, numbers are those of the files
  driver::OpenedDevice device = driver::open_device(a.run.device);
  std::optional<driver::Session> session = open_evaluation(a.run, read_model, weights, device.target);
  driver::Compiled compiled;
  if (!session) {
    driver::CompileOptions options = compile_options(a.run.model);
    options.folder = read_model.folder(a.run.data);
    compiled = driver::compile(model, options);
  }
  const driver::Compiled& made_of = session ? *session : compiled;
  if (made_of.plan.adapters)
    throw UserError(ExitCode::failed, "train.lora: adapters are not quantised",
                    "heddle merge MODEL --weights BASE --weights ADAPTERS -o FILE; then quantize the model without it");
  require_own(weights, model, made_of.plan, made_of.program);
  driver::QuantizedWeights made = quantized(a, read_model, made_of, weights);
  Measured m;
  if (session) m = measure(a, read_model, *session, *device.device, device.target, weights, made.file);
  if (!m.split.empty()) {
    made.file.metadata[runtime::kQuantizedSplit] = m.split;
    made.file.metadata[runtime::kQuantizedBefore] = runtime::metrics_json(m.before);
    made.file.metadata[runtime::kQuantizedAfter] = runtime::metrics_json(m.after);
  }
  runtime::require_weights_path(a.out);
  runtime::write_safetensors(a.out, made.file);
  tell(a, weights, made, model.name, m);
}

}  // namespace

void add_quantize(CommandLine& line) {
  Command command = line.add_subcommand("quantize", "weights in fewer bits, for use, and what that costs");
  const auto a = std::make_shared<QuantizeArguments>();
  add_run_arguments(command, a->run);
  add_weights_arguments(command, a->run, "the weights (safetensors)");
  command.add_option("-o,--out", a->out, "the smaller weights (safetensors)").takes(Takes::file).required();
  command.add_option("--type", a->type, "what weights become: int8 (default), int4, f16 or bf16")
      .one_of({"int8", "int4", "f16", "bf16"});
  command.add_option("--keep", a->keep, "weights that stay f32, by name, with * and ?; may be given several times");
  command
      .add_option("--calibrate", a->calibrate,
                  "look at so many training rows, and store the ranges of what int8 weights are multiplied with")
      .between(1, kMostCalibrated);
  command.run([a] {
    if (a->run.weights.empty())
      throw UserError(ExitCode::usage, "--weights is required",
                      "heddle quantize MODEL --weights FILE.safetensors -o SMALLER.safetensors");
    quantize(*a);
  });
}

}  // namespace heddle::tools
