// Predictor: a model with weights, compiled for one batch size, through which any number of rows
// go.
//
//   Predictor predictor(read_model, weights, {"logits"}, {}, compile_options, device);
//   predictor.run(columns, 3, 0);         // three rows of at most batch(); the rest of the batch repeats the last
//   predictor.result(0)                   // bytes of [3, 10] and more
//
// There is one entry and one batch size (tools/predict/plan_batch.h), so that no count of rows
// compiles anything anew and a row takes the same way through the same kernels whatever stands
// beside it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/data/class_rule.h"
#include "runtime/data/missing_values.h"
#include "runtime/data/table.h"
#include "runtime/executable.h"
#include "runtime/weights/safetensors.h"
#include "tools/driver/compile.h"
#include "tools/driver/open_device.h"
#include "tools/driver/plan_batch.h"

namespace heddle::driver {

// One input that the outputs depend on: what a row of it is in a file, and the maps that it goes through.
struct PredictInput {
  runtime::data::ColumnRequest request;
  std::vector<ir::DataMap> maps;  // those that act in predictions, in their order
  ir::MapRow row;                 // that they make
  bool allow_nan = false;         // and infinities: otherwise the first ends the run
  // Of the model's tables or lines of JSON; what the training rows say of it is in the request.
  runtime::data::MissingRule missing = {};
  std::string other = {};  // the class of names that the weights do not know; empty: there is none
  int64_t hash = 0;        // how many numbers a hash makes of texts; 0: there is none
};

// What names a result's classes, and how its numbers become probabilities.
enum class Scores { logits, logarithms, probabilities };
// What logits of steps spell, where the model's loss ctc reads them.
struct SpelledText {
  int64_t blank = 0;
  std::string target, steps;  // inputs: the texts, and how many steps a row has, "" for all
  bool counted = true;        // false: a node counts the steps, which no row says
  std::string tokenizer;      // of the target; empty: the weights know none
};
struct PredictOutput {
  std::string name;
  runtime::data::ElementType type = runtime::data::ElementType::f32;
  std::vector<int64_t> dims;  // of a row
  Scores scores = Scores::logits;
  std::vector<std::string> classes;  // by number, where the weights name them
  std::optional<SpelledText> spelled = {};
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * runtime::data::size_of(type); }
};

class Predictor {
 public:
  // `outputs` are names of the model's outputs or nodes; none: its outputs, or what its loss reads
  // first. The model's text must outlive this.
  Predictor(frontend::Model model, runtime::WeightsFile weights, const std::vector<std::string>& outputs,
            const BatchRequest& batch, const CompileOptions& options, runtime::Device& device);

  // Other weights of the same model.
  void load(runtime::WeightsFile weights);
  const std::vector<PredictInput>& inputs() const { return inputs_; }
  const std::vector<PredictOutput>& outputs() const { return outputs_; }
  void allow_nan(bool allow);  // in rows: what is computed of them is what it is
  const frontend::Data& data() const { return plan_.data; }
  // The int8 weights of which the program was made for: others need another one.
  const std::vector<passes::Int8Weight>& int8() const { return int8_; }
  const std::string& note() const { return note_; }  // of the weights: what the model reads otherwise; mostly empty
  int64_t batch() const { return batch_; }           // rows at once
  // One column for each input with the bytes of `rows` rows, at most batch(). Returns the first
  // input and row, of these, that holds nan or an infinity: then nothing has been computed. Throws
  // where an index that the model computes is outside; `first` is the number that a message gives
  // the first of the rows.
  struct Bad {
    size_t input = 0;
    int64_t row = -1;  // -1: all is well
    double value = 0;
  };
  Bad run(const std::vector<runtime::data::Column>& columns, int64_t rows, int64_t first);
  // Of the last run, row by row.
  std::span<const std::byte> result(size_t output) const { return results_.at(output); }

 private:
  void put_weights(const runtime::WeightsFile& weights);
  void take_maps(const runtime::WeightsFile& weights);
  void describe_inputs(const std::vector<std::vector<std::string>>& names, const std::vector<std::string>& tokenizers);
  void describe_outputs(const frontend::Model& model, const std::vector<std::vector<std::string>>& names,
                        const std::vector<std::string>& tokenizers);
  std::optional<SpelledText> spelled_by(const frontend::Model& model, const std::string& value,
                                        const std::vector<std::string>& tokenizers) const;
  void execute();
  void require_rows_apart(int64_t rows);
  void fill_batch(int64_t rows);
  void require_inside(int64_t first) const;

  frontend::TrainingPlan plan_;
  std::vector<passes::Int8Weight> int8_;
  std::string note_;
  int64_t batch_ = 0;
  codegen::Program program_;
  std::unique_ptr<runtime::Executable> executable_;
  const codegen::Entry* entry_ = nullptr;
  std::vector<PredictInput> inputs_;
  std::vector<PredictOutput> outputs_;
  std::vector<std::vector<std::byte>> staged_, results_;
  const codegen::Buffer* outside_ = nullptr;  // what the entry says of the indices that it computes; nullptr: nothing
  bool checked_ = false;
};

}  // namespace heddle::driver
