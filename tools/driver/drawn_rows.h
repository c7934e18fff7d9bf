// DrawnRows: draws the training rows that serve as validation, where a model asks for this.
//
//   "validation": {"fraction": 0.1, "draw": 1, "by": "label"} of 1,000 rows -> a mark for each row, 100 of them 1
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "frontend/model.h"
#include "runtime/data/table.h"

namespace heddle::driver {

// Reads once the columns that a draw depends on. Rows can then be drawn several times.
class DrawnRows {
 public:
  // `train`: the reader of the training rows; `rows`: their number. Throws UserError where 'by' or 'group' name an
  // unknown column.
  DrawnRows(const frontend::Data& data, const runtime::data::ReaderRequest& train, const std::filesystem::path& root,
            int64_t rows);
  // Returns 1 for each validation row. Rows marked in `kept` stay with the training. Throws UserError where training or
  // validation, or one of their classes, would have no rows (in any fold), and where a row of a fold would have to
  // stay.
  std::vector<uint8_t> draw(std::vector<uint8_t> kept) const;

 private:
  void require_both_sides(const std::vector<uint8_t>& drawn, int64_t kept) const;
  std::vector<uint8_t> fold(const std::vector<uint8_t>& kept) const;
  void require_folds(const std::vector<uint32_t>& fold_of_row) const;
  // `all`: rows by class; `in_fold`: those of them in the fold, which has so many `rows`.
  void require_fold(size_t fold, int64_t rows, const std::vector<int64_t>& all, std::span<const int64_t> in_fold) const;

  struct ClassRows {
    std::vector<int64_t> all, taken;  // by class
  };
  ClassRows rows_of_classes(const std::vector<uint8_t>& taken) const;
  bool is_ignored(size_t c) const;
  std::string name_of_class(size_t c) const;  // for messages

  const frontend::Data& data_;
  int64_t rows_ = 0;
  std::vector<uint32_t> classes_, groups_;  // per row
  uint32_t class_count_ = 0, group_count_ = 0;
  std::vector<std::string> class_texts_;  // by class number, for messages
};

}  // namespace heddle::driver
