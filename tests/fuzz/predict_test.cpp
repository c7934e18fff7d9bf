// Mutated rows through the readers of heddle predict.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/fuzz/campaign.h"
#include "tools/predict/json_rows.h"

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

}  // namespace
}  // namespace heddle::testing
