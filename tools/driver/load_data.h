// The data sets a model names, read for the runtime: which columns feed which inputs, how many rows each split has.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/training/training_plan.h"
#include "runtime/data/table.h"
#include "runtime/train/trainer.h"
#include "tools/driver/class_names.h"
#include "tools/driver/fills.h"
#include "tools/driver/tokenizers.h"

namespace heddle::driver {

// Of an input's elements where no file says otherwise; what becomes one_hot is a number.
inline ir::DType own_type(const frontend::PlannedInput& input) {
  return input.one_hot > 0 ? ir::DType::i32 : input.row.dtype;
}
// What a row of an input is in a file, in a column of the input's own name; `names` are its
// classes' names, where they are known.
runtime::data::ColumnRequest column_request(const frontend::PlannedInput& input, std::vector<std::string> names);

struct RowCounts {
  int64_t train = 0, validation = 0, test = 0;  // 0: the model has no such split
};
struct Splits {
  std::optional<runtime::Split> train, validation, test;
  std::vector<std::string> notes = {};  // what a user should know of the rows
};
struct DataRequest {
  const frontend::TrainingPlan* plan = nullptr;
  std::filesystem::path root;   // --data, or the model's folder
  bool train = false;           // load the training rows; those of validation need them where it is a fraction
  ClassNames class_names = {};  // of weights that are read; empty: the training rows say
  Tokenizers tokenizers = {};   // likewise
  Fills fills = {};             // likewise
};

// From file headers alone: the rows, and the type of each of the plan's inputs as the files store
// it. Where splits store one in different types, they are converted to the input's own when they
// are loaded.
struct DataHeader {
  RowCounts rows;
  std::vector<ir::DType> stored;
  ClassNames class_names;  // that all splits have; empty: numbers
  Tokenizers tokenizers;   // likewise; empty: no text
  Fills fills;             // for what is missing, likewise
  // Training rows that serve as validation, where these are drawn; nullptr: they are the last ones, or there are none.
  std::shared_ptr<const std::vector<uint8_t>> drawn = nullptr;
  std::vector<std::string> notes = {};  // what a user should know of the files
};
DataHeader read_headers(const DataRequest& request);
// Columns have the types and the rows that the header says.
Splits load_splits(const DataRequest& request, const DataHeader& header);
// The rows that a training reads, in a few words: "300 rows and 30 for validation, 5f..." with a hash of their bytes.
std::string data_text(const Splits& splits);

// Throws UserError where the model names no rows to train on, or says nothing of how it is trained.
void require_trainable(const frontend::Model& model);

}  // namespace heddle::driver
