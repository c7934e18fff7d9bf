// Mutated rows through the readers of heddle predict.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "frontend/read_model.h"
#include "runtime/host/host_device.h"
#include "tests/fuzz/campaign.h"
#include "tools/predict/json_rows.h"
#include "tools/predict/predictor.h"

namespace heddle::testing {
namespace {

using tools::PredictInput;

PredictInput input(const std::string& name, const std::string& dtype, std::vector<int64_t> dims) {
  PredictInput made;
  made.request.input = name, made.request.dtype = dtype, made.request.dims = std::move(dims);
  return made;
}

TEST(Fuzz, RowsOfJson) {
  const PredictInput picture = input("image", "f32", {2, 3, 1});
  PredictInput kind = input("kind", "i32", {});
  kind.request.classes = 3, kind.request.class_names = {"ant", "bee", "c\"ow"};
  PredictInput hot = input("hot", "f32", {2, 4});
  hot.request.classes = 4, hot.request.one_hot = true;
  const std::vector<const PredictInput*> inputs = {&picture, &kind, &hot};
  Campaign c{.name = "json_rows",
             .corpus = {R"({"image": [[1, 2.5, 3], [-4, 5e-3, 6]], "kind": "bee", "hot": [3, 0]})",
                        R"({"image": [1, 2, 3, 4, 5, 6], "kind": 2, "hot": [1, 2], "more": {"a": [null, true]}})",
                        R"({"image": [[[1], [2], [3]], [[4], [5], [6]]], "kind": -100, "hot": [[1], [2]]})"},
             .target = {}};
  c.target = [&](const std::string& line) {
    // Room for one row and a guard behind each input.
    std::vector<std::vector<std::byte>> rooms = {std::vector<std::byte>(6 * 4 + 8, std::byte{0x5a}),
                                                 std::vector<std::byte>(4 + 8, std::byte{0x5a}),
                                                 std::vector<std::byte>(2 * 4 + 8, std::byte{0x5a})};
    const std::vector<std::byte*> to = {rooms[0].data(), rooms[1].data(), rooms[2].data()};
    const auto guarded = [&] {
      for (const std::vector<std::byte>& room : rooms)
        for (size_t i = room.size() - 8; i < room.size(); ++i)
          if (room[i] != std::byte{0x5a}) throw std::runtime_error("written behind the row");
    };
    try {
      tools::read_json_row(line, "rows.jsonl", 7, inputs, to);
    } catch (const UserError&) {
      guarded();
      throw;
    }
    guarded();
  };
  run(c, 3000);
}

// Whole files through the reader that the command has: of every format that a file may be mutated in.
class Files {
 public:
  Files() : descriptor_(memfd_create("fuzz", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    const SourceFile& text = sources_.add("line.json", kModel);
    runtime::WeightsFile weights{
        .name = "weights",
        .tensors = {{.name = "out.weight", .dtype = "f32", .dims = {1, 4}, .begin = 0, .end = 16},
                    {.name = "out.bias", .dtype = "f32", .dims = {1}, .begin = 16, .end = 20}},
        .metadata = {},
        .data = std::vector<std::byte>(20)};
    predictor_ = std::make_unique<tools::Predictor>(frontend::read_model(sources_, text), weights,
                                                    std::vector<std::string>{}, tools::CompileOptions{}, device_);
  }
  ~Files() { close(descriptor_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void read(const std::string& content, const std::string& format) const {
    if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, content.data(), content.size(), 0) != std::ssize(content))
      throw std::runtime_error("cannot write to memory");
    tools::RowReader reader(*predictor_, {path_}, format);
    tools::PredictRows rows;
    rows.columns.resize(1);
    while (reader.next(tools::kPredictBatch, rows)) {
      if (rows.count > tools::kPredictBatch) throw std::runtime_error("more rows than were asked for");
      if (std::ssize(rows.columns[0].bytes) < rows.count * rows.columns[0].row_bytes())
        throw std::runtime_error("no room for a row");
    }
  }

 private:
  static constexpr const char* kModel = R"({
    "format": "heddle-model/1", "name": "line", "inputs": {"x": {"shape": ["N", 4]}, "y": {"shape": ["N", 1]}},
    "nodes": [{"name": "out", "op": "dense", "in": "x", "units": 1}], "outputs": {"out": "out"},
    "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "mse", "in": ["out", "y"]}, "optimizer": "sgd"}})";
  int descriptor_;
  std::string path_;
  frontend::Sources sources_;
  runtime::HostDevice device_;
  std::unique_ptr<tools::Predictor> predictor_;
};

std::string array_of_numpy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (70, 4), }\n";
  std::string s("\x93NUMPY\x01\0", 8);
  s += static_cast<char>(header.size());
  s += '\0';
  return s + header + std::string(70 * 16, '\x3f');
}

TEST(Fuzz, FilesOfRows) {
  const Files files;
  const std::string idx = std::string("\0\0\x0d\x02\0\0\0\x46\0\0\0\x04", 12) + std::string(70 * 16, '\x3f');
  std::string lines, table = "a,b,\"c\"\"\",d\r\n";
  for (int i = 0; i < 70; ++i) {
    lines += "{\"x\": [1, -2.5, 3e2, " + std::to_string(i) + "]}\n";
    table += "1,\"2.5\",-3," + std::to_string(i) + "\n";
  }
  const std::pair<std::string, std::string> formats[] = {
      {"npy", array_of_numpy()}, {"idx", idx}, {"jsonl", lines}, {"csv", table}};
  for (const auto& [format, content] : formats) {
    files.read(content, format);  // what is not mutated is read
    Campaign c{
        .name = "rows_" + format, .corpus = {content}, .binary = format == "npy" || format == "idx", .target = {}};
    c.target = [&files, f = format](const std::string& mutated) { files.read(mutated, f); };
    run(c, 1000);
  }
}

}  // namespace
}  // namespace heddle::testing
