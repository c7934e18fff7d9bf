// Mutated rows through the readers of heddle predict.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "frontend/read/read_model.h"
#include "runtime/host/host_device.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/made_files.h"
#include "tools/driver/predictor.h"
#include "tools/predict/json_rows.h"

namespace heddle::testing {
namespace {

using driver::PredictInput;

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
  // Rows of this shape, of so many elements.
  Files(const std::string& shape, int64_t elements) {
    const SourceFile& text = sources_.add("line.json", fmt::format(kModel, shape));
    runtime::WeightsFile weights{.name = "weights", .tensors = {}, .metadata = {}, .data = {}};
    weights.add("out.weight", "f32", {1, elements}, 4 * elements);
    weights.add("out.bias", "f32", {1}, 4);
    predictor_ =
        std::make_unique<driver::Predictor>(frontend::read_model(sources_, text), weights, std::vector<std::string>{},
                                            driver::BatchRequest{}, driver::CompileOptions{}, device_);
  }

  void read(const std::string& content, const std::string& format) const {
    tools::RowReader reader(*predictor_, {file_.holding(content)}, format);
    tools::PredictRows rows;
    rows.columns.resize(1);
    while (reader.next(predictor_->batch(), rows)) {
      if (rows.count > predictor_->batch()) throw std::runtime_error("more rows than were asked for");
      if (std::ssize(rows.columns[0].bytes) < rows.count * rows.columns[0].row_bytes())
        throw std::runtime_error("no room for a row");
    }
  }

 private:
  static constexpr const char* kModel = R"({{
    "format": "heddle-model/1", "name": "line", "inputs": {{"x": {{"shape": ["N", {}]}}, "y": {{"shape": ["N", 1]}}}},
    "nodes": [{{"name": "flat", "op": "flatten", "in": "x"}}, {{"name": "out", "op": "dense", "units": 1}}],
    "outputs": {{"out": "out"}},
    "train": {{"batch": {{"N": 2}}, "steps": 1, "loss": {{"op": "mse", "in": ["out", "y"]}}, "optimizer": "sgd"}}}})";
  MemoryFile file_;
  frontend::Sources sources_;
  runtime::HostDevice device_;
  std::unique_ptr<driver::Predictor> predictor_;
};

void mutate(const Files& files, const std::string& format, const std::vector<std::string>& corpus, bool binary) {
  SCOPED_TRACE(format);
  for (const std::string& whole : corpus) files.read(whole, format);  // what is not mutated is read
  Campaign c{.name = "rows_" + format, .corpus = corpus, .binary = binary, .target = {}};
  c.target = [&](const std::string& mutated) { files.read(mutated, format); };
  run(c, 1000);
}

TEST(Fuzz, FilesOfRows) {
  const Files files("4", 4);
  std::string lines, table = "a,b,\"c\"\"\",d\r\n";
  for (int i = 0; i < 70; ++i) {
    lines += "{\"x\": [1, -2.5, 3e2, " + std::to_string(i) + "]}\n";
    table += "1,\"2.5\",-3," + std::to_string(i) + "\n";
  }
  const std::string array = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (70, 4), }\n", 70 * 16),
                    idx = idx_file(13, 4, {70, 4});
  mutate(files, "npy", {array}, true);
  mutate(files, "idx", {idx, gzip(idx)}, true);
  mutate(files, "jsonl", {lines}, false);
  mutate(files, "csv", {table}, false);
}

TEST(Fuzz, PicturesAsRows) {
  const Files files("2, 3, 1", 6);
  mutate(files, "image", {png_file()}, true);
}

}  // namespace
}  // namespace heddle::testing
