// Validation rows that are drawn: which rows they are, by class and by group, and what names then come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "frontend/read/read_model.h"
#include "runtime/data/draw_rows.h"
#include "runtime/files/temporary.h"
#include "tools/driver/load_data.h"

namespace heddle {
namespace {

using runtime::data::draw_rows;
using runtime::data::DrawRequest;
using Marks = std::vector<uint8_t>;

int64_t count(const Marks& marks) { return std::accumulate(marks.begin(), marks.end(), int64_t{0}); }

// Marked rows of each kind.
std::vector<int64_t> by_kind(const Marks& marks, const std::vector<uint32_t>& kinds) {
  std::vector<int64_t> rows(*std::max_element(kinds.begin(), kinds.end()) + 1);
  for (size_t i = 0; i < marks.size(); ++i) rows[kinds[i]] += marks[i];
  return rows;
}

TEST(DrawRows, AreAFunctionOfTheSeed) {
  const DrawRequest request{.rows = 1000, .fraction = 0.1, .seed = 1};
  EXPECT_EQ(count(draw_rows(request)), 100);
  EXPECT_EQ(draw_rows(request), draw_rows(request));
  DrawRequest other = request;
  other.seed = 2;
  EXPECT_NE(draw_rows(request), draw_rows(other));
  // Each row is as likely as any other: of 400 seeds some 40 take it, with a deviation of 6.
  std::vector<int64_t> taken(100);
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Marks marks = draw_rows({.rows = 100, .fraction = 0.1, .seed = seed});
    for (size_t i = 0; i < marks.size(); ++i) taken[i] += marks[i];
  }
  for (const int64_t n : taken) EXPECT_NEAR(static_cast<double>(n), 40, 30);
}

TEST(DrawRows, GiveEachClassItsShare) {
  std::vector<uint32_t> classes(1000);
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = i < 700 ? 0 : i < 990 ? 1 : 2;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Marks marks = draw_rows({.rows = 1000, .fraction = 0.1, .seed = seed, .classes = {classes, 3}});
    EXPECT_EQ(by_kind(marks, classes), (std::vector<int64_t>{70, 29, 1}));
  }
  // To the nearest row: 0.15 of 10 are 1.5.
  const std::vector<uint32_t> one(10);
  EXPECT_EQ(count(draw_rows({.rows = 10, .fraction = 0.15, .seed = 3, .classes = {one, 1}})), 2);
}

TEST(DrawRows, KeepGroupsTogether) {
  std::vector<uint32_t> groups(1000), classes(1000);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<uint32_t>(i * 7 % 50), classes[i] = groups[i] % 2;
  for (const bool by_class : {false, true})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      DrawRequest request{.rows = 1000, .fraction = 0.2, .seed = seed, .groups = {groups, 50}};
      if (by_class) request.classes = {classes, 2};
      const Marks marks = draw_rows(request);
      for (const int64_t rows : by_kind(marks, groups)) EXPECT_TRUE(rows == 0 || rows == 20) << rows;
      EXPECT_EQ(count(marks), 200);
      if (by_class) {
        EXPECT_EQ(by_kind(marks, classes), (std::vector<int64_t>{100, 100}));
      }
    }
}

TEST(DrawRows, TakeWhatComesNearest) {
  // A group of 90 rows and ten of one: a tenth are the ten.
  std::vector<uint32_t> groups(100);
  for (size_t i = 90; i < 100; ++i) groups[i] = static_cast<uint32_t>(i - 89);
  const Marks marks = draw_rows({.rows = 100, .fraction = 0.1, .seed = 5, .groups = {groups, 11}});
  EXPECT_EQ(count(marks), 10);
  EXPECT_EQ(marks[0], 0);
}

TEST(DrawRows, LeaveKeptRows) {
  Marks kept(100);
  for (size_t i = 0; i < 50; ++i) kept[i] = 1;
  const Marks marks = draw_rows({.rows = 100, .fraction = 0.3, .seed = 5, .kept = kept});
  EXPECT_EQ(count(marks), 30);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(marks[i], 0) << i;
}

// A model of a table whose label is a number or a name, and what its data are.
class DrawnValidation : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(folder_.path() + "/t.csv") << text; }
  driver::Splits load(const std::string& validation, const std::string& label = R"("label": "kind")") {
    const std::string text =
        R"({"format": "heddle-model/1", "name": "m",
            "inputs": {"x": {"shape": ["N", 1]}, "label": {"shape": ["N"], "dtype": "i32"}},
            "nodes": [{"name": "logits", "op": "dense", "in": "x", "units": 40}],
            "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "cross_entropy", "in": ["logits", "label"]}, "optimizer": "sgd"},
            "data": {"train": {"op": "csv", "file": "t.csv", "x": "x", )" +
        label + R"(}, "validation": )" + validation + "}}";
    const frontend::Model model = frontend::read_model(sources_, sources_.add("m.json", text));
    const frontend::TrainingPlan plan = frontend::plan_training(model);
    const driver::DataRequest request{.plan = &plan, .root = folder_.path(), .train = true};
    header_ = driver::read_headers(request);
    driver::Splits splits = driver::load_splits(request, header_);
    EXPECT_EQ(splits.train->rows(), header_.rows.train);
    EXPECT_EQ(splits.validation->rows(), header_.rows.validation);
    return splits;
  }
  std::string error(const std::string& validation, const std::string& label = R"("label": "kind")") {
    try {
      load(validation, label);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  }
  // The values of x, which are the rows' numbers.
  static std::vector<int64_t> rows(const runtime::Split& split) {
    const runtime::data::Column& x = *split.table.find("x");
    std::vector<float> values(static_cast<size_t>(split.rows()));
    EXPECT_EQ(x.content().size(), values.size() * sizeof(float));
    std::memcpy(values.data(), x.content().data(), x.content().size());
    return {values.begin(), values.end()};
  }

  frontend::Sources sources_;
  runtime::TemporaryFolder folder_;
  driver::DataHeader header_;
};

// 60 rows of three classes, sorted, each patient with three rows of one class.
std::string sorted_table() {
  std::string text = "x,kind,patient\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + "," + std::to_string(i / 20) + ",p" + std::to_string(i / 3 % 20) + "\n";
  return text;
}

TEST_F(DrawnValidation, PartsTheRows) {
  write(sorted_table());
  const driver::Splits splits = load(R"({"fraction": 0.1, "draw": 1, "by": "label"})");
  std::vector<int64_t> train = rows(*splits.train), validation = rows(*splits.validation);
  ASSERT_EQ(validation.size(), 6U);
  std::map<int64_t, int> classes;
  for (const int64_t row : validation) ++classes[row / 20];
  EXPECT_EQ(classes, (std::map<int64_t, int>{{0, 2}, {1, 2}, {2, 2}}));
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  EXPECT_TRUE(std::is_sorted(validation.begin(), validation.end()));
  train.insert(train.end(), validation.begin(), validation.end());
  std::sort(train.begin(), train.end());
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(train[i], static_cast<int64_t>(i));
  // Columns move alike.
  const runtime::data::Column& label = *splits.validation->table.find("label");
  for (size_t i = 0; i < validation.size(); ++i) {
    int32_t value = 0;
    std::memcpy(&value, label.content().data() + i * sizeof value, sizeof value);
    EXPECT_EQ(value, validation[i] / 20);
  }
}

TEST_F(DrawnValidation, GroupsByAColumnThatFeedsNoInput) {
  write(sorted_table());
  for (const char* by : {"", R"(, "by": "label")"}) {
    const driver::Splits splits = load(std::string(R"({"fraction": 0.2, "draw": 4, "group": "patient")") + by + "}");
    const auto patient = [](int64_t row) { return row / 3 % 20; };
    std::set<int64_t> train, validation;
    for (const int64_t row : rows(*splits.train)) train.insert(patient(row));
    for (const int64_t row : rows(*splits.validation)) validation.insert(patient(row));
    for (const int64_t p : validation) EXPECT_FALSE(train.contains(p)) << p;
    EXPECT_EQ(splits.validation->rows(), 12);
  }
}

TEST_F(DrawnValidation, NamesComeFromTrainingRows) {
  std::string text = "x,kind,patient\n";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + (i % 2 == 0 ? ",ant,p\n" : ",bee,p\n");
  write(text + "20,cow,q\n");
  const char* names = R"("label": "kind", "classes": {"label": "sorted"})";
  // The row that alone has a name stays, whatever the seed: the training knows the name.
  for (int seed = 0; seed < 12; ++seed) {
    const driver::Splits splits = load(R"({"fraction": 0.3, "draw": )" + std::to_string(seed) + "}", names);
    EXPECT_EQ(header_.class_names.at(1), (std::vector<std::string>{"ant", "bee", "cow"}));
    EXPECT_EQ(rows(*splits.train).back(), 20);
    EXPECT_EQ(splits.validation->rows(), 6);
  }
  // The last rows are what they are.
  EXPECT_NE(error(R"({"fraction": 0.1})", names)
                .find("t.csv:22:4: column 'kind' of input 'label': 'cow' is none of the classes"),
            std::string::npos)
      << error(R"({"fraction": 0.1})", names);
}

TEST_F(DrawnValidation, IsRefusedWhereASideIsEmpty) {
  write(sorted_table());
  EXPECT_NE(error(R"({"fraction": 0.01, "draw": 1, "by": "label"})")
                .find("class 0 has 20 rows, and no validation row is of it"),
            std::string::npos);
  EXPECT_NE(error(R"({"fraction": 0.001, "draw": 1})").find("leaves the validation empty"), std::string::npos);
  EXPECT_NE(error(R"({"fraction": 0.5, "draw": 1, "group": "q"})").find("no column 'q'"), std::string::npos);
  EXPECT_NE(error(R"({"fraction": 0.5, "draw": 1, "by": "x"})")
                .find("by 'x': class 0 has 1 row, and no training row is of it"),
            std::string::npos)
      << error(R"({"fraction": 0.5, "draw": 1, "by": "x"})");
  write("x,kind,patient\n1,0,a\n2,0,a\n3,0,a\n4,1,a\n");
  EXPECT_NE(
      error(R"({"fraction": 0.3, "draw": 1, "by": "label"})").find("class 1 has 1 row, and no validation row is of it"),
      std::string::npos);
  const std::string grouped = error(R"({"fraction": 0.3, "draw": 1, "group": "patient"})");
  EXPECT_NE(grouped.find("leaves the validation empty; 'patient' makes 1 group of them"), std::string::npos) << grouped;
}

}  // namespace
}  // namespace heddle
