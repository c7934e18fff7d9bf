// Heddle as a library: a model file, trained and applied from a program.
//
//   heddle::Model model = heddle::Model::load("digits_cnn.json");
//   model.fit();                                                    // on the model's own data
//   model.save("digits.safetensors");
//   heddle::Outputs out = model.predict({{"image", heddle::Array::u8({2, 28, 28}, pixels)}});
//
// Every failure is a heddle::Error. A model is used by one thread at a time; several models may be used by several. What a
// compilation starts are compilers and installed helpers, never the program that uses this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
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
  // As the command line's exit code: 1 the model or the run failed, 2 a wrong argument, 3 a device or library is missing,
  // 4 a limit was hit.
  int code() const;

 private:
  int code_;
};

HEDDLE_API std::string version();

// Rows: the first axis counts them. Elements lie row by row.
struct HEDDLE_API Array {
  std::string dtype = {};  // "f32", "f64", "u8", "i8", "i16", "i32", "i64"
  std::vector<int64_t> shape = {};
  std::vector<std::byte> bytes = {};

  static Array f32(std::vector<int64_t> shape, const std::vector<float>& values);
  static Array i32(std::vector<int64_t> shape, const std::vector<int32_t>& values);
  static Array u8(std::vector<int64_t> shape, const std::vector<uint8_t>& values);
  std::vector<float> floats() const;  // of any dtype
  int64_t rows() const { return shape.empty() ? 0 : shape[0]; }
};
using Inputs = std::map<std::string, Array>;   // by the model's names
using Outputs = std::map<std::string, Array>;  // likewise

struct HEDDLE_API Options {
  std::vector<std::string> set = {};  // overrides: "train.optimizer.lr=3e-4"
  bool small = false;                 // the model's own small form
  std::string device = "auto";        // "host", "cuda", "cuda:1"
  int threads = 0;                    // of the host; 0: as many as it has
  int memory_gib = 0;                 // that a program may take; 0: what the device has
  std::string data = {};              // the folder of the data files; "": the model's
  // Told of what is done otherwise than usual: weights of another type are converted, compiled kernels cannot be kept.
  std::function<void(const std::string&)> note = {};
};

// Of one epoch: the loss and the model's metrics that are one number, by name.
struct HEDDLE_API Epoch {
  int64_t number = 0, steps = 0;  // counted from 1; all steps so far
  double seconds = 0;
  std::map<std::string, double> train = {}, validation = {};
};
struct HEDDLE_API FitResult {
  int64_t epochs = 0, steps = 0;
  double seconds = 0;
  bool stopped = false;  // the callback said so
  std::map<std::string, double> train = {}, validation = {};
};

// As `heddle predict`, which is this.
struct HEDDLE_API FilePredictions {
  std::vector<std::string> in = {};  // FILE, INPUT=FILE, or "-" for standard input
  std::string in_format = {};        // "": by the files' names
  std::string out = "-";
  std::string format = {};                // likewise
  std::vector<std::string> outputs = {};  // none: the model's
  int top = 0;                            // the most probable classes instead of the numbers
  bool overwrite = false;
};
struct HEDDLE_API FileResult {
  int64_t rows = 0, not_finite = 0;  // the latter: rows whose results are not all finite
};

class HEDDLE_API Model {
 public:
  // From a file, or from its text.
  static Model load(const std::string& path, const Options& options = {});
  static Model parse(const std::string& text, const Options& options = {});
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  std::string name() const;
  // Compiles the training step, which train_step does where it has not been done. Parameters are drawn from the initializers
  // unless weights have been loaded.
  void compile();
  // One step on rows of every input, as many as the model's batch; the loss before it. Rows that are refused, those that
  // hold nan or inf among them, change nothing.
  double train_step(const Inputs& rows);
  // Trains on the model's own data, as long as the model says, and on from where it stands. `each` is told of every epoch,
  // and stops the training by returning false.
  FitResult fit(const std::function<bool(const Epoch&)>& each = {});
  // Any number of rows: they are compiled for once. `outputs` are names of outputs or nodes; none: the model's outputs.
  Outputs predict(const Inputs& rows, const std::vector<std::string>& outputs = {});
  FileResult predict_files(const FilePredictions& request);
  // From a safetensors file; `prefix` is taken off the names of its tensors: "module.".
  void load_weights(const std::string& path, const std::string& prefix = {});
  void save(const std::string& path);

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle
