// Batches: rows of a table converted, mapped and written into an input buffer, in one pass over each row.
//
//   column x: u8[28,28], maps {affine 1/255}, rows {3, 0, 4} -> f32[3,28,28,1] in the buffer
//
// Maps run in the order they are written, in f32 (f64 for f64 inputs).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/table.h"

namespace heddle::runtime::data {

// One map of a model input. `scale` and `shift` hold one number, one per element of the row's last axis, or nothing.
struct Map {
  std::string op;                    // "affine" (x * scale, then + shift), "cast", "one_hot"
  std::vector<double> scale, shift;  // affine
  std::string dtype;                 // cast
  int64_t classes = 0;               // one_hot
  Location where;
};

// How one column becomes one input. Building it checks types and shapes; gathering cannot fail.
class Gather {
 public:
  // `dims` and `dtype` are those of the input's row.
  Gather(const Column& column, std::string dtype, std::vector<int64_t> dims, std::vector<Map> maps);

  int64_t row_bytes() const { return row_bytes_; }
  // Writes `rows.size()` rows back to back. The column must outlive this.
  void operator()(std::span<const uint32_t> rows, void* to) const;

 private:
  void check_maps();

  const Column* column_;
  std::string dtype_;
  std::vector<int64_t> dims_;
  std::vector<Map> maps_;
  bool one_hot_ = false;
  int64_t row_bytes_ = 0;
};

}  // namespace heddle::runtime::data
