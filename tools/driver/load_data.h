// Reads the data sets of a model: which columns feed which inputs, how many rows each split has, and the rows
// themselves.
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

// The column type of an input, where no file has another one. An input that a map makes one-hot is read as integers.
inline ir::DType own_type(const frontend::PlannedInput& input) {
  return input.one_hot > 0 ? ir::DType::i32 : input.row.dtype;
}
// The request for an input's column, which has the input's name; `names`: its class names, where known.
runtime::data::ColumnRequest column_request(const frontend::PlannedInput& input, std::vector<std::string> names);

struct RowCounts {
  int64_t train = 0, validation = 0, test = 0;  // 0: the model has no such split
};
struct Splits {
  std::optional<runtime::Split> train, validation, test;
  std::vector<std::string> notes = {};  // for the user, about the rows
};
struct DataRequest {
  const frontend::TrainingPlan* plan = nullptr;
  std::filesystem::path root;   // --data, or the model's folder
  bool train = false;           // load the training rows; a validation by fraction needs them, too
  ClassNames class_names = {};  // of loaded weights; empty: taken from the training rows
  Tokenizers tokenizers = {};   // likewise
  Fills fills = {};             // likewise
};

// What file headers tell: the number of rows, and the stored type of each of the plan's inputs. Where the splits store
// an input in different types, loading converts them to the input's own type.
struct DataHeader {
  RowCounts rows;
  std::vector<ir::DType> stored;
  ClassNames class_names;  // of all splits; empty: numbers
  Tokenizers tokenizers;   // likewise; empty: no text
  Fills fills;             // for missing values, likewise
  // 1 for each training row that serves as validation, where these are drawn; nullptr: they are the last rows, or there
  // are none.
  std::shared_ptr<const std::vector<uint8_t>> drawn = nullptr;
  std::vector<std::string> notes = {};  // for the user, about the files
};
DataHeader read_headers(const DataRequest& request);
// Loads the rows. The columns have the header's types and numbers of rows.
Splits load_splits(const DataRequest& request, const DataHeader& header);
// Describes the rows of a training: "300 rows and 30 for validation, 5f...", with a hash of their bytes.
std::string data_text(const Splits& splits);

// Throws UserError where the model has no training rows, or no section for training.
void require_trainable(const frontend::Model& model);

}  // namespace heddle::driver
