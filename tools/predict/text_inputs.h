// TextInputs: encodes the texts of rows to predict, in the way of the model's reader and with the tokenizers in the
// weights.
//
//   "train": {"op": "text_folder", ..., "name": "characters", "size": "length"}
//     -> put_text(0, "Satoshi", ...) fills `name`; put_size(1, ...) fills `size` with 7
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/text_coder.h"
#include "tools/driver/predictor.h"

namespace heddle::tools {

class TextInputs {
 public:
  // `numbers`: the predictor's inputs that are read. Below, `input` is an index into this list.
  TextInputs(const driver::Predictor& predictor, const std::vector<size_t>& numbers);
  bool any() const;
  bool takes_text(size_t input) const { return inputs_[input].rows != nullptr; }
  bool is_size(size_t input) const { return inputs_[input].size; }
  bool have_one_text(size_t a, size_t b) const { return inputs_[a].of == inputs_[b].of; }
  bool pairs() const { return pairs_; }  // a row has two texts, a source and a target

  void begin_row();
  // Encodes a text into `to`, as elements of text_type. Returns false where the input is not made of text.
  bool put_text(size_t input, std::string_view text, std::byte* to, const runtime::data::TextCoder::Fail& fail);
  // Writes the length of this row's text. Returns false where the input is not a length, or the row has no text.
  bool put_size(size_t input, std::byte* to);
  bool filled(size_t input) const { return inputs_[input].filled; }
  std::vector<std::string> notes() const;  // which texts were cut

 private:
  struct Input {
    const runtime::data::ColumnRequest* request = nullptr;
    std::unique_ptr<runtime::data::TextRows> rows{};  // nullptr: not made of text
    bool size = false;                                // it is the length of a text
    std::vector<std::string> of{};                    // which text of the row it belongs to
    runtime::data::TextSettings settings{};           // of `rows`
    bool filled = false;
  };
  std::vector<Input> inputs_;
  bool pairs_ = false;
};

}  // namespace heddle::tools
