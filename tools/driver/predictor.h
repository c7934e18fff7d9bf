// Predictor: computes predictions for any number of rows with a model that is compiled for one batch size.
//
//   Predictor predictor(read_model, weights, {"logits"}, {}, compile_options, device);
//   predictor.run(columns, 3, 0);         // three rows of at most batch(); the rest of the batch repeats the last
//   predictor.result(0)                   // bytes of [3, 10] and more
//
// There is one entry with one batch size (tools/driver/plan_batch.h). So no number of rows needs another compilation,
// and a row goes through the same kernels whatever the other rows are.
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

// An input that the outputs depend on: its rows in a file, and its data maps.
struct PredictInput {
  runtime::data::ColumnRequest request;
  std::vector<ir::DataMap> maps;  // those that act in predictions, in their order
  ir::MapRow row;                 // the row that the maps make
  bool allow_nan = false;         // allows nan and infinities; false: the first is an error
  // For tables and JSON lines: the model's rule. Fills from the training rows are in the request.
  runtime::data::MissingRule missing = {};
  std::string other = {};  // the class of unknown names; empty: none
  int64_t hash = 0;        // how many numbers the hash of texts has; 0: no hash
};

// How the numbers of a result become probabilities.
enum class Scores { logits, logarithms, probabilities };
// How the logits of a model with the loss ctc become text.
struct SpelledText {
  int64_t blank = 0;
  std::string target, steps;  // inputs: the texts, and the number of steps of a row; "": all steps
  bool counted = true;        // false: a node computes the number of steps, so rows do not tell it
  std::string tokenizer;      // of the target; empty: not in the weights
};
struct PredictOutput {
  std::string name;
  runtime::data::ElementType type = runtime::data::ElementType::f32;
  std::vector<int64_t> dims;  // of a row
  Scores scores = Scores::logits;
  std::vector<std::string> classes;  // class names by number, if the weights have them
  std::optional<SpelledText> spelled = {};
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * runtime::data::size_of(type); }
};

class Predictor {
 public:
  // `outputs`: names of the model's outputs or nodes; empty: its outputs, or the first value that its loss reads. The
  // model's text must outlive this.
  Predictor(frontend::Model model, runtime::WeightsFile weights, const std::vector<std::string>& outputs,
            const BatchRequest& batch, const CompileOptions& options, runtime::Device& device);

  // Loads other weights of the same model.
  void load(runtime::WeightsFile weights);
  const std::vector<PredictInput>& inputs() const { return inputs_; }
  const std::vector<PredictOutput>& outputs() const { return outputs_; }
  void allow_nan(bool allow);  // accepts nan and infinities in rows
  const frontend::Data& data() const { return plan_.data; }
  // The int8 weights for which the program was compiled. Other int8 weights need another Predictor.
  const std::vector<passes::Int8Weight>& int8() const { return int8_; }
  const std::string& note() const { return note_; }  // about the weights; mostly empty
  int64_t batch() const { return batch_; }           // rows at once
  // Computes `rows` rows, at most batch(). `columns`: one for each input. Returns the first input and row with nan or
  // an infinity; nothing is computed then. Throws where an index that the model computes is out of range. `first`: the
  // number of the first row, for messages.
  struct Bad {
    size_t input = 0;
    int64_t row = -1;  // -1: all is well
    double value = 0;
  };
  Bad run(const std::vector<runtime::data::Column>& columns, int64_t rows, int64_t first);
  // The result of the last run, row by row.
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
  const codegen::Buffer* outside_ = nullptr;  // result of the entry's index checks; nullptr: none
  bool checked_ = false;
};

}  // namespace heddle::driver
