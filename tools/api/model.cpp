#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "ir/read_text.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "tools/api/built_json.h"
#include "tools/api/guarded.h"
#include "tools/api/heddle.h"
#include "tools/api/training.h"
#include "tools/driver/generator.h"
#include "tools/driver/int8_weights.h"
#include "tools/driver/model_file.h"
#include "tools/driver/packaged_model.h"
#include "tools/driver/predictor.h"
#include "tools/generate/beams.h"
#include "tools/generate/generate.h"
#include "tools/predict/predict_files.h"

namespace heddle {

using api::guarded;
using api::Training;

namespace {

// Of Options::libraries, each of which is known.
std::vector<std::string> names_of_libraries(const Options& options) {
  std::vector<std::string> names;
  std::istringstream in(options.libraries);
  for (std::string name; std::getline(in, name, ',');) {
    if (name != "cublaslt" && name != "cudnn")
      throw UserError(ExitCode::usage, fmt::format("Options::libraries names {}", frontend::quote(name)),
                      "cublaslt, cudnn, or cublaslt,cudnn");
    names.push_back(name);
  }
  return names;
}

// A device holds one program: each program has a device of its own, which outlives it.
template <class T>
struct OnDevice {
  driver::OpenedDevice device;
  std::unique_ptr<T> made;
  int64_t version = 0;  // of the weights that it has (Impl::version); 0: not known
};

}  // namespace

struct Model::Impl {
  Options options;
  driver::ReadModel read;
  std::optional<driver::Package> package;  // that the model was read from
  std::vector<std::string> weights_paths;
  std::optional<runtime::WeightsFile> weights;  // that were loaded, until a training begins with them
  std::unique_ptr<OnDevice<Training>> training;
  std::unique_ptr<OnDevice<driver::Predictor>> predictor;
  std::vector<std::string> predicted;  // the outputs that it computes
  int64_t predicted_batch = 0;         // that was asked for
  std::unique_ptr<OnDevice<driver::Generator>> generator;
  bool told_of_kernel_cache = false;
  bool fitting = false;  // a fit is under way, and the program is called from it
  int64_t version = 1;   // counts the changes of the weights; those of a fit under way are not counted

  void tell(const std::string& note) const {
    if (options.note) api::called_back([&] { options.note(note); });
  }
  // Once.
  void tell_of_kernel_cache() {
    if (std::exchange(told_of_kernel_cache, true)) return;
    if (const std::string problem = driver::kernel_cache_problem(); !problem.empty())
      tell(problem + "; set HEDDLE_CACHE to a new or empty folder");
  }
  driver::Choices choices(const ir::Target& target) const {
    if (options.choices.empty()) return package ? driver::packaged_choices(*package, target.name) : driver::Choices{};
    if (package)
      throw UserError(ExitCode::usage, fmt::format("{}: the programs of a package are chosen already", options.choices),
                      "heddle package MODEL --choices TABLE makes one with them");
    const SourceFile file{options.choices, read_text(options.choices, options.choices, driver::kMostChoicesBytes)};
    return driver::read_choices(file);
  }
  driver::GpuLibraries libraries() const {
    if (package && !options.libraries.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("libraries {}: a package holds generated kernels alone", options.libraries),
                      "give the model file, which is planned for the libraries");
    return driver::libraries_named(names_of_libraries(options));
  }
  frontend::ReadOptions read_options() const { return {.set = options.set, .small = options.small}; }
  // `make` gets what to compile for.
  template <class T, class F>
  std::unique_ptr<OnDevice<T>> make_on_device(const F& make) {
    auto on = std::make_unique<OnDevice<T>>();
    const driver::DeviceRequest request{.device = options.device, .threads = options.threads};
    if (!package) tell_of_kernel_cache();
    on->device = package ? driver::open_packaged_device(request, *package) : driver::open_device(request);
    const driver::CompileOptions compile{.target = on->device.target,
                                         .memory_bytes = options.memory_bytes,
                                         .libraries = libraries(),
                                         .choices = choices(on->device.target),
                                         .tell = [this](const std::string& line) { tell(line); }};
    on->made = make(compile, *on->device.device);
    return on;
  }
  void start(Training& made, std::optional<runtime::WeightsFile> from) const {
    made.start(std::move(from));
    if (!made.note().empty()) tell(made.note());
  }
  void begin(std::unique_ptr<OnDevice<Training>> next) {
    if (training)
      next->made->go_on_from(*training->made);
    else
      start(*next->made, weights);
    training = std::move(next);
    weights.reset();
    ++version;
  }
  void begin_with_rows() {
    begin(make_on_device<Training>([&](const driver::CompileOptions& compile, runtime::Device& device) {
      return std::make_unique<Training>(read.model, compile, device);
    }));
  }
  void begin_with_data() {
    const driver::DeviceRequest request{.device = options.device, .threads = options.threads};
    tools::OpenDevice open_device;
    if (!package) open_device = [request] { return std::move(driver::open_device(request).device); };
    begin(make_on_device<Training>([&](const driver::CompileOptions& compile, runtime::Device& device) {
      return std::make_unique<Training>(read.model, compile, device, read.folder(options.data),
                                        weights ? &*weights : nullptr, open_device);
    }));
  }
  runtime::WeightsFile current() const {
    if (training) return training->made->weights();
    if (weights) return *weights;
    throw UserError(ExitCode::usage, "the model has no weights yet", "load_weights, compile or fit comes before");
  }
  // Whether a program has the weights of now.
  template <class T>
  bool has_weights(const OnDevice<T>& program) const {
    return !fitting && program.version == version;
  }
  // Compiled once for the same outputs and batch; the weights are those of now.
  driver::Predictor& predictor_for(const std::vector<std::string>& outputs, const driver::BatchRequest& batch) {
    const bool same = predictor && predicted == outputs && predicted_batch == batch.rows;
    if (same && has_weights(*predictor)) return *predictor->made;
    const int64_t of_now = fitting ? 0 : version;  // a note may call what changes it
    runtime::WeightsFile now = current();
    const auto int8 = [&](const ir::Target& target) {
      if (package || !options.int8) return driver::Int8Weights();
      return driver::int8_weights(now, target);
    };
    if (same && predictor->made->int8() == int8(predictor->device.target).weights) {
      predictor->made->load(std::move(now));
    } else {
      predictor = make_on_device<driver::Predictor>([&](driver::CompileOptions compile, runtime::Device& device) {
        if (package && options.fold_norms)
          throw UserError(ExitCode::usage, "--fold-norms: the programs of a package are made already, without it",
                          "give the model file");
        compile.fold_norms = options.fold_norms;
        driver::Int8Weights found = int8(compile.target);
        if (!found.note.empty()) tell(found.note);
        compile.int8 = std::move(found.weights);
        return std::make_unique<driver::Predictor>(
            read.model, std::move(now), package ? driver::packaged_outputs(outputs, *package) : outputs,
            package ? driver::packaged_batch(batch, *package, compile.target) : batch, compile, device);
      });
      predicted = outputs;
      predicted_batch = batch.rows;
      if (!predictor->made->note().empty()) tell(predictor->made->note());
    }
    predictor->version = of_now;
    return *predictor->made;
  }
  // Compiled once for so many texts at the same time.
  driver::Generator& generator_for(int64_t rows, bool reorders) {
    const bool same = generator && generator->made->rows() == rows && generator->made->reorders() == reorders;
    if (same && has_weights(*generator)) return *generator->made;
    const int64_t of_now = fitting ? 0 : version;
    runtime::WeightsFile now = current();
    const auto int8 = [&](const ir::Target& target) {
      return options.int8 ? driver::int8_weights_to_read(now, target) : driver::Int8Weights();
    };
    if (same && generator->made->int8() == int8(generator->device.target).weights) {
      generator->made->load(std::move(now));
      generator->version = of_now;
      return *generator->made;
    }
    if (!options.libraries.empty())
      throw UserError(ExitCode::usage,
                      fmt::format("libraries {}: texts are written by generated kernels alone", options.libraries),
                      "a text must not change with the number of texts beside it: leave Options::libraries empty");
    generator = make_on_device<driver::Generator>([&](driver::CompileOptions compile, runtime::Device& device) {
      driver::Int8Weights found = int8(compile.target);
      if (!found.note.empty()) tell(found.note);
      compile.int8 = std::move(found.weights);
      return std::make_unique<driver::Generator>(read.model, std::move(now), rows, reorders, compile, device);
    });
    if (!generator->made->note().empty()) tell(generator->made->note());
    generator->version = of_now;
    return *generator->made;
  }
};

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

namespace {

void require_batch(const char* of, int64_t batch) {
  constexpr int64_t kFewest = driver::PlannedBatch::kFewest;
  if (batch != 0 && (batch < kFewest || batch > driver::kMostBatch))
    throw UserError(ExitCode::usage, fmt::format("{}::batch is {}, expected {} ... {}, or 0 for what is planned", of,
                                                 batch, kFewest, driver::kMostBatch));
}

// As the command line checks its options.
void check(const Options& options) {
  constexpr int64_t kMostThreads = 1024, kMostBytes = int64_t{1} << 50;
  const auto within = [](const char* name, int64_t value, int64_t most) {
    if (value < 0 || value > most)
      throw UserError(ExitCode::usage, fmt::format("Options::{} is {}, expected 0 ... {}", name, value, most));
  };
  within("threads", options.threads, kMostThreads);
  within("memory_bytes", options.memory_bytes, kMostBytes);
  require_batch("Options", options.batch);
}

template <class Impl>
void require_there(const std::unique_ptr<Impl>& impl) {
  if (!impl) throw UserError(ExitCode::usage, "the model was moved from", "use the one that it was moved to");
}

// Throws where a callback of fit calls a function that would replace the training or its states.
template <class Impl>
Impl& require_no_fit(const std::unique_ptr<Impl>& impl, const char* function) {
  require_there(impl);
  if (impl->fitting)
    throw UserError(ExitCode::usage, fmt::format("{}: a fit of this model is under way", function),
                    "its callback may predict and save, and ends the training by returning false");
  return *impl;
}

struct Fitting {
  explicit Fitting(bool& flag) : now(flag) { now = true; }
  Fitting(const Fitting&) = delete;
  Fitting& operator=(const Fitting&) = delete;
  ~Fitting() { now = false; }
  bool& now;
};

void require_one_of(const char* name, const std::string& word, const std::vector<std::string>& words) {
  if (word.empty() || std::ranges::count(words, word) > 0) return;
  throw UserError(ExitCode::usage, fmt::format("FilePredictions::{} is {}", name, frontend::quote(word)),
                  fmt::format("one of {}, or empty", fmt::join(words, ", ")));
}

// Throws at an array that feeds no input: its name is probably misspelt.
void require_inputs(const char* function, const Inputs& rows, const frontend::Model& model) {
  std::vector<std::string> names;
  for (const frontend::InputDef& input : model.inputs) names.push_back(input.name);
  for (const auto& [name, array] : rows) {
    if (std::ranges::count(names, name) > 0) continue;
    const std::string near = did_you_mean(name, names);
    throw UserError(ExitCode::usage, fmt::format("{}: the model has no input {}", function, frontend::quote(name)),
                    near.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : near);
  }
}

}  // namespace

Model Model::load(const std::string& path, const Options& options) {
  return guarded([&] {
    check(options);
    if (path == "-")
      throw UserError(ExitCode::usage, "load: - is no file: standard input is the program's own",
                      "parse takes a model's text; a file that is called so is ./-");
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    if (driver::is_package(path))
      impl->package = driver::read_packaged_model(impl->read, path, impl->read_options());
    else
      driver::read_model(impl->read, path, impl->read_options());
    return Model(std::move(impl));
  });
}

Model Model::parse(const std::string& text, const Options& options) {
  return guarded([&] {
    check(options);
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    impl->read.model =
        frontend::read_model(impl->read.sources, impl->read.sources.add(options.text_name, text), impl->read_options());
    return Model(std::move(impl));
  });
}

Model Model::build(const ModelBuilder& builder, const Options& options) {
  return guarded([&] {
    check(options);
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    frontend::Sources& sources = impl->read.sources;
    impl->read.model = frontend::read_model(sources, api::built_json(builder.value(), sources), impl->read_options());
    return Model(std::move(impl));
  });
}

std::string Model::name() const {
  return guarded([&] {
    require_there(impl_);
    return impl_->read.model.name;
  });
}

void Model::compile() {
  guarded([&] {
    Impl& impl = require_no_fit(impl_, "compile");
    if (!impl.training) impl.begin_with_rows();
  });
}

double Model::train_step(const Inputs& rows) {
  return guarded([&] {
    Impl& impl = require_no_fit(impl_, "train_step");
    require_inputs("train_step", rows, impl.read.model);
    if (!impl.training || impl.training->made->has_data()) impl.begin_with_rows();
    ++impl.version;
    return impl.training->made->step(rows);
  });
}

FitResult Model::fit(const std::function<bool(const Epoch&)>& each) {
  return guarded([&] {
    Impl& impl = require_no_fit(impl_, "fit");
    const Fitting fitting(impl.fitting);
    ++impl.version;
    if (!impl.training || !impl.training->made->has_data()) impl.begin_with_data();
    return impl.training->made->fit(each);
  });
}

Outputs Model::predict(const Inputs& rows, const std::vector<std::string>& outputs) {
  return guarded([&] {
    require_there(impl_);
    require_inputs("predict", rows, impl_->read.model);
    driver::Predictor& predictor = impl_->predictor_for(outputs, {.rows = impl_->options.batch});
    predictor.allow_nan(false);
    int64_t count = -1;
    for (const driver::PredictInput& input : predictor.inputs()) {
      const auto given = rows.find(input.request.input);
      if (given == rows.end())
        throw UserError(ExitCode::usage, fmt::format("predict: no rows for input '{}'", input.request.input),
                        "the outputs depend on it");
      if (count >= 0 && given->second.rows() != count)
        throw UserError(ExitCode::usage,
                        fmt::format("predict: {} rows for input '{}', another has {}", given->second.rows(),
                                    input.request.input, count),
                        "every input has the same number of rows");
      count = given->second.rows();
    }
    if (count <= 0)  // no batch looks at what the shapes say
      for (const driver::PredictInput& input : predictor.inputs())
        api::column_of(rows.at(input.request.input), input.request, 0, 0);
    Outputs out;
    for (const driver::PredictOutput& output : predictor.outputs()) {
      std::vector<int64_t> shape = {count};
      shape.insert(shape.end(), output.dims.begin(), output.dims.end());
      out[output.name] = {.dtype = runtime::data::to_string(output.type), .shape = shape, .bytes = {}};
    }
    for (int64_t first = 0; first < count; first += predictor.batch()) {
      const int64_t part = std::min(predictor.batch(), count - first);
      std::vector<runtime::data::Column> columns;
      for (const driver::PredictInput& input : predictor.inputs())
        columns.push_back(api::column_of(rows.at(input.request.input), input.request, first, part));
      if (const auto bad = predictor.run(columns, part, first); bad.row >= 0)
        throw UserError(ExitCode::failed,
                        fmt::format("predict: row {}, counted from 0: input '{}' holds {}", first + bad.row,
                                    predictor.inputs()[bad.input].request.input, bad.value),
                        "correct or remove that row, and look at the maps of the input");
      for (size_t i = 0; i < predictor.outputs().size(); ++i) {
        const auto bytes = predictor.result(i).first(static_cast<size_t>(part * predictor.outputs()[i].row_bytes()));
        std::vector<std::byte>& to = out[predictor.outputs()[i].name].bytes;
        to.insert(to.end(), bytes.begin(), bytes.end());
      }
    }
    return out;
  });
}

FileResult Model::predict_files(const FilePredictions& r) {
  return guarded([&] {
    require_there(impl_);
    tools::require_apart(r.out, r.in, {impl_->read.path, impl_->weights_paths});
    require_one_of("in_format", r.in_format, tools::kRowFormats);
    require_one_of("format", r.format, tools::kResultFormats);
    if (r.top < 0 || r.top > tools::kMostClasses)
      throw UserError(ExitCode::usage,
                      fmt::format("FilePredictions::top is {}, expected 0 ... {}", r.top, tools::kMostClasses));
    require_batch("FilePredictions", r.batch);
    driver::Predictor& predictor =
        impl_->predictor_for(r.outputs, {.rows = r.batch, .known = tools::known_rows(r.in, r.in_format)});
    predictor.allow_nan(r.allow_nan);
    tools::RowReader reader(predictor, r.in, r.in_format);
    tools::ResultWriter writer(
        {.path = r.out, .format = r.format, .top = r.top, .text = r.text, .overwrite = r.overwrite}, predictor);
    const tools::PredictSummary done = tools::predict_rows(predictor, reader, writer);
    for (const std::string& note : reader.notes()) impl_->tell(note);
    return FileResult{.rows = done.rows, .not_finite = done.not_finite};
  });
}

namespace {

void check(const GenerateOptions& o) {
  constexpr int kMostTokens = 1 << 20, kMostSamples = 1 << 16, kMostBeams = 1 << 12;
  constexpr double kMostTemperature = 100, kMostPenalty = 100;
  const auto require = [](bool fits, const char* name, const std::string& value, const std::string& expected) {
    if (!fits)
      throw UserError(ExitCode::usage, fmt::format("GenerateOptions::{} is {}, expected {}", name, value, expected));
  };
  const auto within = [&](const char* name, auto value, auto least, auto most) {
    require(value >= least && value <= most, name, fmt::format("{}", value), fmt::format("{} ... {}", least, most));
  };
  within("tokens", o.tokens, 1, kMostTokens);
  within("temperature", o.temperature, 0.0, kMostTemperature);
  within("top_k", o.top_k, 0, std::numeric_limits<int>::max());
  require(o.top_p > 0 && o.top_p <= 1, "top_p", fmt::format("{}", o.top_p), "above 0, to 1");
  require(o.repetition_penalty > 0 && o.repetition_penalty <= kMostPenalty, "repetition_penalty",
          fmt::format("{}", o.repetition_penalty), fmt::format("above 0, to {}", kMostPenalty));
  within("samples", o.samples, 1, kMostSamples);
  within("beams", o.beams, 0, kMostBeams);
  within("length_penalty", o.length_penalty, 0.0, kMostPenalty);
  if (o.beams > 0) {
    const GenerateOptions plain;
    if (o.temperature != plain.temperature || o.top_k != plain.top_k || o.top_p != plain.top_p ||
        o.repetition_penalty != plain.repetition_penalty || o.batch != plain.batch)
      throw UserError(
          ExitCode::usage,
          "beams draw nothing: a temperature, top_k, top_p, a repetition penalty and a batch have no meaning",
          "leave these out, or the beams");
    require(o.samples <= o.beams, "samples", std::to_string(o.samples), fmt::format("{} beams at most", o.beams));
  } else if (o.length_penalty != GenerateOptions().length_penalty) {
    throw UserError(ExitCode::usage, "a length penalty compares beams, and there are none",
                    "ask for beams, or leave it out");
  }
  for (const std::string& stop : o.stop)
    require(!stop.empty(), "stop", "an empty text", "a text of one character or more");
  require(o.batch == 0 || (o.batch >= driver::Generator::kFewestRows && o.batch <= driver::kMostBatch), "batch",
          std::to_string(o.batch), fmt::format("{} ... {}, or 0", driver::Generator::kFewestRows, driver::kMostBatch));
}

// The number of texts at once: as many as requested, up to a useful limit.
int64_t rows_for(const GenerateOptions& o, size_t prompts) {
  const int64_t texts = o.batch > 0 ? o.batch
                        : o.beams > 0
                            ? o.beams
                            : std::min(static_cast<int64_t>(prompts) * o.samples, driver::PlannedBatch::kMostRows);
  return driver::Generator::rows_for(texts);
}

tools::GenerateSettings settings_of(const GenerateOptions& o) {
  return {.sampling = {.temperature = o.temperature,
                       .top_k = o.top_k,
                       .top_p = o.top_p,
                       .repetition_penalty = o.repetition_penalty,
                       .seed = o.seed},
          .tokens = o.tokens,
          .samples = o.samples,
          .stops = o.stop};
}

std::vector<std::vector<tools::Continuation>> searched(driver::Generator& generator, const tools::TextOfModel& text,
                                                       const std::vector<SourceFile>& prompts, const GenerateOptions& o,
                                                       const tools::GenerateCalls& calls) {
  const tools::BeamSettings settings{
      .width = o.beams, .length_penalty = o.length_penalty, .tokens = o.tokens, .stops = o.stop};
  std::vector<std::vector<tools::Continuation>> out;
  for (const SourceFile& prompt : prompts) {
    out.push_back(tools::beams(generator, text, prompt, settings, calls));
    if (std::ssize(out.back()) > o.samples) out.back().resize(static_cast<size_t>(o.samples));
    for (size_t sample = 0; calls.done && sample < out.back().size(); ++sample)
      if (!calls.done(out.size() - 1, sample, out.back()[sample])) {
        out.resize(prompts.size());
        return out;
      }
  }
  return out;
}

}  // namespace

std::vector<std::vector<Generated>> Model::generate(const std::vector<Prompt>& prompts, const GenerateOptions& o) {
  return guarded([&] {
    require_there(impl_);
    check(o);
    driver::Generator& generator = impl_->generator_for(rows_for(o, prompts.size()), o.beams > 0);
    const tools::TextOfModel text(generator, o.tokenizer, o.special);
    std::vector<SourceFile> sources;
    sources.reserve(prompts.size());
    for (const Prompt& prompt : prompts) sources.push_back({prompt.name, prompt.text});
    tools::GenerateCalls calls{.piece = {}, .note = [&](const std::string& note) { impl_->tell(note); }};
    const auto before = [&](size_t prompt) {
      return o.with_prompt && !generator.source() ? prompts[prompt].text : std::string();
    };
    std::set<std::pair<size_t, size_t>> begun;
    if (o.each)
      calls.piece = [&](size_t prompt, size_t sample, std::string_view piece) {
        const std::string first = begun.emplace(prompt, sample).second ? before(prompt) : "";
        return api::called_back([&] { return o.each(prompt, sample, first + std::string(piece)); });
      };
    const auto generated = [&](size_t prompt, const tools::Continuation& c) {
      return Generated{.text = before(prompt) + c.text,
                       .tokens = c.ids,
                       .log_probabilities = c.log_probabilities,
                       .end = tools::to_string(c.end)};
    };
    if (o.done)
      calls.done = [&](size_t prompt, size_t sample, const tools::Continuation& c) {
        return api::called_back([&] { return o.done(prompt, sample, generated(prompt, c)); });
      };
    const auto made = o.beams > 0 ? searched(generator, text, sources, o, calls)
                                  : tools::generate(generator, text, sources, settings_of(o), calls);
    std::vector<std::vector<Generated>> out(made.size());
    for (size_t i = 0; i < made.size(); ++i)
      for (const tools::Continuation& c : made[i]) out[i].push_back(generated(i, c));
    return out;
  });
}

void Model::load_weights(const std::string& path, const std::string& prefix) {
  load_weights(std::vector<std::string>{path}, prefix);
}

void Model::load_weights(const std::vector<std::string>& paths, const std::string& prefix) {
  guarded([&] {
    Impl& impl = require_no_fit(impl_, "load_weights");
    if (paths.empty())
      throw UserError(ExitCode::usage, "load_weights: there is no file", "give the one of the weights");
    auto [file, note] = runtime::read_weights(paths, prefix, impl.read.model.train.stored.has_value());
    if (!note.empty()) impl.tell(note);
    ++impl.version;  // before a note, which may read them
    if (impl.training)
      impl.start(*impl.training->made, std::move(file));
    else
      impl.weights = std::move(file);
    impl.weights_paths = paths;
  });
}

void Model::save(const std::string& path) {
  guarded([&] {
    require_there(impl_);
    runtime::require_weights_path(path);
    runtime::write_safetensors(path, impl_->training ? impl_->training->made->saved() : impl_->current());
  });
}

}  // namespace heddle
