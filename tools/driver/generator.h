// Generator: a model that continues texts, one per row. It is compiled to a step that reads the next token of each row,
// and to a prefill that reads several tokens.
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
// The step is derived from the trained network (passes/decode): its states hold what later tokens need of earlier ones.
// Nothing is compiled after the constructor.
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
  static constexpr int64_t kFewestRows = 2;  // least rows

  // The number of rows for so many texts. A row's bits do not depend on the other rows (codegen/lone_rows.h).
  static int64_t rows_for(int64_t texts);

  // `rows`: a result of rows_for. `reorders`: whether `reorder` will be called, which needs room for a copy of the
  // states. The model's text must outlive this. Throws UserError where the model cannot continue text, or the weights
  // do not fit.
  Generator(frontend::Model model, runtime::WeightsFile weights, int64_t rows, bool reorders,
            const CompileOptions& options, runtime::Device& device);

  // Throws UserError where the model cannot continue text. Needs no weights and no device.
  static void require_writes(frontend::Model model, const CompileOptions& options);

  // Loads other weights of the same model.
  void load(runtime::WeightsFile weights);
  int64_t rows() const { return rows_; }
  bool reorders() const { return reorders_; }
  const std::vector<passes::Int8Weight>& int8() const { return int8_; }  // for which the program was compiled
  int64_t context() const { return context_; }                           // positions lie below it; 0: unlimited
  int64_t vocabulary() const { return vocabulary_; }                     // logits per row
  int64_t tokens_below() const { return text_.below; }                   // ids of the input lie below it
  const std::string& input() const { return text_.name; }
  const std::string& tokenizer() const { return text_.tokenizer; }  // a tokenizer.json; empty: not in the weights
  const std::optional<int64_t>& first() const {
    return first_;
  }  // the token that texts begin with, if the model names one
  const frontend::Data& data() const { return plan_.data; }
  const std::string& note() const { return note_; }  // about the weights; mostly empty
  // The source input, which the model reads beside the text.
  struct Source {
    std::string name, tokenizer = {};  // of the input; a tokenizer.json, as above
    int64_t below = 0, length = 0;
  };
  const std::optional<Source>& source() const { return source_; }
  // The input with the lengths of the sources; empty: none.
  const std::string& sizes() const { return sizes_name_; }
  // For a generator with a source: reads the sources of all rows. `tokens`: [rows, length]; `sizes`: the number of
  // tokens of each row. To be called before a row begins; rows that have begun must get the same source again.
  void encode(std::span<const int32_t> tokens, std::span<const int32_t> sizes);
  // Tokens per row that one `prefill` reads; 1: there is no prefill.
  int64_t chunk() const { return chunk_; }
  // Reads the first counts[i] tokens of row i of `tokens`, [rows, chunk], at positions[i] and after. They must lie
  // within the context. A row with count 0 does not change.
  void prefill(std::span<const int32_t> tokens, std::span<const int32_t> positions, std::span<const int32_t> counts);
  // Reads one token of each row at its position in the text. The positions of a row count up from 0.
  void step(std::span<const int32_t> tokens, std::span<const int32_t> positions);
  // Each row continues from the states of row from[row].
  void reorder(std::span<const int32_t> from);
  // The logits of a row after the last step.
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
  std::vector<passes::Int8Weight> int8_;
  Text text_;
  std::optional<int64_t> first_;
  std::optional<Source> source_;
  std::string sizes_name_;
  frontend::TrainingPlan plan_;
  codegen::Program program_;
  std::unique_ptr<runtime::Executable> executable_;
  const codegen::Entry* entry_ = nullptr;
  const codegen::Entry *prefill_ = nullptr, *encode_ = nullptr, *reorder_ = nullptr;  // nullptr: not needed
  const codegen::Buffer *tokens_ = nullptr, *positions_ = nullptr, *result_ = nullptr;
  const codegen::Buffer *source_tokens_ = nullptr, *sizes_ = nullptr;  // nullptr: unused
  std::vector<int64_t> wide_;                                          // buffer for i64 inputs
  std::vector<float> logits_;
};

}  // namespace heddle::driver
