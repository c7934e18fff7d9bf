// What the library promises a program: equal results by each way, errors of one type, models that move.
#include <heddle/heddle.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

const char* kModel = R"({
  "format": "heddle-model/1", "name": "line",
  "inputs": {"x": {"shape": ["N", 2]}, "y": {"shape": ["N", 1]}},
  "nodes": [{"name": "h", "op": "dense", "in": "x", "units": 4, "activation": "tanh"}, {"name": "out", "op": "dense", "units": 1}],
  "outputs": {"out": "out"},
  "train": {"batch": {"N": 4}, "loss": {"op": "mse", "in": ["out", "y"]}, "optimizer": {"op": "sgd", "lr": 0.1, "momentum": 0.9}}
})";

void require(bool condition, const char* what) {
  if (condition) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

template <class F>
void refused(int code, const char* part, F f) {
  try {
    f();
  } catch (const heddle::Error& error) {
    require(error.code() == code, error.what());
    require(std::string(error.what()).find(part) != std::string::npos, error.what());
    std::printf("%s", error.what());
    return;
  }
  require(false, part);
}

// Weights in halves with a prefix, and a cache that cannot be used: the program is told, and standard error is its own.
void print_notes(const std::string& folder, const heddle::Inputs& rows) {
  heddle::Model model = heddle::Model::parse(
      kModel, {.device = "host", .note = [](const std::string& note) { std::printf("note: %s\n", note.c_str()); }});
  refused(1, "load_weights the prefix", [&] {
    model.load_weights(folder + "/halves.safetensors");
    model.predict(rows);
  });
  model.load_weights(folder + "/halves.safetensors", "module.");
  heddle::Model floats = heddle::Model::parse(kModel, {.device = "host"});
  floats.load_weights(folder + "/floats.safetensors");
  require(model.predict(rows).at("out").floats() == floats.predict(rows).at("out").floats(), "the same numbers");
  model.predict(rows, {"h"});
  refused(2, "never standard input", [&] { model.load_weights("-"); });
  refused(2, "never standard input", [&] { model.save("-"); });
}

// A step whose last number of 'x' is multiplied by 1e8 as it is read.
void step_behind_maps(const heddle::Inputs& rows, double last) {
  std::string text = kModel;
  text.insert(text.rfind('}'), R"(, "data": {"map": {"x": [{"op": "scale", "by": 1e8}]}})");
  heddle::Model model = heddle::Model::parse(text, {.device = "host"});
  heddle::Inputs wide = rows;
  const std::vector<float> narrow = rows.at("x").floats();
  std::vector<double> numbers(narrow.size(), 0.0);
  numbers.back() = last;
  wide.at("x") = {.dtype = "f64", .shape = rows.at("x").shape, .bytes = {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  wide.at("x").bytes.assign(bytes, bytes + numbers.size() * sizeof(double));
  model.train_step(wide);
}

// Rows that all weigh nothing have no loss, and change nothing but where the optimizer stands.
void step_of_nothing(const heddle::Inputs& rows) {
  const heddle::Options options{
      .set = {R"(inputs.weight={"shape": ["N"]})", R"(train.loss.weights="weight")", "train.optimizer.momentum=0"},
      .device = "host"};
  heddle::Model model = heddle::Model::parse(kModel, options);
  heddle::Inputs weighed = rows;
  weighed["weight"] = heddle::Array::f32({4}, {0, 0, 0, 0});
  model.compile();
  const std::vector<float> before = model.predict(rows).at("out").floats();
  require(std::isnan(model.train_step(weighed)), "no row counts");
  require(model.predict(rows).at("out").floats() == before, "no row trains");
  weighed["weight"] = heddle::Array::f32({4}, {0, 1, 0, 0});
  require(std::isfinite(model.train_step(weighed)), "a row counts");
}

// A model whose normalize takes its numbers from the training rows: fit makes them, weights keep them for other rows.
void fit_statistics(const std::string& folder, const std::string& path) {
  heddle::Model model = heddle::Model::load(path, {.device = "host"});
  model.fit();
  model.save(folder + "/fitted.safetensors");
  const heddle::Options few{.set = {"data.train.file=few.csv", "train.steps=1", "train.optimizer.lr=0"},
                            .device = "host"};
  heddle::Model next = heddle::Model::load(path, few);
  next.load_weights(folder + "/fitted.safetensors");
  next.fit();
  next.save(folder + "/kept.safetensors");
}

// A model that stops early: fit ends as `heddle train --save` does.
void fit_early(const std::string& folder, const std::string& path) {
  const heddle::Options options{
      .set = {"train.epochs=50", "train.optimizer.lr=2", R"(train.early_stop={"on": "loss", "patience": 2})"},
      .device = "host"};
  heddle::Model model = heddle::Model::load(path, options);
  int64_t told = 0;
  const heddle::FitResult result = model.fit([&](const heddle::Epoch&) { return ++told > 0; });
  require(result.stopped_early && !result.stopped, "train.early_stop ends it");
  require(result.epochs == told && result.epochs == result.best_epoch + 2 && told < 50, "two epochs after the best");
  model.save(folder + "/stopped.safetensors");
}

// What the callback of a fit may do, what its exceptions become, and early_stop: here the epoch of the greatest loss is
// the best, the first.
void watch_a_fit(const std::string& folder, const heddle::Inputs& rows) {
  std::FILE* csv = std::fopen((folder + "/line.csv").c_str(), "w");
  require(csv != nullptr, "a csv");
  std::fputs("a,b,c\n0,0,1\n0,1,0\n1,0,0\n1,1,1\n", csv);
  std::fclose(csv);
  const heddle::Options options{
      .set = {R"(data={"train": {"op": "csv", "file": "line.csv", "x": ["a", "b"], "y": "c"}})", "train.epochs=9",
              R"(train.early_stop={"patience": 2, "mode": "max"})"},
      .device = "host",
      .data = folder};
  heddle::Model model = heddle::Model::parse(kModel, options);
  std::vector<std::vector<float>> after;
  const auto each = [&](const heddle::Epoch&) {
    after.push_back(model.predict(rows).at("out").floats());
    return true;
  };
  const heddle::FitResult result = model.fit(each);
  require(result.stopped_early && result.epochs == 3 && result.best_epoch == 1, "early_stop ends the fit");
  require(after.size() == 3 && after[0] != after[1], "predictions are those of the epoch");
  require(model.predict(rows).at("out").floats() == after[0], "the fit ends with the best weights");

  model.fit([&](const heddle::Epoch&) {
    refused(2, "fit: a fit of this model is under way", [&] { model.fit(); });
    refused(2, "train_step: a fit", [&] { model.train_step(rows); });
    refused(2, "compile: a fit", [&] { model.compile(); });
    refused(2, "load_weights: a fit", [&] { model.load_weights(folder + "/w.safetensors"); });
    require(model.name() == "line", "its name");
    model.save(folder + "/within.safetensors");
    return false;
  });
  heddle::Model within = heddle::Model::parse(kModel, {.device = "host"});
  within.load_weights(folder + "/within.safetensors");
  require(within.predict(rows).at("out").floats() == model.predict(rows).at("out").floats(), "saved within the fit");

  try {
    model.fit([](const heddle::Epoch&) -> bool { throw std::system_error(EIO, std::generic_category(), "own"); });
    require(false, "the exception passes");
  } catch (const std::system_error& own) {
    require(own.code().value() == EIO, "as it is");
  }
  require(std::isfinite(model.train_step(rows)), "the fit has ended");
}

// Quantised weights predict, and neither a training that is to begin nor one that goes on takes them.
void quantised(const std::string& folder) {
  heddle::Model model = heddle::Model::load(folder + "/digits.json", {.device = "host"});
  const heddle::Inputs rows = {{"image", heddle::Array::f32({2, 28, 28, 1}, std::vector<float>(2 * 784, 0.5F))}};
  model.load_weights(folder + "/digits.int8");
  const std::vector<float> quantised = model.predict(rows).at("logits").floats();
  refused(1, "no training starts from", [&] { model.fit(); });
  require(model.predict(rows).at("logits").floats() == quantised, "the weights are still there");
  model.load_weights(folder + "/digits.f32");
  model.compile();
  const std::vector<float> whole = model.predict(rows).at("logits").floats();
  refused(1, "no training starts from", [&] { model.load_weights(folder + "/digits.int8"); });
  require(model.predict(rows).at("logits").floats() == whole, "the training is as it was");
  require(whole.size() == quantised.size() && whole != quantised, "other numbers");
  for (size_t i = 0; i < whole.size(); ++i) require(std::abs(whole[i] - quantised[i]) < 0.2F, "that are near");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argv[1];
  const heddle::Inputs rows = {{"x", heddle::Array::f32({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1})},
                               {"y", heddle::Array::f32({4, 1}, {1, 0, 0, 1})}};
  const std::string what = argc > 2 ? argv[2] : "";
  if (what == "early") return fit_early(folder, argv[3]), 0;
  if (what == "fit") return fit_statistics(folder, argv[3]), 0;
  if (what == "quantised") return quantised(folder), 0;
  if (what == "notes") return print_notes(folder, rows), 0;
  heddle::Model model = heddle::Model::parse(kModel, {.device = "host", .threads = 1});
  refused(2, "no weights yet", [&] { model.predict(rows); });
  model.compile();
  double first = 0, last = 0;
  for (int i = 0; i < 400; ++i) (i == 0 ? first : last) = model.train_step(rows);
  require(last < first / 10, "the loss falls");
  const std::vector<float> before = model.predict(rows).at("out").floats();
  require(before.size() == 4 && before[0] > 0.5F && before[1] < 0.5F, "it has learnt");

  model.save(folder + "/w.safetensors");
  heddle::Model other = heddle::Model::parse(kModel, {.device = "host"});
  other.load_weights(folder + "/w.safetensors");
  require(other.predict(rows).at("out").floats() == before, "weights pass through a file");

  // A training goes on after a prediction, from the same state, and predictions follow it.
  model.train_step({{"x", rows.at("x")}, {"y", heddle::Array::f32({4, 1}, {3, 3, 3, 3})}});
  require(model.predict(rows).at("out").floats() != before, "predictions are those of now");
  heddle::Model moved = std::move(model);
  const heddle::Outputs hidden = moved.predict(rows, {"h"});
  require(hidden.at("h").shape == std::vector<int64_t>({4, 4}), "a node's shape");

  // Rows by hundreds, each as alone.
  std::vector<float> many;
  for (int i = 0; i < 300; ++i)
    many.push_back(static_cast<float>(i % 17) / 17), many.push_back(static_cast<float>(i % 5));
  const std::vector<float> all = other.predict({{"x", heddle::Array::f32({150 * 2, 2}, many)}}).at("out").floats();
  const std::vector<float> one =
      other.predict({{"x", heddle::Array::f32({1, 2}, {many[398], many[399]})}}).at("out").floats();
  require(all.size() == 300 && all[199] == one[0], "a row does not depend on its neighbours");
  require(other.predict({{"x", heddle::Array::f32({0, 2}, {})}}).at("out").floats().empty(), "no rows give none");

  refused(2, "no rows for input 'y'", [&] { moved.train_step({{"x", rows.at("x")}}); });
  refused(2, "3 rows for input 'x'", [&] {
    moved.train_step({{"x", heddle::Array::f32({3, 2}, {0, 0, 0, 0, 0, 0})}, {"y", rows.at("y")}});
  });
  const std::vector<float> as_before = moved.predict(rows).at("out").floats();
  for (const char* name : {"x", "y"}) {
    heddle::Inputs wrong = rows;
    std::vector<float> numbers = wrong.at(name).floats();
    numbers.back() = std::numeric_limits<float>::quiet_NaN();
    wrong.at(name) = heddle::Array::f32(wrong.at(name).shape, numbers);
    const std::string message = std::string("row 3, counted from 0: input '") + name + "' holds nan";
    refused(1, message.c_str(), [&] { moved.train_step(wrong); });
  }
  require(moved.predict(rows).at("out").floats() == as_before, "a refused step changes nothing");
  heddle::Model wider = heddle::Model::parse(kModel, {.set = {"nodes.h.units=5"}, .device = "host"});
  wider.compile();
  wider.save(folder + "/wider.safetensors");
  refused(1, "the model has", [&] { moved.load_weights(folder + "/wider.safetensors"); });
  require(moved.predict(rows).at("out").floats() == as_before, "refused weights change nothing");
  refused(1, "row 3, counted from 0: input 'x' holds inf", [&] { step_behind_maps(rows, 1e300); });  // as f32
  refused(1, "row 3, counted from 0: input 'x' holds inf", [&] { step_behind_maps(rows, 4e30); });   // behind the maps
  step_behind_maps(rows, 1e30);
  require(std::isfinite(moved.train_step(rows)), "the next step is made");
  refused(1, "rows are [3]", [&] { other.predict({{"x", heddle::Array::f32({1, 3}, {0, 0, 0})}}); });
  refused(2, "has no 3 elements", [] { heddle::Array::f32({2, 2}, {1, 2, 3}); });
  refused(2, "no output and no node 'oot'", [&] { other.predict(rows, {"oot"}); });
  refused(1, "the model has no data to train on", [&] { other.fit(); });
  refused(1, "<text>:1:2:", [] { heddle::Model::parse("{x", {}); });
  refused(1, "none.safetensors", [&] { other.load_weights(folder + "/none.safetensors"); });
  refused(2, "the model was moved from", [&] { model.name(); });  // NOLINT(bugprone-use-after-move): what is asked
  refused(2, "the model was moved from", [&] { model.train_step(rows); });
  refused(2, "the model was moved from", [&] { model.save(folder + "/moved.safetensors"); });
  refused(2, "its shape says otherwise", [&] {
    heddle::Array negative = rows.at("x");
    negative.shape[0] = -4;
    other.predict({{"x", negative}});
  });
  refused(2, "'x' has no rows", [&] { other.predict({{"x", {.dtype = "f32"}}}); });
  refused(2, "Options::threads is -1, expected 0 ... 1024", [] { heddle::Model::parse(kModel, {.threads = -1}); });
  refused(2, "Options::threads is 1000000000,", [] { heddle::Model::parse(kModel, {.threads = 1000000000}); });
  refused(2, "Options::memory_bytes is -1,", [] { heddle::Model::parse(kModel, {.memory_bytes = -1}); });
  refused(2, "Options::batch is 1, expected 2 ... 1048576, or 0", [] { heddle::Model::parse(kModel, {.batch = 1}); });
  heddle::Model in_pairs = heddle::Model::parse(kModel, {.device = "host", .batch = 2});
  in_pairs.load_weights(folder + "/w.safetensors");
  require(in_pairs.predict(rows).at("out").floats() == before, "the batch changes no bit");
  refused(2, "load: - is no file", [] { heddle::Model::load("-"); });
  refused(1, "mine:1:2:", [] { heddle::Model::parse("{x", {.text_name = "mine"}); });
  refused(2, "FilePredictions::format is 'xls'", [&] { other.predict_files({.in = {"-"}, .format = "xls"}); });
  refused(2, "one of npy, csv, idx, image, wav, jsonl, txt, or empty",
          [&] { other.predict_files({.in = {"-"}, .in_format = "xls"}); });
  refused(2, "FilePredictions::top is -1, expected 0 ... 1048576",
          [&] { other.predict_files({.in = {"-"}, .top = -1}); });
  refused(2, "GenerateOptions::tokens is 0, expected 1 ... 1048576", [&] { other.generate({{"a"}}, {.tokens = 0}); });
  refused(1, "that is no text", [&] { other.generate({{"a"}}); });
  heddle::Inputs more = rows;
  more["weight"] = rows.at("y");
  refused(2, "train_step: the model has no input 'weight'", [&] { moved.train_step(more); });
  refused(2, "it has x, y", [&] { other.predict(more); });
  refused(2, "did you mean 'y'?", [&] { moved.train_step({{"x", rows.at("x")}, {"yy", rows.at("y")}}); });
  require(other.predict(rows).at("out").floats() == before, "an input that no output needs may be given");
  watch_a_fit(folder, rows);
  step_of_nothing(rows);
  std::printf("done\n");
}
