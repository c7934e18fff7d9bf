// Tables of text that change between the readers' two passes: neither rows of zeros nor rows without room.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "runtime/data/table.h"
#include "runtime/files/temporary.h"
#include "tests/support/text_files.h"

namespace {

// What happens when a file of this name is opened once more: at 0 it gets the other text.
constexpr const char* kName = "changing.txt";
std::atomic<int> opens_left{-1};
std::string other_text;

}  // namespace

// The readers open their files by it. What it is otherwise, the C library's or the sanitizer's, comes next.
extern "C" FILE* fopen(const char* path, const char* mode) {
  static const auto next = reinterpret_cast<FILE* (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "fopen"));
  if (std::filesystem::path(path).filename() == kName && opens_left >= 0 && opens_left-- == 0)
    heddle::testing::write_text(path, other_text);
  return next(path, mode);
}

namespace heddle::runtime::data {
namespace {

class ChangedText : public ::testing::Test {
 protected:
  ~ChangedText() override { opens_left = -1; }
  // What is said where the text is another one from the open number `at` on; opens are counted from 0.
  std::string message(const ReaderRequest& request, const std::string& text, const std::string& other, int at) {
    testing::write_text(folder_.path() + "/" + kName, text);
    other_text = other, opens_left = at;
    try {
      read_table(request, folder_.path());
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message;
    }
    return opens_left < 0 ? "read" : "opened less often";
  }

  TemporaryFolder folder_;
  const std::vector<ReaderSetting> file_ = {{"file", std::vector<std::string>{kName}, {}}};
};

TEST_F(ChangedText, OfCsvIsRefused) {
  const ReaderRequest csv = {
      .op = "csv", .columns = {{"x", {{"a"}}, "f32", {}, 0, false, {}}}, .settings = file_, .where = {}};
  const std::string three = "a\n1\n2\n3\n";
  for (const char* other : {"a\n1\n2\n", "a\n", "", "a\n1\n2\n3\n4\n"})
    EXPECT_EQ(message(csv, three, other, 2), "changing.txt: changed while it was read") << other;
  EXPECT_EQ(message(csv, three, "a\n4\n5\n6\n", 2), "read");
}

TEST_F(ChangedText, OfLibsvmIsRefused) {
  const ReaderRequest libsvm = {
      .op = "libsvm", .columns = {{"x", {{"features"}}, "f32", {2}, 0, false, {}}}, .settings = file_, .where = {}};
  const std::string two = "1 1:1\n1 2:1\n";
  for (const char* other : {"1 1:1\n", "", "1 1:1\n1 2:1\n1 2:2\n"})
    EXPECT_EQ(message(libsvm, two, other, 1), "changing.txt: changed while it was read") << other;
  EXPECT_EQ(message(libsvm, two, "1 1:2\n1 2:3\n", 1), "read");
}

}  // namespace
}  // namespace heddle::runtime::data
