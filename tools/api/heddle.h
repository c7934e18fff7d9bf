// Heddle as a library: a model, of a file or built by calls, trained and applied from a program.
//
//   heddle::Model model = heddle::Model::load("digits_cnn.json");
//   model.fit();                                                    // on the model's own data
//   model.save("digits.safetensors");
//   heddle::Outputs out = model.predict({{"image", heddle::Array::u8({2, 28, 28}, pixels)}});
//
// Every failure is a heddle::Error. A model is used by one thread at a time; several models may be
// used by several. What a compilation starts are compilers and installed helpers, never the program
// that uses this.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

namespace heddle {

// The message is that of the command line: the place in the model's text, what was expected, and what may help.
class HEDDLE_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, int code);
  Error(const Error&);
  ~Error() override;
  // As the command line's exit code: 1 the model or the run failed, 2 a wrong argument, 3 a device or library is
  // missing, 4 a limit was hit.
  int code() const;

 private:
  int code_;
};

HEDDLE_API std::string version();

// Rows of one input or output: shape [rows, ...]. Two pictures of 28 x 28 are u8 of shape {2, 28, 28}.
struct HEDDLE_API Array {
  std::string dtype = {};  // "f32", "f64", "u8", "i8", "i16", "i32", "i64"
  std::vector<int64_t> shape = {};
  std::vector<std::byte> bytes = {};  // of all elements, row-major, in the machine's byte order

  // Throw (2) where the shape is empty or its product is not the number of values.
  static Array f32(std::vector<int64_t> shape, const std::vector<float>& values);
  static Array i32(std::vector<int64_t> shape, const std::vector<int32_t>& values);
  static Array u8(std::vector<int64_t> shape, const std::vector<uint8_t>& values);
  std::vector<float> floats() const;  // all elements, of any dtype, rounded to f32
  int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
};
using Inputs = std::map<std::string, Array>;   // by the model's names
using Outputs = std::map<std::string, Array>;  // likewise

struct HEDDLE_API Options {
  std::vector<std::string> set = {};  // overrides: "train.optimizer.lr=3e-4"
  bool small = false;                 // the model's own small form
  std::string device = "auto";        // "host", "cuda", "cuda:1"
  int threads = 0;                    // of the host; 0: as many as it has
  int64_t memory_bytes = 0;           // that a program may take; 0: what the device has
  std::string libraries = {};         // that a GPU's calls go to: "cublaslt", "cudnn", "cublaslt,cudnn"; empty: none
  std::string choices = {};           // a table that heddle tune wrote; empty: none
  std::string data = {};              // the folder of the data files; "": the model's
  // Told of what is done otherwise than usual: weights of another type are converted, compiled kernels cannot be kept.
  std::function<void(const std::string&)> note = {};
  std::string text_name = "<text>";  // what messages call the text that parse reads
  bool int8 = true;  // products by int8 weights are of whole numbers where that is faster; false: of f32
  // Predictions take batch norms into the weights before them: faster, and equal to evaluation up to rounding only.
  bool fold_norms = false;
};

// One epoch of a `fit`.
struct HEDDLE_API Epoch {
  int64_t number = 0, steps = 0;  // counted from 1; all steps of this `fit` so far
  double seconds = 0;             // of its training steps
  // "loss" and the model's metrics by name, those that are one number; of validation none where the
  // model has no such rows.
  std::map<std::string, double> train = {}, validation = {};
};
struct HEDDLE_API FitResult {
  int64_t epochs = 0, steps = 0;                              // finished ones, of this `fit`
  double seconds = 0;                                         // of training and validation
  bool stopped = false;                                       // the callback said so
  bool stopped_early = false;                                 // train.early_stop said so
  int64_t best_epoch = 0;                                     // by train.early_stop; 0 where the model has none
  std::map<std::string, double> train = {}, validation = {};  // of the last epoch, as in Epoch
};

// The options of `heddle predict`, which does the same.
struct HEDDLE_API FilePredictions {
  std::vector<std::string> in = {};       // FILE, INPUT=FILE, or "-" for standard input
  std::string in_format = {};             // "npy", "csv", "idx", "image", "wav", "jsonl"; "": by the files' names
  std::string out = "-";                  // a file, or "-" for standard output
  std::string format = {};                // of `out`: "npy", "csv", "jsonl"; "": by its name
  std::vector<std::string> outputs = {};  // names of outputs or nodes; none: the model's outputs
  int top = 0;                            // so many of the most probable classes instead of all numbers; 0: the numbers
  bool text = false;                      // what the logits of a loss ctc spell instead of all numbers
  bool overwrite = false;                 // `out` may replace a file that is there
  bool allow_nan = false;                 // rows may hold nan and infinities; otherwise the first of them is refused
  int batch = 0;                          // rows at once, 2 or more; 0: up to 64, as many as memory of 128 MiB takes
};
struct HEDDLE_API FileResult {
  int64_t rows = 0, not_finite = 0;  // the latter: rows whose results are not all finite
};

// A text that a model continues, or, where it reads a source and writes what becomes of it, the source.
struct HEDDLE_API Prompt {
  std::string text;
  std::string name = "<prompt>";  // what messages call it
};
struct HEDDLE_API Generated {
  std::string text;                            // without the prompt, if it is not asked for
  std::vector<uint32_t> tokens;                // ids
  std::vector<double> log_probabilities = {};  // of each token, by the model
  std::string end;                             // why it ends: "tokens", "end" (the end token), "stop" (a stop text)
};
// The options of `heddle generate`, which does the same.
struct HEDDLE_API GenerateOptions {
  int tokens = 256;                    // of a continuation, at most
  double temperature = 1;              // 0: the likeliest token each time
  int top_k = 0;                       // of so many likeliest tokens only; 0: of all
  double top_p = 1;                    // of the fewest likeliest tokens that have this probability together
  double repetition_penalty = 1;       // above 1: tokens of the text become less likely
  std::vector<std::string> stop = {};  // texts before which a continuation ends
  uint64_t seed = 0;                   // the same for the same text, whatever is generated beside it
  int samples = 1;                     // of each prompt
  int beams = 0;                       // above 0: the likeliest texts that a search over so many beams finds; nothing
                                       // is drawn, and the best `samples` are returned
  double length_penalty = 1;           // beams are compared by log probability / tokens^this
  int batch = 0;                       // texts at once, 2 or more; 0: up to 64, as many as there are
  std::string tokenizer = {};          // a tokenizer.json, or a folder with one; "": that of the weights
  bool special = false;                // special tokens in a prompt, such as <summary>, are those, and no plain text
  bool with_prompt = false;            // a continuation has its prompt before it; what a source becomes stands alone
  // A piece of a continuation as it comes, not of beams; returning false ends the generation. What it throws passes
  // through.
  std::function<bool(size_t prompt, size_t sample, const std::string& piece)> each = {};
  // A whole continuation as soon as it is complete, whichever is first, of beams, too; as `each` otherwise.
  std::function<bool(size_t prompt, size_t sample, const Generated& made)> done = {};
};

// A value of a model that is built: a flag, a number, a word, a list or an object, as in a model's text.
//
//   Value units = 128;   Value adam = {{"op", "adam"}, {"lr", 0.001}};   Value kernel = Value::list({3, 5});
struct HEDDLE_API Value {
  enum class Kind { flag, integer, real, text, list, object };
  struct Member;

  Value() = default;  // an object without members
  // Every integer type that an int64_t holds; others do not compile.
  template <std::integral T>
  requires(std::signed_integral<T> || sizeof(T) < sizeof(int64_t)) Value(T number)
      : kind(std::same_as<T, bool> ? Kind::flag : Kind::integer), integer(number) {}
  template <std::floating_point T>
  Value(T number) : kind(Kind::real), real(number) {}
  Value(const char* word) : kind(Kind::text), text(word) {}
  Value(std::string word) : kind(Kind::text), text(std::move(word)) {}
  inline Value(std::initializer_list<Member> members);
  static Value list(std::vector<Value> items);
  Value& add(const std::string& key, Value value);  // to an object

  Kind kind = Kind::object;
  int64_t integer = 0;  // of a flag 0 or 1
  double real = 0;
  std::string text = {};
  std::vector<Value> items = {};       // of a list; of an object those of its keys
  std::vector<std::string> keys = {};  // of an object
};
struct Value::Member {
  std::string key;
  Value value;
};
inline Value::Value(std::initializer_list<Member> members) {
  for (const Member& m : members) add(m.key, m.value);
}
inline Value Value::list(std::vector<Value> items) {
  Value v;
  v.kind = Kind::list;
  v.items = std::move(items);
  return v;
}
inline Value& Value::add(const std::string& key, Value value) {
  keys.push_back(key);
  items.push_back(std::move(value));
  return *this;
}

// A model built without JSON text. What docs/model-format.md says of a file's keys is said by
// calls; a value that is given may use sizes and expressions, as there. Nothing is checked before
// Model::build.
//
//   ModelBuilder net("tiny");
//   net.input("x", {"N", 3}).input("target", {"N", 2});
//   net.node("fc1", "dense", {"x"}, {{"units", 4}, {"activation", "relu"}});
//   net.node("y", "dense", {}, {{"units", 2}}).output("y", "y");
//   net.set("train", {{"batch", {{"N", 8}}}, {"steps", 100}, ...});
//   Model model = Model::build(net);
class HEDDLE_API ModelBuilder {
 public:
  explicit ModelBuilder(const std::string& name) { model_.add("format", "heddle-model/1").add("name", name); }
  // The first dimension is the batch, a name.
  ModelBuilder& input(const std::string& name, std::vector<Value> shape, const std::string& dtype = "f32") {
    inputs_.add(name, {{"shape", Value::list(std::move(shape))}, {"dtype", dtype}});
    return *this;
  }
  // In the order in which they compute; `in` are names, none: the node before. "" for `name`: the node has none. The
  // settings are all other keys of a node, such as "units", "out" or "repeat".
  ModelBuilder& node(const std::string& name, const std::string& op, const std::vector<std::string>& in = {},
                     Value settings = {}) {
    if (!name.empty()) settings.add("name", name);
    settings.add("op", op);
    if (!in.empty()) settings.add("in", in.size() == 1 ? Value(in[0]) : Value::list({in.begin(), in.end()}));
    nodes_.push_back(std::move(settings));
    return *this;
  }
  ModelBuilder& output(const std::string& name, const std::string& value) {
    outputs_.add(name, value);
    return *this;
  }
  // Another key of the model: "let", "blocks", "train", "data", "layout".
  ModelBuilder& set(const std::string& key, Value value) {
    model_.add(key, std::move(value));
    return *this;
  }
  // All of it, as an object with the keys of a model's text.
  Value value() const {
    Value whole = model_;
    whole.add("inputs", inputs_).add("nodes", Value::list(nodes_));
    if (!outputs_.keys.empty()) whole.add("outputs", outputs_);
    return whole;
  }

 private:
  Value model_, inputs_, outputs_;
  std::vector<Value> nodes_;
};

class HEDDLE_API Model {
 public:
  // From a file, or from its text. Compiles nothing. Throws (1) with every fault that reading finds:
  // keys, types, words, sizes, names. What only the network's shapes say, `compile` finds. Throws (2)
  // where options are out of range or the path is "-": standard input is the program's own. A package
  // (`heddle package`) is a file, too: what it was made for runs without a compiler, all else throws,
  // and so do options that would change the model.
  static Model load(const std::string& path, const Options& options = {});
  static Model parse(const std::string& text, const Options& options = {});
  // From calls instead of a text. Where a message of a text begins with file, line and column, it
  // begins here with the path of the value, as Options::set takes it: "nodes.fc1.units: error:
  // ...". Throws as parse does; data files lie in Options::data, or in the working folder.
  static Model build(const ModelBuilder& builder, const Options& options = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::string name() const;
  // Compiles the training step, which train_step does where it has not been done. Parameters are drawn from the
  // initializers unless weights have been loaded. Throws (1) where the model has no loss or optimizer, (3) without the
  // device or a compiler, (4) where the program does not fit into memory.
  void compile();
  // One step on rows of every input, as many as the model's batch. Returns the loss of these rows
  // before the step, nan where none of them counts in it. Throws (2) where an input is missing, has
  // another number of rows or is none of the model's, (1) where its shape, type or labels do not
  // fit or it is not finite behind the maps: nothing has changed then. Throws (1) where the loss is
  // not finite: the step has been taken then.
  double train_step(const Inputs& rows);
  // Trains on the model's own data for the epochs or steps that the model says, on from where it
  // stands. `each` is told of every epoch, and stops the training by returning false; a training
  // that ends otherwise ends with the weights of its best epoch where train.early_stop says so.
  // Throws (1) where the model names no data, a file is missing or damaged, or a loss is not
  // finite. `each` may predict and save, with the parameters as the epoch left them; fit,
  // train_step, compile and load_weights throw (2) in it. What it throws itself ends the training
  // and passes through fit as it is; the parameters stay those of that epoch. The model may be
  // moved in it, and must not be destroyed or assigned to.
  FitResult fit(const std::function<bool(const Epoch&)>& each = {});
  // `outputs` are names of outputs or nodes; none: the model's outputs. Each result has shape [rows, ...] for as many
  // rows as are given, any number of them: what is compiled once serves all. Throws (2) where there are no weights yet,
  // inputs differ in their rows or one is none of the model's, (1) where a row does not fit its input or is not finite
  // behind the maps, (4) where not even two rows fit into memory.
  Outputs predict(const Inputs& rows, const std::vector<std::string>& outputs = {});
  FileResult predict_files(const FilePredictions& request);
  // Continues texts: a list for each prompt, of its samples. What is compiled once serves all prompts. Throws (2) where
  // there are no weights yet or options are out of range, (1) where the model does not continue text, at the place in
  // its file, a prompt has a character without a token or more tokens than the model sees, (4) where it does not fit
  // into memory. Options::note is told, once, where a text becomes longer than what the model sees.
  std::vector<std::vector<Generated>> generate(const std::vector<Prompt>& prompts, const GenerateOptions& options = {});
  // From a safetensors file, or an index of several; `prefix` is taken off the names of its tensors:
  // "module.". Throws (1) where the file is none. Weights of other names or shapes are refused (1) here where the
  // training step is compiled, else when they are used. Those of heddle quantize predict; no training begins with
  // them (1).
  void load_weights(const std::string& path, const std::string& prefix = {});
  // The same of a base and files of adapters beside it (train.lora), as one; the prefix is taken off the base's names.
  void load_weights(const std::vector<std::string>& paths, const std::string& prefix = {});
  // Parameters and buffers as a safetensors file, under PyTorch's names and shapes; of a training with train.lora the
  // adapters, and what it trains beside them, without their base. An older file is replaced as a whole. Throws (2) where
  // there are no weights yet, (1) where it cannot be written or would replace what is no weights.
  void save(const std::string& path);

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle
