// Reads and writes the numbers of tensors in a file's bytes, which are not aligned for their type.
//
//   element<float>(file.bytes(t), 3)      set_element(bytes, 3, 0.5F)      floats_of(file, t)
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

template <class T>
T element(std::span<const std::byte> bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

template <class T>
void set_element(std::span<std::byte> bytes, size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
}

// The numbers of an f32 tensor.
inline std::vector<float> floats_of(const WeightsFile& file, const SavedTensor& t) {
  const std::span<const std::byte> bytes = file.bytes(t);
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace heddle::runtime
