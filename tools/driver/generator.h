// Generator: a model that continues text, compiled to a step that takes the next token of each of some rows, and one that
// takes several.
//
//   Generator generator(read_model, weights, 2, false, compile_options, device);
//   generator.step({17, 4}, {0, 0});      // the first token of each row: a row at position 0 begins anew
//   generator.logits(1)                   // of what comes next in row 1
//   generator.prefill(tokens, {1, 1}, {8, 0});   // eight tokens more in row 0, none in row 1: logits are not made
//
// An encoder-decoder reads a source, beside the text that it writes:
//
//   generator.encode(source);             // of all rows, once
//
// The step is derived from the network that was trained (passes/decode): what tokens see of those before them lies in
// states. Nothing is compiled after the start.
#pragma once
#include <memory>
#include <optional>
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

  // How many rows so many texts take. Each has the bits that it has alone (codegen/lone_rows.h).
  static int64_t rows_for(int64_t texts);

  // `rows`: as rows_for says. `reorders`: whether `reorder` is called, which needs room for a copy of the states. The model's text must outlive
  // this. Throws UserError where the model does not continue text, or weights are of another one.
  Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
            const CompileOptions& options, runtime::Device& device);

  // Whether the model continues text, found without weights or a device. Throws UserError as above.
  static void require_writes(frontend::Model model, const CompileOptions& options);

  // Other weights of the same model.
  void load(runtime::WeightsFile weights);
  int64_t rows() const { return rows_; }
  bool reorders() const { return reorders_; }
  int64_t context() const { return context_; }          // positions lie below it; 0: there is no last one
  int64_t vocabulary() const { return vocabulary_; }    // logits of a row
  int64_t tokens_below() const { return text_.below; }  // that the input takes
  const std::string& input() const { return text_.name; }
  const std::string& tokenizer() const { return text_.tokenizer; }  // a tokenizer.json; empty: the weights hold none
  const std::optional<int64_t>& first() const {
    return first_;
  }  // the token that texts begin with, where the model says
  const frontend::Data& data() const { return plan_.data; }
  const std::string& note() const { return note_; }  // of the weights; mostly empty
  // What is read beside the text that is written.
  struct Source {
    std::string name, tokenizer = {};  // of the input; of its ids, as above
    int64_t below = 0, length = 0;
  };
  const std::optional<Source>& source() const { return source_; }
  // The input that says how long sources are; empty: none does.
  const std::string& sizes() const { return sizes_name_; }
  // Of a generator with a source: `tokens` are [rows, length], `sizes` say how many of them each row has. Before a row
  // begins; those of rows that have begun stay the same.
  void encode(std::span<const int32_t> tokens, std::span<const int32_t> sizes);
  // Tokens of a row that `prefill` takes at once; 1: there is none.
  int64_t chunk() const { return chunk_; }
  // The first counts[i] tokens of row i of `tokens`, [rows, chunk], from position positions[i] on. They must lie within
  // the context. A row of none stays as it is.
  void prefill(std::span<const int32_t> tokens, std::span<const int32_t> positions, std::span<const int32_t> counts);
  // One token of each row, and its position in the row's text. Positions of a row follow one another, from 0.
  void step(std::span<const int32_t> tokens, std::span<const int32_t> positions);
  // Each row goes on from where the row from[row] stands.
  void reorder(std::span<const int32_t> from);
  // Of the last step.
  std::span<const float> logits(int64_t row) const;

 private:
  struct Text {
    std::string name, tokenizer;
    int64_t below = 0;
  };
  explicit Generator(int64_t rows) : rows_(rows) {}
  codegen::Program compile(Planned& planned, const CompileOptions& options);
  void find_buffers();
  void clear_states();
  void write(const codegen::Buffer& b, std::span<const int32_t> numbers);

  int64_t rows_ = 0, context_ = 0, vocabulary_ = 0, chunk_ = 1;
  bool reorders_ = false;
  std::string note_;
  Text text_;
  std::optional<int64_t> first_;
  std::optional<Source> source_;
  std::string sizes_name_;
  frontend::TrainingPlan plan_;
  codegen::Program program_;
  std::unique_ptr<runtime::Executable> executable_;
  const codegen::Entry* entry_ = nullptr;
  const codegen::Entry *prefill_ = nullptr, *encode_ = nullptr, *reorder_ = nullptr;  // nullptr: rows keep nothing
  const codegen::Buffer *tokens_ = nullptr, *positions_ = nullptr, *result_ = nullptr;
  const codegen::Buffer *source_tokens_ = nullptr, *sizes_ = nullptr;  // nullptr: nothing reads them
  std::vector<int64_t> wide_;                                          // of an input of i64
  std::vector<float> logits_;
};

}  // namespace heddle::driver
