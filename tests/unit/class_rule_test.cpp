// Names that are rare: which are classes of their own, and which number all others have.
#include "runtime/data/class_rule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime::data {
namespace {

using Words = std::vector<std::string>;

TEST(ClassRule, RareNamesAreOne) {
  const FoundNames found = {{"a", {0, 3}}, {"b", {1, 1}}, {"c", {2, 2}}, {"rest", {3, 1}}};
  EXPECT_EQ(ClassRule{}.classes(found), (Words{"a", "b", "c", "rest"}));
  EXPECT_EQ((ClassRule{.min_count = 2, .other = "rest"}.classes(found)), (Words{"a", "c", "rest"}));
  EXPECT_EQ((ClassRule{.min_count = 1, .other = "none"}.classes(found)), (Words{"a", "b", "c", "rest", "none"}));
  EXPECT_EQ((ClassRule{.min_count = 9, .other = "all"}.classes(found)), (Words{"all"}));
}

TEST(ClassRule, Settings) {
  const ReaderSetting sorted{"classes", ClassNames{{"y", {}}}, {}},
      listed{"classes", ClassNames{{"y", {"a", "b"}}}, {}}, least{"min_count", int64_t{2}, {}},
      rest{"other", Words{"b"}, {}}, unknown{"other", Words{"rest"}, {}};
  EXPECT_EQ(class_rule({sorted}).min_count, 1);
  EXPECT_EQ(class_rule({sorted, least, rest}).other, "b");
  EXPECT_EQ(class_rule({listed, rest}).other, "b");
  EXPECT_THROW(class_rule({sorted, least}), UserError);
  EXPECT_THROW(class_rule({listed, unknown}), UserError);
  EXPECT_THROW(class_rule({rest}), UserError);
  EXPECT_THROW(class_rule({sorted, {"other", Words{""}, {}}}), UserError);
}

// Rows that do not train are not counted, and their own names are of the last class.
TEST(ClassRule, TablesCountRowsThatTrain) {
  const TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  std::ofstream(root / "t.csv") << "y\na\nb\na\nb\nd\nc\n";
  std::ofstream(root / "t.jsonl") << "{\"y\": \"a\"}\n{\"y\": \"b\"}\n{\"y\": \"a\"}\n{\"y\": \"b\"}\n{\"y\": \"d\"}\n"
                                     "{\"y\": \"c\"}\n";
  for (const bool csv : {true, false}) {
    ReaderRequest request{.op = csv ? "csv" : "json_lines",
                          .columns = {{"y", {{"y"}}, "i32", {}, 0, false, {}}},
                          .settings = {{"file", Words{csv ? "t.csv" : "t.jsonl"}, {}},
                                       {"classes", ClassNames{{"y", {}}}, {}},
                                       {"min_count", int64_t{2}, {}},
                                       {"other", Words{"rest"}, {}}},
                          .where = {}};
    request.held = std::make_shared<const std::vector<uint8_t>>(std::vector<uint8_t>{0, 0, 0, 1, 0, 1});
    const TableHeader header = read_table_header(request, root);
    EXPECT_EQ(header.class_names.at(0), (Words{"a", "rest"}));
    EXPECT_TRUE(header.strange.empty());
    request.held = nullptr;
    request.columns[0].class_names = header.class_names[0];
    const Table table = read_table(request, root);
    int32_t y[6];
    ASSERT_EQ(table.columns.at(0).content().size(), sizeof y);
    std::memcpy(y, table.columns.at(0).content().data(), sizeof y);
    EXPECT_EQ(std::vector<int32_t>(y, y + 6), (std::vector<int32_t>{0, 1, 0, 1, 1, 1}));
  }
}

}  // namespace
}  // namespace heddle::runtime::data
