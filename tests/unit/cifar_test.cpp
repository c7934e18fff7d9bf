// CIFAR's binary records: pixels are where the format's page says, labels too; what cannot be is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/data/table.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

class Cifar : public testing::Test {
 protected:
  // Byte p of a picture's 3072 is (7 p + row) modulo 251.
  static int pixel(int64_t row, int64_t p) { return static_cast<int>((7 * p + row) % 251); }
  void write(const std::string& name, int64_t first, int64_t rows, const std::vector<int>& labels) const {
    std::ofstream out(folder_ / name, std::ios::binary);
    for (int64_t row = first; row < first + rows; ++row) {
      for (const int label : labels) out.put(static_cast<char>((label + row) % 256));
      for (int64_t p = 0; p < 3072; ++p) out.put(static_cast<char>(pixel(row, p)));
    }
  }
  static ReaderRequest request(const std::string& kind, std::vector<ColumnRequest> columns) {
    return {.op = "cifar",
            .columns = std::move(columns),
            .settings = {{"files", std::vector<std::string>{"a.bin", "b.bin"}, {}},
                         {"kind", std::vector<std::string>{kind}, {}}},
            .where = {}};
  }
  std::string message(const ReaderRequest& r) const {
    try {
      read_table_header(r, folder_);
      read_table(r, folder_);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return "read";
  }

  TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

ColumnRequest image(std::vector<int64_t> dims) { return {"x", {{"image"}}, "f32", std::move(dims), 0, false, {}}; }
ColumnRequest label(const std::string& word, int64_t classes) { return {"y", {{word}}, "i32", {}, classes, false, {}}; }

TEST_F(Cifar, PixelsAndLabelsOfSeveralFiles) {
  write("a.bin", 0, 3, {2});
  write("b.bin", 3, 2, {2});
  for (const int64_t resident : {int64_t{1} << 30, int64_t{0}}) {
    ReaderRequest r = request("cifar10", {image({32, 32, 3}), label("label", 10)});
    r.resident = resident;
    EXPECT_EQ(read_table_header(r, folder_).rows, 5);
    const Table table = read_table(r, folder_);
    const auto x = table.columns[0].content(), y = table.columns[1].content();
    for (int64_t row = 0; row < 5; ++row) {
      EXPECT_EQ(std::to_integer<int>(y[static_cast<size_t>(row)]), 2 + row);
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t i = 0; i < 1024; ++i)
          ASSERT_EQ(std::to_integer<int>(x[static_cast<size_t>(row * 3072 + i * 3 + c)]), pixel(row, c * 1024 + i));
    }
  }
}

TEST_F(Cifar, PlanesStayPlanes) {
  write("a.bin", 0, 1, {5, 90});
  write("b.bin", 1, 1, {5, 90});
  const Table table = read_table(request("cifar100", {image({3, 32, 32}), label("fine", 100)}), folder_);
  EXPECT_EQ(std::to_integer<int>(table.columns[0].content()[3072 + 1024]), pixel(1, 1024));
  EXPECT_EQ(std::to_integer<int>(table.columns[1].content()[1]), 91);
  EXPECT_EQ(
      std::to_integer<int>(read_table(request("cifar100", {label("coarse", 20)}), folder_).columns[0].content()[1]), 6);
}

TEST_F(Cifar, WhatCannotBeIsRefused) {
  write("a.bin", 0, 2, {9});
  write("b.bin", 0, 1, {1});
  const auto good = [] { return std::vector<ColumnRequest>{image({32, 32, 3}), label("label", 10)}; };
  EXPECT_EQ(message(request("cifar10", good())), "a.bin: record 1 has the label 10, expected 0 ... 9: is it cifar10?");
  EXPECT_EQ(message(request("cifar100", {label("fine", 100)})),
            "a.bin: 6146 bytes are no whole number of records of 3074 bytes");
  EXPECT_EQ(message(request("cifar10", {label("fine", 100)})), "cifar10 holds \"image\" and \"label\", not \"fine\"");
  EXPECT_EQ(message(request("cifar10", {image({28, 28, 1})})), "image: rows are [32,32,3], input 'x' takes [28,28,1]");
  std::ofstream(folder_ / "a.bin", std::ios::trunc).close();
  EXPECT_EQ(message(request("cifar10", good())), "a.bin: 0 bytes are no whole number of records of 3073 bytes");
  fs::remove(folder_ / "a.bin");
  EXPECT_NE(message(request("cifar10", good())).find("a.bin: No such file or directory"), std::string::npos);
}

// Inputs that name the files take what their shape says.
TEST_F(Cifar, InputsMayNameTheFiles) {
  write("a.bin", 0, 3, {2});
  write("b.bin", 3, 2, {2});
  const auto named = [](const std::string& kind, const std::string& picture, const std::string& number) {
    ReaderRequest r = request(kind, {image({32, 32, 3}), label(number, 10)});
    r.columns[0].sources = {{picture}};
    r.settings.erase(r.settings.begin());
    return r;
  };
  const Table expected = read_table(request("cifar10", {image({32, 32, 3}), label("label", 10)}), folder_);
  const Table found = read_table(named("cifar10", "*.bin", "*.bin"), folder_);
  ASSERT_EQ(found.rows, 5);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(std::ranges::equal(found.columns[i].content(), expected.columns[i].content()));
  EXPECT_EQ(message(named("cifar10", "a.bin", "b.bin")),
            "'a.bin' for input 'x', 'b.bin' for input 'y': a record holds both, so they have the same files");
  EXPECT_EQ(message(named("cifar100", "a.bin", "a.bin")), "cifar100 has two labels: which of them is input 'y'?");
}

}  // namespace
}  // namespace heddle::runtime::data
