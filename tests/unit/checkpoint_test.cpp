// Weights of a program, saved and loaded: which are refused, and how the file is laid out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/read_weights.h"
#include "tests/support/memory_device.h"

namespace heddle::runtime {
namespace {

// A program of one weight, whose bytes are all 1.
struct OneWeight {
  codegen::Program program;
  MemoryDevice device;
  std::optional<Executable> executable;
  OneWeight(const std::string& name, const std::string& dtype, const std::vector<int64_t>& dims, int64_t bytes) {
    program.state_bytes = bytes;
    program.states = {{name, dtype, dims, bytes, {codegen::Segment::state, 0}, codegen::BufferRole::param}};
    executable.emplace(program, device);
    executable->write(program.states[0], std::vector<uint8_t>(static_cast<size_t>(bytes), 1).data());
  }
};

// Weights of another model: each difference is told.
TEST(Checkpoint, RefusesWeightsThatDoNotMatch) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/w.safetensors";
  OneWeight saved("w", "f32", {2, 3}, 24);
  save_weights(*saved.executable, path);
  const auto message = [&](OneWeight&& other) -> std::string {
    try {
      const WeightsFile file = read_safetensors(path);
      require_match(file, other.program);
      load_weights(*other.executable, file);
      return "loaded";
    } catch (const UserError& error) {
      std::string all;
      for (const Diagnostic& d : error.diagnostics()) all += d.message.substr(path.size() + 2) + "; ";
      return all;
    }
  };
  EXPECT_EQ(message({"w", "f32", {2, 3}, 24}), "loaded");
  EXPECT_EQ(message({"w", "f32", {3, 2}, 24}), "'w' is f32[2,3], the model has f32[3,2]; ");
  EXPECT_EQ(message({"w", "i32", {2, 3}, 24}), "'w' is f32[2,3], the model has i32[2,3]; ");
  EXPECT_EQ(message({"v", "f32", {2, 3}, 24}), "no tensor 'v'; the model has no parameter 'w'; ");
}

// A tensor that became f32 as it was read is called what the file says that it is.
TEST(Checkpoint, NamesTheTypeOfTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/w.safetensors";
  WeightsFile file;
  std::ranges::fill(file.add("n", "f64", {}, 8), std::byte{0});
  write_safetensors(path, file);
  OneWeight counter("n", "i64", {}, 8), number("n", "f32", {}, 4);
  const WeightsFile read = read_weights(path).file;
  require_match(read, number.program);
  try {
    require_match(read, counter.program);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, path + ": 'n' is f64[], the model has i64[]");
    EXPECT_EQ(error.diagnostics().at(0).help, "save it as i64: no other type of numbers is converted to it");
  }
}

// The file, its shape and the hash are those of a weight that lies as its shape says.
TEST(Checkpoint, FilesHoldTheLogicalOrder) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/w.safetensors";
  OneWeight plain("w", "u16", {2, 3, 1, 2}, 24), turned("w", "u16", {2, 3, 1, 2}, 24);
  turned.program.states[0].layout = {0, 2, 3, 1};
  const std::vector<uint16_t> logical = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<uint16_t> memory = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};  // [2,1,2,3]
  plain.executable->write(plain.program.states[0], logical.data());
  turned.executable->write(turned.program.states[0], memory.data());
  EXPECT_EQ(weights_hash(*turned.executable), weights_hash(*plain.executable));

  save_weights(*turned.executable, path);
  const WeightsFile file = read_safetensors(path);
  EXPECT_EQ(file.tensors.at(0).dims, (std::vector<int64_t>{2, 3, 1, 2}));
  EXPECT_EQ(std::memcmp(file.data.view().data(), logical.data(), 24), 0);

  turned.executable->write(turned.program.states[0], std::vector<uint16_t>(12, 0).data());
  require_match(file, turned.program);
  load_weights(*turned.executable, file);
  std::vector<uint16_t> loaded(12);
  turned.executable->read(turned.program.states[0], loaded.data());
  EXPECT_EQ(loaded, memory);
}

// The elements begin at a multiple of 8, where any element type may.
TEST(Checkpoint, AlignsTheElements) {
  const TemporaryFolder folder;
  for (const char* name : {"w", "we", "wei", "weig", "weigh", "weight", "weights", "weights1"}) {
    const std::string path = folder.path() + "/w.safetensors";
    OneWeight saved(name, "f64", {1}, 8);
    save_weights(*saved.executable, path);
    EXPECT_EQ(std::filesystem::file_size(path) % 8, 0U) << name;
  }
}

}  // namespace
}  // namespace heddle::runtime
