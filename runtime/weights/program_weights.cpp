#include "runtime/weights/program_weights.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/file_order.h"
#include "runtime/weights/half_floats.h"
#include "runtime/weights/quantize.h"
#include "runtime/weights/saved_buffers.h"

namespace heddle::runtime {
namespace {

// The state of a parameter that another one beside it is, or nullptr.
const codegen::Buffer* beside(const codegen::Program& program, const codegen::Buffer& b, const char* suffix) {
  for (const codegen::Buffer& state : program.states)
    if (state.role == codegen::BufferRole::state && state.name == b.name + suffix && state.dims == b.dims)
      return &state;
  return nullptr;
}
// That which holds its average (frontend/training/average.cpp names it), and that which a step renews in its place
// (stored_parameters.cpp).
const codegen::Buffer* average_of(const codegen::Program& program, const codegen::Buffer& b) {
  return beside(program, b, ".average");
}
const codegen::Buffer* master_of(const codegen::Program& program, const codegen::Buffer& b) {
  return b.dtype == "bf16" ? beside(program, b, ".master") : nullptr;
}

// Numbers of f32 as the nearest bf16, and those as f32; the bytes themselves where nothing is to do.
std::span<const std::byte> in_type(const std::string& from, const std::string& to, std::span<const std::byte> bytes,
                                   std::vector<std::byte>& room) {
  if (from == to) return bytes;
  HEDDLE_CHECK((from == "f32" && to == "bf16") || (from == "bf16" && to == "f32"), from + " as " + to);
  const bool narrows = to == "bf16";
  const size_t count = bytes.size() / (narrows ? sizeof(float) : sizeof(uint16_t));
  room.resize(count * (narrows ? sizeof(uint16_t) : sizeof(float)));
  for (size_t i = 0; i < count; ++i)
    if (narrows)
      set_element(room, i, nearest_bf16(element<float>(bytes, i)));
    else
      set_element(room, i, from_bf16(element<uint16_t>(bytes, i)));
  return room;
}

void write_from_file(Executable& executable, const codegen::Buffer* b, const std::string& dtype,
                     std::span<const std::byte> bytes) {
  std::vector<std::byte> room;
  if (b != nullptr) write_from_file_order(executable, *b, in_type(dtype, b->dtype, bytes, room));
}

void add_average(Executable& executable, const codegen::Buffer& average, const codegen::Buffer& b, WeightsFile& file) {
  std::vector<std::byte> held(static_cast<size_t>(average.bytes)), room;
  read_in_file_order(executable, average, held);
  std::ranges::copy(in_type(average.dtype, b.dtype, held, room), file.add(b.name, b.dtype, b.dims, b.bytes).begin());
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
    if (average != nullptr)
      add_average(executable, *average, *b, file);
    else
      read_in_file_order(executable, *b, file.add(b->name, b->dtype, b->dims, b->bytes));
  }
  set_buffer_names(file, buffers);
  return file;
}

WeightsFile with_types_of(const WeightsFile& file, const codegen::Program& program) {
  WeightsFile out{.name = file.name, .tensors = {}, .metadata = file.metadata, .data = {}};
  std::vector<std::byte> room;
  for (const SavedTensor& t : file.tensors) {
    const auto b = std::ranges::find(program.states, t.name, &codegen::Buffer::name);
    const bool narrows = b != program.states.end() && b->dtype == "bf16" && t.dtype == "f32";
    const std::string& dtype = narrows ? b->dtype : t.dtype;
    const std::span<const std::byte> bytes = in_type(t.dtype, dtype, file.bytes(t), room);
    std::ranges::copy(bytes, out.add(t.name, dtype, t.dims, std::ssize(bytes)).begin());
  }
  return out;
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
    const codegen::Program& program = executable.program();
    for (const codegen::Buffer* to : {b, master_of(program, *b), averages ? average_of(program, *b) : nullptr})
      write_from_file(executable, to, tensor->second->dtype, bytes);
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
