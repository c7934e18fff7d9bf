// Weights files in the safetensors layout: a little-endian 64-bit header length, a JSON header, then the tensors'
// bytes.
//
//   {"fc1.weight": {"dtype": "F32", "shape": [128,784], "data_offsets": [0, 401408]}, "__metadata__": {"format": "pt"}}
//
// A file is input like any other: sizes are checked before memory is taken, offsets must tile the data exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace heddle::runtime {

struct SavedTensor {
  std::string name;
  std::string dtype;  // as the IR spells it: "f32"
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;  // bytes in the data
  std::string was = {};        // in the file, where that was another type: "f64" (runtime/weights/read_weights.h)
  // Of what was int8 (runtime/weights/quantize.h): the scale of each place along an axis, and the smallest and the
  // largest number that it was multiplied with in calibration rows; empty: there were none.
  std::vector<float> scales = {}, range = {};
  int64_t scaled_axis = 0;
};

struct WeightsFile {
  std::string name;  // of the file, for messages
  std::vector<SavedTensor> tensors;
  std::map<std::string, std::string> metadata;  // "buffers": the names of those tensors that are not trained
  std::vector<std::byte> data;

  const SavedTensor* find(const std::string& tensor) const;
  std::span<const std::byte> bytes(const SavedTensor& t) const;
  // Adds a tensor of so many bytes behind the others; they are the caller's to fill, before the next one is added.
  std::span<std::byte> add(const std::string& tensor, const std::string& dtype, const std::vector<int64_t>& dims,
                           int64_t bytes);
};

std::string type_text(const std::string& dtype, const std::vector<int64_t>& dims);  // "f32[128,784]"

inline constexpr int64_t kMaxWeightsHeader = int64_t{100} << 20;

// Those of the tensors that are buffers, as far as the file says which they are, and the file made to say so.
std::vector<std::string> buffer_names(const WeightsFile& file);
void set_buffer_names(WeightsFile& file, const std::vector<std::string>& names);

// Throws UserError (wrong usage) where the path is "-": files of tensors are read and replaced as a whole, never piped.
void require_no_pipe(const std::string& path);

// Throws UserError: "FILE: what is wrong".
WeightsFile read_safetensors(const std::string& path);
// The same of a file's bytes that have been read; `data` is then all of them.
WeightsFile parse_safetensors(const std::string& path, std::vector<std::byte> content);

// Throws UserError unless weights could be saved there now: the file can be written
// (runtime/files/write_file.h), and is absent, empty, or a weights file itself. What else is in a file is
// nobody's to overwrite.
void require_weights_path(const std::string& path);

// Replaces the file as a whole: a crash leaves the old one or the new one. `weights.tensors` are written in order;
// their begin and end say where their bytes lie in `weights.data`.
void write_safetensors(const std::string& path, const WeightsFile& weights);
// What comes before the tensors' bytes: the header and its length.
std::string safetensors_head(const WeightsFile& weights);

}  // namespace heddle::runtime
