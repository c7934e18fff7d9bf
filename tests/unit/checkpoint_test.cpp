// Weights of a program, saved and loaded: which are refused, and how the file is laid out.
#include "runtime/weights/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ir/diagnostic.h"
#include "runtime/temporary.h"
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
    program.states = {{name, dtype, dims, bytes, {codegen::Segment::state, 0}, "param"}};
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
