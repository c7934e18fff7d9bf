#include "frontend/json/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/limits.h"
#include "runtime/files/temporary.h"
#include "tests/support/source_dir.h"

namespace heddle::frontend {
namespace {

namespace fs = std::filesystem;

std::string covered(const Location& where) { return where.file->text.substr(where.begin, where.end - where.begin); }

// "line:column message" of the first error, or "" where the text is accepted.
std::string fault(const std::string& text) {
  const SourceFile file{"m.json", text};
  try {
    parse_json(file);
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    if (!d.where.valid()) return d.message;
    const LineColumn at = line_column(d.where);
    return fmt::format("{}:{} {}", at.line, at.column, d.message);
  }
  return "";
}

// Each value and key knows the bytes it was read from, whatever stands around it.
TEST(Json, Ranges) {
  const SourceFile file{"m.json", "// c\n{\"a\\\"b\": [1, -2.5e3 , true],\n \"c\" : {\"d\": \"x\\\\\"}, \"e\": null}"};
  const Json root = parse_json(file);
  ASSERT_EQ(root.items.size(), 3U);
  EXPECT_EQ(covered(root.where), file.text.substr(5));
  const Json& list = root.items[0];
  EXPECT_EQ(list.key, "a\"b");
  EXPECT_EQ(covered(list.key_where), "\"a\\\"b\"");
  EXPECT_EQ(covered(list.where), "[1, -2.5e3 , true]");
  EXPECT_EQ(covered(list.items[0].where), "1");
  EXPECT_EQ(covered(list.items[1].where), "-2.5e3");
  EXPECT_EQ(covered(list.items[2].where), "true");
  EXPECT_EQ(covered(root.find("c")->find("d")->where), "\"x\\\\\"");
  EXPECT_EQ(root.find("c")->find("d")->text, "x\\");
  EXPECT_EQ(covered(root.find("e")->where), "null");
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Json, NumbersKeepTheirKind) {
  const SourceFile file{"m.json", "[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e2]"};
  const Json root = parse_json(file);
  EXPECT_EQ(as_integer(root.items[0], "x"), INT64_MAX);
  EXPECT_EQ(as_integer(root.items[1], "x"), INT64_MIN);
  EXPECT_EQ(root.items[2].kind, Json::Kind::big);
  EXPECT_THROW(as_integer(root.items[2], "x"), UserError);
  EXPECT_THROW(as_real(root.items[2], "x"), UserError);
  EXPECT_THROW(as_integer(root.items[3], "x"), UserError);  // 1.0 is no integer
  EXPECT_EQ(as_real(root.items[4], "x"), 100.0);
  EXPECT_THROW(as_real(root.items[0], "x"), UserError);  // 2^63 - 1 is no exact double
}

TEST(Json, Faults) {
  EXPECT_EQ(fault("{\"a\": 1, \"b\": 2, \"a\": 3}"), "1:18 the key 'a' is given twice");
  EXPECT_EQ(fault("[1,\n 18446744073709551616]"), "2:2 integer does not fit in 64 bits");
  EXPECT_EQ(fault("[1e999]").substr(0, 3), "1:6");
  EXPECT_EQ(fault("[1] x").substr(0, 3), "1:5");
  EXPECT_EQ(fault("\"\xff\""), "1:2 not valid UTF-8");
  EXPECT_EQ(fault("// \xc3\x28\n1"), "1:4 not valid UTF-8");
  EXPECT_EQ(fault("\"\xed\xa0\x80\""), "1:2 not valid UTF-8");  // a surrogate
  EXPECT_NE(fault(""), "");
  EXPECT_EQ(fault("{\"a\": [1, 2,]}"), "1:13 syntax error in value: unexpected ']'; expected '[', '{', or a literal");
}

TEST(Json, NestingIsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(fault(nested(kMaxNesting)), "");
  EXPECT_EQ(fault(nested(kMaxNesting + 1)), "1:257 nesting deeper than 256");
  EXPECT_EQ(fault(std::string(1'000'000, '[')), "1:257 nesting deeper than 256");
}

TEST(Json, ValuesAreBounded) {
  std::string text = "[0";
  for (size_t i = 0; i < kMaxValues; ++i) text += ",0";
  EXPECT_NE(fault(text + "]").find("more than 500000 values"), std::string::npos);
}

TEST(Json, QuotedTextIsSafeToPrint) {
  EXPECT_EQ(quote("a\nb\x1b'\\"), "'a\\x0ab\\x1b\\'\\\\'");
  EXPECT_EQ(quote(std::string(70, 'x')), "'" + std::string(60, 'x') + "...'");
}

// --- JSONTestSuite (Seriot, MIT): y_ must be accepted, n_ refused; i_ is the implementation's choice.
// -----------------------

fs::path cases_folder() {
  if (const char* given = std::getenv("HEDDLE_CASES")) return given;
  return testing::source_dir() / "../shared/cases";
}

std::string read_bytes(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

// Against the suite, on purpose: keys given twice are errors, comments are not.
bool should_accept(const std::string& name) {
  static const std::vector<std::string> doubled = {"y_object_duplicated_key.json",
                                                   "y_object_duplicated_key_and_value.json"};
  static const std::vector<std::string> commented = {"n_structure_object_with_comment.json",
                                                     "n_object_trailing_comment.json",
                                                     "n_object_trailing_comment_slash_open.json"};
  const auto in = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return name[0] == 'y' ? !in(doubled) : in(commented);
}

TEST(Json, JsonTestSuite) {
  const fs::path archive = cases_folder() / "jsontestsuite.tar.gz";
  if (!fs::exists(archive)) GTEST_SKIP() << archive << " is not there; set HEDDLE_CASES";
  const runtime::TemporaryFolder folder;
  const std::string command = fmt::format("tar -xzf '{}' -C '{}'", archive.string(), folder.path());
  ASSERT_EQ(std::system(command.c_str()), 0);
  int accepted = 0, refused = 0, free = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(folder.path()) / "test_parsing")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json") continue;
    const std::string why = fault(read_bytes(entry.path()));
    if (name[0] == 'i') {
      ++free;
      continue;
    }
    EXPECT_EQ(why.empty(), should_accept(name)) << name << ": " << why;
    ++(why.empty() ? accepted : refused);
  }
  EXPECT_EQ(accepted, 96);  // 95 y_ less 2 with doubled keys, plus 3 n_ with comments
  EXPECT_EQ(refused, 187);  // 188 n_ less 3, plus 2
  EXPECT_EQ(free, 35);
}

}  // namespace
}  // namespace heddle::frontend
