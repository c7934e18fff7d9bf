// Reads and writes weights files in the safetensors format: a little-endian 64-bit header length, a JSON header, then
// the tensors' bytes.
//
//   {"fc1.weight": {"dtype": "F32", "shape": [128,784], "data_offsets": [0, 401408]}, "__metadata__": {"format": "pt"}}
//
// Files are untrusted input: sizes are checked before memory is allocated, and offsets must tile the data exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/weights/shared_bytes.h"

namespace heddle::runtime {

struct SavedTensor {
  std::string name;
  std::string dtype;  // as the IR spells it: "f32"
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;  // bytes in the data
  std::string was = {};        // the type in the file, where that was another: "f64" (read_weights.h)
  // For a tensor that was int8 (runtime/weights/quantize.h). `scales`: one per index along scaled_axis. `range`: the
  // smallest and the largest input of its product in calibration rows. Empty: there are none.
  std::vector<float> scales = {}, range = {};
  int64_t scaled_axis = 0;
};

struct WeightsFile {
  std::string name;  // of the file, for messages
  std::vector<SavedTensor> tensors;
  std::map<std::string, std::string> metadata;  // "buffers": names of tensors that are not trained
  SharedBytes data;

  const SavedTensor* find(const std::string& tensor) const;
  std::span<const std::byte> bytes(const SavedTensor& t) const;
  // Adds a tensor of `bytes` bytes behind the others. Returns its bytes, which the caller fills before it adds the next
  // one.
  std::span<std::byte> add(const std::string& tensor, const std::string& dtype, const std::vector<int64_t>& dims,
                           int64_t bytes);
};

std::string type_text(const std::string& dtype, const std::vector<int64_t>& dims);  // "f32[128,784]"

inline constexpr int64_t kMaxWeightsHeader = int64_t{100} << 20;

// Get and set the names of the tensors that are buffers; no names where the file does not say.
std::vector<std::string> buffer_names(const WeightsFile& file);
void set_buffer_names(WeightsFile& file, const std::vector<std::string>& names);

// Throws UserError (wrong usage) where the path is "-": weights files cannot be piped.
void require_no_pipe(const std::string& path);

// Throws UserError: "FILE: what is wrong".
WeightsFile read_safetensors(const std::string& path);
// Parses the bytes of a file. `data` of the result is all of `content`.
WeightsFile parse_safetensors(const std::string& path, std::vector<std::byte> content);

// Throws UserError unless weights can be saved there now: the file can be written (runtime/files/write_file.h), and is
// absent, empty, or a weights file. Other files are never overwritten.
void require_weights_path(const std::string& path);

// Replaces the file atomically: a crash leaves the old or the new file. `weights.tensors` are written in order; begin
// and end are their places in `weights.data`.
void write_safetensors(const std::string& path, const WeightsFile& weights);
// The bytes before those of the tensors: the header's length and the header.
std::string safetensors_head(const WeightsFile& weights);

}  // namespace heddle::runtime
