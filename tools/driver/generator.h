// Generator: a model that continues text, compiled to one step that takes the next token of each of some rows.
//
//   Generator generator(read_model, weights, 2, false, compile_options, device);
//   generator.step({17, 4}, {0, 0});      // the first token of each row: a row at position 0 begins anew
//   generator.logits(1)                   // of what comes next in row 1
//
// The step is derived from the network that was trained (passes/decode): what tokens see of those before them lies in
// states. Nothing is compiled after the start.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/executable.h"
#include "runtime/weights/safetensors.h"
#include "tools/driver/compile.h"

namespace heddle::driver {

class Generator {
 public:
  static constexpr int64_t kFewestRows = 2;  // texts at once that may be asked for

  // How many rows so many texts take. oneDNN's products for AVX2 take six rows at a time, then four, and add up the
  // last one to three in another order: there are none, so that up to 64 texts have the bits that each has alone.
  static int64_t rows_for(int64_t texts);

  // `rows`: as rows_for says. `reorders`: whether `reorder` is called, which needs room for a copy of the states. The model's text must outlive
  // this. Throws UserError where the model does not continue text, or weights are of another one.
  Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
            const CompileOptions& options, runtime::Device& device);

  // Other weights of the same model.
  void load(runtime::WeightsFile weights);
  int64_t rows() const { return rows_; }
  bool reorders() const { return reorders_; }
  int64_t context() const { return context_; }        // positions lie below it; 0: there is no last one
  int64_t vocabulary() const { return vocabulary_; }  // logits of a row
  int64_t tokens_below() const { return below_; }     // that the input takes
  const std::string& input() const { return input_; }
  const std::string& tokenizer() const { return tokenizer_; }  // a tokenizer.json; empty where the weights hold none
  const frontend::Data& data() const { return plan_.data; }
  const std::string& note() const { return note_; }  // of the weights; mostly empty
  // One token of each row, and its position in the row's text. Positions of a row follow one another, from 0.
  void step(std::span<const int32_t> tokens, std::span<const int32_t> positions);
  // Each row goes on from where the row from[row] stands.
  void reorder(std::span<const int32_t> from);
  // Of the last step.
  std::span<const float> logits(int64_t row) const;

 private:
  codegen::Program compile(Planned& planned, const CompileOptions& options);
  void clear_states();

  int64_t rows_ = 0, context_ = 0, vocabulary_ = 0, below_ = 0;
  bool reorders_ = false;
  std::string input_, tokenizer_, note_;
  frontend::TrainingPlan plan_;
  codegen::Program program_;
  std::unique_ptr<runtime::Executable> executable_;
  const codegen::Entry *entry_ = nullptr, *reorder_ = nullptr;  // nullptr: rows keep nothing
  const codegen::Buffer *tokens_ = nullptr, *positions_ = nullptr, *result_ = nullptr;
  std::vector<int64_t> wide_;  // tokens of an input of i64
  std::vector<float> logits_;
};

}  // namespace heddle::driver
