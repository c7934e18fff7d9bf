#include "runtime/weights/program_weights.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "ir/diagnostic.h"
#include "runtime/weights/file_order.h"
#include "runtime/weights/quantize.h"
#include "runtime/weights/saved_buffers.h"

namespace heddle::runtime {
namespace {

// The state that holds the average of a parameter (frontend/training/average.cpp names it), or nullptr.
const codegen::Buffer* average_of(const codegen::Program& program, const codegen::Buffer& b) {
  for (const codegen::Buffer& state : program.states)
    if (state.role == codegen::BufferRole::state && state.name == b.name + ".average" && state.dims == b.dims)
      return &state;
  return nullptr;
}

}  // namespace

void read_in_file_order(Executable& executable, const codegen::Buffer& b, std::span<std::byte> bytes) {
  executable.read(b, bytes.data());
  to_file_order(b, bytes);
}

void write_from_file_order(Executable& executable, const codegen::Buffer& b, std::span<const std::byte> bytes) {
  std::vector<std::byte> turned;
  if (!b.layout.empty()) {
    turned.assign(bytes.begin(), bytes.end());
    to_memory_order(b, turned);
  }
  executable.write(b, turned.empty() ? bytes.data() : turned.data());
}

WeightsFile weights_of(Executable& executable, const std::map<std::string, std::string>& metadata, bool averages) {
  WeightsFile file{.name = "the weights", .tensors = {}, .metadata = metadata, .data = {}};
  unmark_quantized(file.metadata);
  file.metadata["format"] = "pt";
  std::vector<std::string> buffers;
  for (const codegen::Buffer* b : saved_buffers(executable.program())) {
    if (b->role == codegen::BufferRole::buffer) buffers.push_back(b->name);
    const codegen::Buffer* average = averages ? average_of(executable.program(), *b) : nullptr;
    read_in_file_order(executable, average ? *average : *b, file.add(b->name, b->dtype, b->dims, b->bytes));
  }
  set_buffer_names(file, buffers);
  return file;
}

void save_weights(Executable& executable, const std::string& path, const std::map<std::string, std::string>& metadata) {
  require_weights_path(path);
  write_safetensors(path, weights_of(executable, metadata));
}

void load_weights(Executable& executable, const WeightsFile& file, bool averages) {
  const TensorsByName tensors = by_name(file);
  for (const codegen::Buffer* b : saved_buffers(executable.program())) {
    const auto tensor = tensors.find(b->name);
    if (tensor == tensors.end()) continue;
    const std::span<const std::byte> bytes = file.bytes(*tensor->second);
    write_from_file_order(executable, *b, bytes);
    const codegen::Buffer* average = averages ? average_of(executable.program(), *b) : nullptr;
    if (average) write_from_file_order(executable, *average, bytes);
  }
}

std::string weights_hash(Executable& executable) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<std::byte> bytes;
  for (const codegen::Buffer* b : saved_buffers(executable.program())) {
    const std::string title = b->name + ": " + type_text(b->dtype, b->dims) + "\n";
    XXH3_128bits_update(state.get(), title.data(), title.size());
    bytes.resize(static_cast<size_t>(b->bytes));
    read_in_file_order(executable, *b, bytes);
    XXH3_128bits_update(state.get(), bytes.data(), bytes.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace heddle::runtime
