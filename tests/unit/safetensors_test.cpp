// Weights files: what is written reads back, and what is damaged is refused.
#include "runtime/weights/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

class Weights : public testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("heddle-weights-" + std::to_string(::getpid()) + ".safetensors"))
          .string();
  ~Weights() override { std::filesystem::remove(path_); }

  // The error message after the file's name, or "read".
  std::string read(const std::string& header, const std::string& data, int64_t length = -1) {
    uint64_t n = length < 0 ? header.size() : static_cast<uint64_t>(length);
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &n, 8);
    std::ofstream(path_, std::ios::binary) << bytes << header << data;
    try {
      read_safetensors(path_);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message.substr(path_.size() + 2);
    }
    return "read";
  }
};

TEST(SharedBytes, AreCopiedWhereOneChanges) {
  SharedBytes a(std::vector<std::byte>(4));
  SharedBytes b = a;
  EXPECT_EQ(b.view().data(), a.view().data());
  b.own().push_back(std::byte{7});
  EXPECT_EQ(a.size(), 4U);
  EXPECT_EQ(b.size(), 5U);
  const std::byte* const alone = b.view().data();
  EXPECT_EQ(b.own().data(), alone);
  EXPECT_EQ(SharedBytes().size(), 0U);
}

TEST_F(Weights, ReadsBackWhatItWrote) {
  WeightsFile file{.name = "",
                   .tensors = {{"b.\"w\"", "f32", {2, 1}, 0, 8}, {"a", "bf16", {}, 8, 10}},
                   .metadata = {{"format", "pt"}},
                   .data = {}};
  for (int i = 0; i < 10; ++i) file.data.own().push_back(static_cast<std::byte>(i));
  write_safetensors(path_, file);
  const WeightsFile back = read_safetensors(path_);
  EXPECT_TRUE(std::ranges::equal(back.data.view(), file.data.view()));
  EXPECT_EQ(back.metadata, file.metadata);
  ASSERT_NE(back.find("b.\"w\""), nullptr);
  EXPECT_EQ(back.find("b.\"w\"")->dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(back.find("a")->dtype, "bf16");
  EXPECT_EQ(back.bytes(*back.find("a"))[0], std::byte{8});
}

TEST_F(Weights, AcceptsAWellFormedFile) {
  EXPECT_EQ(read(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "abcd"), "read");
  EXPECT_EQ(read(R"({})", ""), "read");
}

TEST_F(Weights, RefusesSizesThatDoNotFit) {
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return R"({"w": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}";
  };
  EXPECT_EQ(read("{}", "", 1 << 20), "truncated: a header of 1048576 bytes in a file of 10");
  EXPECT_EQ(read("{}", "", int64_t{1} << 62), "not a safetensors file: a header of 4611686018427387904 bytes");
  EXPECT_EQ(read(one("[1]", "[0,8]"), "abcd"), "'w': offsets 0 to 8 are outside the 4 bytes of data");
  EXPECT_EQ(read(one("[1]", "[4,0]"), "abcd"), "'w': offsets 4 to 0 are outside the 4 bytes of data");
  EXPECT_EQ(read(one("[2]", "[0,4]"), "abcd"), "'w': its shape takes 8 bytes, its offsets 4");
  EXPECT_EQ(read(one("[4294967296,4294967296]", "[0,4]"), "abcd"), "'w': its shape is too large");
  EXPECT_EQ(read(one("[18446744073709551615]", "[0,4]"), "abcd"), "'w': 18446744073709551615 is too large");
  EXPECT_EQ(read(one("[-1]", "[0,4]"), "abcd"), "'w': -1 is negative");
  EXPECT_EQ(read(one("[1]", "[0,4]"), "abcdefgh"), "4 bytes of data belong to no tensor");
  EXPECT_EQ(read(one("[1]", "[4,8]"), "abcdefgh"), "'w': leaves a hole before it");
  EXPECT_EQ(read(one("[1]", "[0]"), "abcd"), "'w': data_offsets must be two numbers");
}

TEST_F(Weights, RefusesWhatIsNoTruthValue) {
  const std::string header = R"({"m": {"dtype": "BOOL", "shape": [4], "data_offsets": [0,4]}})";
  EXPECT_EQ(read(header, std::string("\0\1\1\0", 4)), "read");
  EXPECT_EQ(read(header, std::string("\0\1\7\0", 4)), "'m': element 2 is 7, a truth value is 0 or 1");
}

TEST_F(Weights, RefusesHeadersThatAreNotTensors) {
  EXPECT_EQ(read("[]", ""), "the header is a list, expected an object");
  EXPECT_EQ(read("{", ""), "the header is not JSON at byte 2");
  EXPECT_EQ(read(R"({"w": 1})", ""), "'w': unexpected a number");
  EXPECT_EQ(read(R"({"w": {"dtype": "F32"}})", ""), "'w' needs exactly dtype, shape and data_offsets");
  EXPECT_EQ(read(R"({"w": {"dtype": "F7", "shape": [], "data_offsets": [0,0]}})", ""), "'w': unknown dtype 'F7'");
  EXPECT_EQ(read(R"({"w": {"dtype": {"a": {}}, "shape": [], "data_offsets": [0,0]}})", ""),
            "the header is nested too deeply");
  EXPECT_EQ(read(R"({"w": {"dtype": "F32", "shape": [0], "data_offsets": [0,0]}, "w": {}})", ""),
            "'w' appears twice in the header");
  EXPECT_EQ(read("{\"w\": {\"dtype\": \"F32\", \"shape\": " + std::string(100000, '['), ""), "'w': unexpected a list");
}

TEST_F(Weights, RefusesOverlappingTensors) {
  EXPECT_EQ(
      read(
          R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0,4]}, "b": {"dtype": "U8", "shape": [4], "data_offsets": [2,6]}})",
          "abcdef"),
      "'b': overlaps the tensor before it");
}

TEST_F(Weights, SaysWhereAFileCannotBeWritten) {
  EXPECT_THROW(write_safetensors("/nonexistent-folder/w.safetensors", {}), UserError);
}

}  // namespace
}  // namespace heddle::runtime
