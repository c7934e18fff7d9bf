// Heddle's C++ interface: load a model from a file or build it by calls, train it, and predict with it.
//
//   heddle::Model model = heddle::Model::load("digits_cnn.json");
//   model.fit();                                                    // on the model's own data
//   model.save("digits.safetensors");
//   heddle::Outputs out = model.predict({{"image", heddle::Array::u8({2, 28, 28}, pixels)}});
//
// Every failure throws heddle::Error. Only one thread may use a model at a time; different threads may use different
// models. A compilation starts compilers and installed helper programs as child processes; it never starts the calling
// program again.
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

// The message is that of the command line: the place in the model's text, what was expected, and a remedy.
class HEDDLE_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, int code);
  Error(const Error&);
  ~Error() override;
  // The command line's exit code: 1 the model or the run failed, 2 a wrong argument, 3 a device or library is missing,
  // 4 a limit was exceeded.
  int code() const;

 private:
  int code_;
};

HEDDLE_API std::string version();

// Rows of one input or output, shape [rows, ...]. Two pictures of 28 x 28 are u8 of shape {2, 28, 28}.
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
using Inputs = std::map<std::string, Array>;   // by input name
using Outputs = std::map<std::string, Array>;  // by output name

struct HEDDLE_API Options {
  std::vector<std::string> set = {};  // overrides: "train.optimizer.lr=3e-4"
  bool small = false;                 // the model's own small form
  std::string device = "auto";        // "host", "cuda", "cuda:1"
  int threads = 0;                    // of the host; 0: one per processor
  int64_t memory_bytes = 0;           // limit for a program; 0: the device's memory
  std::string libraries = {};         // for a GPU: "cublaslt", "cudnn", "cublaslt,cudnn"; empty: none
  std::string choices = {};           // file of a table that heddle tune wrote; empty: none
  std::string data = {};              // the folder of the data files; "": the model's folder
  // Called with notes about unusual behaviour, such as: weights of another type are converted, compiled kernels cannot
  // be cached.
  std::function<void(const std::string&)> note = {};
  std::string text_name = "<text>";  // the name in messages of the text that parse reads
  bool int8 = true;  // products by int8 weights are computed in integers where that is faster; false: in f32
  // Predictions fold batch norms into the weights before them. This is faster; results equal those of evaluation up to
  // rounding.
  bool fold_norms = false;
  // Rows that `predict` computes at once, from 2 to 2^20. It computes so many even for fewer rows. 0: as planned, 64
  // unless they are large. predict_files has its own; a package knows only its batch.
  int64_t batch = 0;
};

// One epoch of a `fit`.
struct HEDDLE_API Epoch {
  int64_t number = 0, steps = 0;  // number: from 1; steps: of this `fit` so far
  double seconds = 0;             // of its training steps
  // "loss" and the model's metrics by name, if they are one number. `validation` is empty where the model has no
  // validation rows.
  std::map<std::string, double> train = {}, validation = {};
};
struct HEDDLE_API FitResult {
  int64_t epochs = 0, steps = 0;                              // finished in this `fit`
  double seconds = 0;                                         // of training and validation
  bool stopped = false;                                       // the callback ended the training
  bool stopped_early = false;                                 // train.early_stop ended it
  int64_t best_epoch = 0;                                     // by train.early_stop; 0 where the model has none
  std::map<std::string, double> train = {}, validation = {};  // of the last epoch, as in Epoch
};

// The options of `heddle predict`, which does the same.
struct HEDDLE_API FilePredictions {
  std::vector<std::string> in = {};       // FILE, INPUT=FILE, or "-" for standard input
  std::string in_format = {};             // "npy", "csv", "idx", "image", "wav", "jsonl"; "": by the file name
  std::string out = "-";                  // a file, or "-" for standard output
  std::string format = {};                // of `out`: "npy", "csv", "jsonl"; "": by its file name
  std::vector<std::string> outputs = {};  // names of outputs or nodes; none: the model's outputs
  int top = 0;                            // writes the most probable classes, so many; 0: all numbers
  bool text = false;                      // writes the text that the logits of a loss ctc stand for
  bool overwrite = false;                 // `out` may replace a file
  bool allow_nan = false;                 // rows may hold nan and infinities; false: these are an error
  int batch = 0;                          // rows at once, 2 or more; 0: up to 64, as many as fit into 128 MiB
};
struct HEDDLE_API FileResult {
  int64_t rows = 0, not_finite = 0;  // not_finite: rows with nan or infinite results
};

// A text that a model continues; for a model that translates a source text, the source.
struct HEDDLE_API Prompt {
  std::string text;
  std::string name = "<prompt>";  // what messages call it
};
struct HEDDLE_API Generated {
  std::string text;                            // with the prompt only if with_prompt is set
  std::vector<uint32_t> tokens;                // ids
  std::vector<double> log_probabilities = {};  // of each token, as the model computes it
  std::string end;                             // why it ends: "tokens", "end" (the end token), "stop"
};
// The options of `heddle generate`, which does the same.
struct HEDDLE_API GenerateOptions {
  int tokens = 256;                    // of a continuation, at most
  double temperature = 1;              // 0: the likeliest token each time
  int top_k = 0;                       // draws among the k likeliest tokens; 0: among all
  double top_p = 1;                    // draws among the fewest likeliest tokens whose probabilities add to this
  double repetition_penalty = 1;       // above 1: tokens that the text contains become less likely
  std::vector<std::string> stop = {};  // texts before which a continuation ends
  uint64_t seed = 0;                   // a text's result does not depend on other texts beside it
  int samples = 1;                     // of each prompt
  int beams = 0;                       // above 0: the likeliest texts that a search over so many beams finds; nothing
                                       // is drawn, and the best `samples` are returned
  double length_penalty = 1;           // beams are compared by log probability / tokens^this
  int batch = 0;                       // texts at once, 2 or more; 0: all, up to 64
  std::string tokenizer = {};          // a tokenizer.json, or a folder with one; "": the weights' tokenizer
  bool special = false;                // finds special tokens in prompts, such as <summary>
  bool with_prompt = false;            // a continuation begins with its prompt; a translation does not
  // Called with each piece of a continuation as it is written, except with beams. Returning false ends the generation.
  // Exceptions pass through.
  std::function<bool(size_t prompt, size_t sample, const std::string& piece)> each = {};
  // Called with each continuation when it is complete, also with beams, in the order of completion. Otherwise as
  // `each`.
  std::function<bool(size_t prompt, size_t sample, const Generated& made)> done = {};
};

// A value in a built model: a flag, a number, a word, a list or an object, as in a model's text.
//
//   Value units = 128;   Value adam = {{"op", "adam"}, {"lr", 0.001}};   Value kernel = Value::list({3, 5});
struct HEDDLE_API Value {
  enum class Kind { flag, integer, real, text, list, object };
  struct Member;

  Value() = default;  // an object without members
  // Takes every integer type whose values fit int64_t; others do not compile.
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
  int64_t integer = 0;  // for a flag: 0 or 1
  double real = 0;
  std::string text = {};
  std::vector<Value> items = {};       // of a list; for an object, one per key
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

// Builds a model without JSON text. The calls set the keys that docs/model-format.md describes. Values may use sizes
// and expressions, as in a file. Nothing is checked before Model::build.
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
  // The first dimension is the batch; it is a name.
  ModelBuilder& input(const std::string& name, std::vector<Value> shape, const std::string& dtype = "f32") {
    inputs_.add(name, {{"shape", Value::list(std::move(shape))}, {"dtype", dtype}});
    return *this;
  }
  // Adds a node. Nodes are added in the order of computation. `in`: names of inputs or nodes; empty: the node before.
  // `name`: "" for none. `settings`: all other keys of the node, such as "units", "out" or "repeat".
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
  // Sets another key of the model: "let", "blocks", "train", "data", "layout".
  ModelBuilder& set(const std::string& key, Value value) {
    model_.add(key, std::move(value));
    return *this;
  }
  // The whole model, as an object with the keys of a model's text.
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
  // Reads a model from a file or from its text. Compiles nothing. Throws (1) with every error in keys, types, words,
  // sizes and names; errors that depend on the network's shapes are found by `compile`. Throws (2) where options are
  // out of range or the path is "-": standard input belongs to the calling program. The file may be a package (`heddle
  // package`): what it was made for runs without a compiler; everything else throws, and so do options that would
  // change the model.
  static Model load(const std::string& path, const Options& options = {});
  static Model parse(const std::string& text, const Options& options = {});
  // Makes a model from a builder. Messages begin with the path of a value, as Options::set takes it, instead of file,
  // line and column: "nodes.fc1.units: error: ...". Throws as parse does. Data files lie in Options::data, or in the
  // working folder.
  static Model build(const ModelBuilder& builder, const Options& options = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::string name() const;
  // Compiles the training step. train_step calls this where it has not been done. Parameters are drawn from the
  // initializers unless weights have been loaded. Throws (1) where the model has no loss or optimizer, (3) where the
  // device or a compiler is missing, (4) where the program does not fit into memory.
  void compile();
  // Trains one step. `rows` has each input of the model, with as many rows as the model's batch. Returns the loss of
  // these rows before the step; nan where no row counts in the loss. Throws (2) where an input is missing, unknown or
  // has another number of rows, (1) where its shape, type or labels do not fit, or it is not finite after the data
  // maps; the model has not changed then. Throws (1) where the loss is not finite; the step has been executed then.
  double train_step(const Inputs& rows);
  // Trains on the model's own data, from the current parameters, for the epochs or steps that the model states. `each`
  // is called after every epoch, and ends the training by returning false. A training that ends otherwise takes the
  // weights of its best epoch where train.early_stop says so. Throws (1) where the model names no data, a file is
  // missing or damaged, or a loss is not finite. `each` may predict and save with the epoch's parameters; fit,
  // train_step, compile and load_weights throw (2) in it. An exception of `each` ends the training and passes through
  // fit unchanged; the parameters stay those of that epoch. `each` may move the model, but must not destroy it or
  // assign to it.
  FitResult fit(const std::function<bool(const Epoch&)>& each = {});
  // Computes outputs for any number of rows. `outputs`: names of outputs or nodes; empty: the model's outputs. Each
  // result has shape [rows, ...]. One compilation serves any number of rows. Throws (2) where there are no weights yet,
  // inputs differ in their numbers of rows or one is unknown, (1) where a row does not fit its input or is not finite
  // after the data maps, (4) where not even two rows fit into memory.
  Outputs predict(const Inputs& rows, const std::vector<std::string>& outputs = {});
  FileResult predict_files(const FilePredictions& request);
  // Continues texts. Returns a list for each prompt, with an item for each sample. One compilation serves all prompts.
  // Throws (2) where there are no weights yet or options are out of range, (1) where the model cannot continue text
  // (with the place in its file), or a prompt has a character without a token or more tokens than the model's context,
  // (4) where it does not fit into memory. Options::note is called once where a text becomes longer than the context.
  std::vector<std::vector<Generated>> generate(const std::vector<Prompt>& prompts, const GenerateOptions& options = {});
  // Loads a safetensors file, or several by their index. `prefix`, such as "module.", is removed from the tensors'
  // names. Throws (1) where it is not such a file. Weights whose names or shapes do not fit throw (1): here if the
  // training step is compiled, else when they are first used. Weights of heddle quantize serve predictions; a training
  // that would begin with them throws (1).
  void load_weights(const std::string& path, const std::string& prefix = {});
  // The same for a base and files of adapters (train.lora), which are joined. `prefix` is removed from the base's
  // names.
  void load_weights(const std::vector<std::string>& paths, const std::string& prefix = {});
  // Saves parameters and buffers as a safetensors file, under PyTorch's names and shapes. For a model with train.lora
  // it saves the adapters and what else is trained, without the base. An older file is replaced atomically. Throws (2)
  // where there are no weights yet, (1) where the file cannot be written, or exists and is not a weights file.
  void save(const std::string& path);

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle
