// Drawn rows: what the kinds promise of them.
#include "runtime/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "runtime/data/drawn/digits.h"
#include "runtime/data/shapes.h"

namespace heddle::runtime::data {
namespace {

ColumnRequest column(const std::string& source, std::vector<int64_t> dims, int64_t classes = 0,
                     bool looked_up = false) {
  ColumnRequest c{
      .input = source, .sources = {{source}}, .dtype = "f32", .dims = std::move(dims), .classes = classes, .where = {}};
  c.looked_up = looked_up;
  return c;
}

ReaderRequest request(const std::string& kind, std::vector<ColumnRequest> columns, int64_t rows, int64_t seed = 7,
                      bool held_out = false) {
  return {.op = "synthetic",
          .columns = std::move(columns),
          .settings = {{"kind", std::vector<std::string>{kind}, {}},
                       {"rows", rows, {}},
                       {"seed", seed, {}},
                       {"held_out", held_out, {}}},
          .where = {}};
}

template <class T>
std::vector<T> elements(const Column& c) {
  std::vector<T> out(c.bytes.size() / sizeof(T));
  std::memcpy(out.data(), c.bytes.data(), c.bytes.size());
  return out;
}

template <class T>
std::vector<T> drawn(const ReaderRequest& r, size_t i) {
  return elements<T>(draw_table(r).columns.at(i));
}

std::string error_of(const ReaderRequest& r) {
  try {
    draw_table(r);
  } catch (const UserError& error) {
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

// The box is that of the pixels inside, within a pixel, and a shape stays within its radius.
TEST(Shapes, BoxesAreThoseOfTheMasks) {
  for (int64_t row = 0; row < 200; ++row) {
    const Scene scene = draw_scene(3, row, 48, 48, 1);
    ASSERT_EQ(scene.shapes.size(), 1U);
    const Box box = bounds(scene.shapes[0]);
    const std::vector<uint8_t> inside = mask(scene, 48, 48);
    float left = 48, right = 0, top = 48, bottom = 0;
    for (int i = 0; i < 48 * 48; ++i) {
      if (inside[static_cast<size_t>(i)] == 0) continue;
      const auto x = static_cast<float>(i % 48), y = static_cast<float>(i / 48);
      left = std::min(left, x), right = std::max(right, x + 1), top = std::min(top, y),
      bottom = std::max(bottom, y + 1);
    }
    // Pointed corners hold no pixel's middle: a triangle's tip of 60 degrees is a pixel wide after 1.7 of them.
    constexpr float kTip = 2;
    EXPECT_NEAR(left, box.left, kTip) << row;
    EXPECT_NEAR(right, box.right, kTip) << row;
    EXPECT_NEAR(top, box.top, kTip) << row;
    EXPECT_NEAR(bottom, box.bottom, kTip) << row;
    EXPECT_LE(box.right - box.left, 2 * scene.shapes[0].radius + 1e-3F);
    EXPECT_GE(std::min(box.left, box.top), -1e-3F);
    EXPECT_LE(std::max(box.right, box.bottom), 48 + 1e-3F);
  }
}

TEST(Shapes, ScenesDoNotOverlap) {
  std::vector<int> counts(5);
  for (int64_t row = 0; row < 300; ++row) {
    const Scene scene = draw_scene(3, row, 40, 40, 4);
    ++counts[scene.shapes.size()];
    for (size_t i = 0; i < scene.shapes.size(); ++i)
      for (size_t k = 0; k < i; ++k) {
        const Shape &a = scene.shapes[i], &b = scene.shapes[k];
        EXPECT_GT(std::hypot(a.x - b.x, a.y - b.y), a.radius + b.radius);
      }
  }
  for (size_t n = 1; n <= 4; ++n) EXPECT_GT(counts[n], 20) << n << " shapes";
}

struct Overlap {
  int64_t common = 0, either = 0;
  void add(bool found, bool there) {
    common += found && there ? 1 : 0;
    either += found || there ? 1 : 0;
  }
  double iou() const { return static_cast<double>(common) / static_cast<double>(either); }
};

// Neither one threshold for all pictures nor the best one of each, chosen by looking at its mask, finds the shapes.
TEST(Shapes, NoThresholdFindsThem) {
  constexpr int64_t kRows = 200, kPixels = 32 * 32;
  const Table table = draw_table(request("scenes", {column("image", {32, 32, 1}), column("mask", {32, 32})}, kRows));
  const auto image = elements<uint8_t>(table.columns[0]), inside = elements<uint8_t>(table.columns[1]);
  double best = 0, of_each = 0;
  std::vector<double> each(kRows, 0);
  for (const bool above : {false, true})
    for (int threshold = 0; threshold < 256; threshold += 4) {
      Overlap all;
      for (int64_t row = 0; row < kRows; ++row) {
        Overlap own;
        for (int64_t i = row * kPixels; i < (row + 1) * kPixels; ++i) {
          const auto k = static_cast<size_t>(i);
          own.add((image[k] > threshold) == above, inside[k] == 1);
        }
        all.common += own.common, all.either += own.either;
        each[static_cast<size_t>(row)] = std::max(each[static_cast<size_t>(row)], own.iou());
      }
      best = std::max(best, all.iou());
    }
  for (const double iou : each) of_each += iou / kRows;
  RecordProperty("best_threshold_iou", std::to_string(best));
  RecordProperty("best_thresholds_of_each_iou", std::to_string(of_each));
  EXPECT_LE(best, 0.6);
  EXPECT_LE(of_each, 0.6);
  EXPECT_GT(best, 0.1);  // the mask is not empty
}

// On a grid each shape has its cell, its outline and its box.
TEST(Shapes, AGridSaysWhatIsWhere) {
  constexpr int64_t kRows = 100;
  const ReaderRequest r =
      request("scenes", {column("image", {40, 40}), column("cells", {5, 5}), column("boxes", {5, 5, 4})}, kRows);
  const auto cells = drawn<uint8_t>(r, 1);
  const auto boxes = drawn<float>(r, 2);
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<int> found(25, 0);
    for (const Shape& shape : draw_scene(7, row, 40, 40, 4).shapes) {
      const Box b = bounds(shape);
      const float x = (b.left + b.right) / 16, y = (b.top + b.bottom) / 16;
      const auto cell = static_cast<size_t>(y) * 5 + static_cast<size_t>(x);
      if (found[cell]++ != 0) continue;
      const size_t at = static_cast<size_t>(row) * 25 + cell;
      EXPECT_EQ(cells[at], 1 + static_cast<int>(shape.outline));
      EXPECT_FLOAT_EQ(boxes[at * 4], x - std::floor(x));
      EXPECT_FLOAT_EQ(boxes[at * 4 + 1], y - std::floor(y));
      EXPECT_FLOAT_EQ(boxes[at * 4 + 2], (b.right - b.left) / 8);
      EXPECT_FLOAT_EQ(boxes[at * 4 + 3], (b.bottom - b.top) / 8);
    }
    for (size_t cell = 0; cell < 25; ++cell) {
      const size_t at = static_cast<size_t>(row) * 25 + cell;
      EXPECT_EQ(cells[at] != 0, found[cell] != 0);
      EXPECT_EQ(boxes[at * 4 + 2] > 0, found[cell] != 0);
    }
  }
}

// A picture, its mask and its label are of one scene, whatever else is asked for.
TEST(Shapes, ColumnsAgree) {
  const std::vector<int64_t> dims = {32, 32, 3};
  const ReaderRequest all =
      request("shapes", {column("image", dims), column("mask", {32, 32}), column("label", {})}, 50);
  const auto labels = drawn<uint8_t>(all, 2), masks = drawn<uint8_t>(all, 1);
  EXPECT_EQ(drawn<uint8_t>(all, 0), drawn<uint8_t>(request("shapes", {column("image", dims)}, 50), 0));
  std::vector<int> counts(kOutlines);
  for (int64_t row = 0; row < 50; ++row) {
    const Scene scene = draw_scene(7, row, 32, 32, 1);
    EXPECT_EQ(labels[static_cast<size_t>(row)], static_cast<int>(scene.shapes.at(0).outline));
    EXPECT_TRUE(
        std::ranges::equal(mask(scene, 32, 32), std::span(masks).subspan(static_cast<size_t>(row) * 1024, 1024)));
    ++counts[labels[static_cast<size_t>(row)]];
  }
  EXPECT_GT(*std::ranges::min_element(counts), 0);
}

TEST(DigitPairs, HalfAreOfOneClass) {
  constexpr int64_t kRows = 400;
  const ReaderRequest r =
      request("digit_pairs", {column("first", {28, 28}), column("second", {28, 28}), column("same", {})}, kRows);
  const auto same = drawn<uint8_t>(r, 2);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(same, 1)), kRows / 2, 50);  // 5 deviations
  EXPECT_NE(drawn<uint8_t>(r, 0), drawn<uint8_t>(r, 1));
  EXPECT_EQ(same, drawn<uint8_t>(r, 2));
}

// Users and items are as many as the tables have, and each pair is liked as often as the truth says.
TEST(Ratings, FollowTheTruth) {
  constexpr int64_t kRows = 40000;
  const auto rows = [](int64_t seed) {
    return draw_table(request(
        "ratings",
        {column("user", {}, 20, true), column("item", {}, 30, true), column("liked", {}), column("probability", {})},
        kRows, seed));
  };
  const Table table = rows(7);
  const auto users = elements<int32_t>(table.columns[0]), items = elements<int32_t>(table.columns[1]);
  const auto liked = elements<uint8_t>(table.columns[2]);
  const auto truth = elements<float>(table.columns[3]);
  EXPECT_EQ(*std::ranges::min_element(users), 0);
  EXPECT_EQ(*std::ranges::max_element(users), 19);
  EXPECT_EQ(*std::ranges::max_element(items), 29);
  double counted[10] = {}, hits[10] = {}, expected[10] = {};
  for (size_t i = 0; i < kRows; ++i) {
    const auto k = static_cast<size_t>(10 * truth[i]);
    counted[k] += 1, hits[k] += liked[i], expected[k] += truth[i];
  }
  for (size_t k = 0; k < 10; ++k) {
    EXPECT_GT(counted[k], 500) << k;
    EXPECT_NEAR(hits[k] / counted[k], expected[k] / counted[k], 2.5 / std::sqrt(counted[k])) << k;  // 5 deviations
  }
  // Another seed rates other pairs; who likes what stays.
  const Table other = rows(8);
  const auto users2 = elements<int32_t>(other.columns[0]), items2 = elements<int32_t>(other.columns[1]);
  const auto truth2 = elements<float>(other.columns[3]);
  EXPECT_NE(users, users2);
  int compared = 0;
  for (size_t i = 0; i < 1000; ++i)
    for (size_t k = 0; k < 1000; ++k)
      if (users[i] == users2[k] && items[i] == items2[k]) {
        EXPECT_EQ(truth[i], truth2[k]);
        ++compared;
      }
  EXPECT_GT(compared, 100);
}

TEST(Synthetic, RefusesWhatItDoesNotDraw) {
  EXPECT_EQ(error_of(request("digits", {column("cells", {5, 5})}, 5)),
            "synthetic digits have \"image\", \"label\", not \"cells\"");
  EXPECT_EQ(
      error_of(request("digits", {column("image", {28, 28, 3})}, 5)),
      "synthetic digits are pictures [height,width] or [height,width,1] with sides of 8 to 512, input 'image' has "
      "[28,28,3]");
  EXPECT_EQ(error_of(request("shapes", {column("image", {4, 28, 3})}, 5)),
            "synthetic shapes are pictures [height,width] or [height,width,1 or 3] with sides of 8 to 512, input "
            "'image' has [4,28,3]");
  EXPECT_EQ(error_of(request("shapes", {column("label", {2})}, 5)),
            "\"label\" of synthetic shapes is one number a row, input 'label' has [2]");
  EXPECT_EQ(error_of(request("shapes", {column("label", {})}, 5)),
            "\"label\" of synthetic shapes belongs to a picture, of which no input is \"image\" or \"mask\"");
  EXPECT_EQ(error_of(request("scenes", {column("image", {32, 32}), column("mask", {16, 16})}, 5)),
            "the picture has 32 x 32 pixels, its mask, input 'mask', [16,16]");
  EXPECT_EQ(error_of(request("scenes", {column("image", {32, 32}), column("boxes", {4, 4, 3})}, 5)),
            "\"boxes\" of synthetic scenes is a grid [rows,columns,4], input 'boxes' has [4,4,3]");
  EXPECT_EQ(error_of(request("scenes", {column("image", {32, 32}), column("cells", {4})}, 5)),
            "\"cells\" of synthetic scenes is a grid [rows,columns], input 'cells' has [4]");
  EXPECT_EQ(error_of(request("ratings", {column("user", {})}, 5)),
            "synthetic ratings number users and items by the tables in which they are looked up, input 'user' finds "
            "nothing");
  EXPECT_EQ(error_of(request("digits", {column("image", {512, 512})}, 1'000'000)), "the rows exceed 64 GiB");
}

// Two marks, one in either half, and the sum of what they mark.
TEST(Adding, TheSumIsThatOfTheMarkedNumbers) {
  const ReaderRequest r = request("adding", {column("steps", {9, 2}), column("sum", {})}, 300);
  const Table table = draw_table(r);
  const std::vector<float> steps = elements<float>(table.columns[0]), sums = elements<float>(table.columns[1]);
  for (size_t row = 0; row < 300; ++row) {
    float sum = 0, first = 0, second = 0;
    for (size_t t = 0; t < 9; ++t) {
      const float number = steps[row * 18 + 2 * t], mark = steps[row * 18 + 2 * t + 1];
      EXPECT_TRUE(number >= 0 && number < 1);
      sum += number * mark;
      (t < 4 ? first : second) += mark;
    }
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 1);
    EXPECT_FLOAT_EQ(sums[row], sum);
  }
}
TEST(Adding, StepsHaveANumberAndAMark) {
  EXPECT_EQ(
      error_of(request("adding", {column("steps", {9, 3})}, 1)),
      "\"steps\" of synthetic adding are [steps,2], a number and its mark, with 2 to 100000 steps: input 'steps' has "
      "other sizes");
}

TEST(Points, AreUniformInTheUnitCube) {
  const Table table = draw_table(request("points", {column("point", {3}), column("point", {})}, 4000));
  const std::vector<float> points = elements<float>(table.columns[0]);
  ASSERT_EQ(points.size(), 12000U);
  for (size_t axis = 0; axis < 3; ++axis) {
    double sum = 0, squares = 0;
    for (size_t row = 0; row < 4000; ++row) {
      const float x = points[row * 3 + axis];
      EXPECT_TRUE(x >= 0 && x < 1);
      sum += x, squares += x * x;
    }
    EXPECT_NEAR(sum / 4000, 0.5, 0.02);
    EXPECT_NEAR(squares / 4000, 1 / 3.0, 0.02);
  }
  EXPECT_EQ(elements<float>(table.columns[1])[7], points[21]);
}
TEST(Points, AreNoPictures) {
  EXPECT_EQ(error_of(request("points", {column("point", {3, 2})}, 1)),
            "\"point\" of synthetic points is [coordinates], 1 to 1000 of them: input 'point' has other sizes");
}

std::string addition_text(const std::vector<uint8_t>& all, size_t row, size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i)
    if (const uint8_t c = all[row * length + i]; c > 0) text += c == 1 ? '+' : static_cast<char>('0' + c - 2);
  return text;
}

// The answers are right, and no pair of numbers is in both kinds of rows, in either order.
TEST(Additions, AreRightAndHoldPairsOut) {
  for (const int64_t digits : {1, 2, 3, 9}) {
    std::set<std::pair<int64_t, int64_t>> pairs[2];
    for (const bool held_out : {false, true}) {
      const int64_t rows = 500;
      const Table table = draw_table(request(
          "additions",
          {column("question", {2 * digits + 1}), column("answer", {digits + 1}), column("text", {3 * digits + 1})},
          rows, /*seed=*/7, held_out));
      const std::vector<uint8_t> questions = elements<uint8_t>(table.columns[0]),
                                 answers = elements<uint8_t>(table.columns[1]),
                                 texts = elements<uint8_t>(table.columns[2]);
      for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
        const std::string question = addition_text(questions, row, static_cast<size_t>(2 * digits + 1));
        const size_t of_question = static_cast<size_t>(2 * digits + 1), of_answer = static_cast<size_t>(digits + 1);
        std::vector<uint8_t> both(questions.begin() + static_cast<ptrdiff_t>(row * of_question),
                                  questions.begin() + static_cast<ptrdiff_t>((row + 1) * of_question));
        both.insert(both.end(), answers.begin() + static_cast<ptrdiff_t>(row * of_answer),
                    answers.begin() + static_cast<ptrdiff_t>((row + 1) * of_answer - 1));
        EXPECT_TRUE(std::equal(both.begin(), both.end(), texts.begin() + static_cast<ptrdiff_t>(row * both.size())));
        const size_t plus = question.find('+');
        ASSERT_NE(plus, std::string::npos);
        const int64_t a = std::stoll(question.substr(0, plus)), b = std::stoll(question.substr(plus + 1));
        EXPECT_EQ(addition_text(answers, row, static_cast<size_t>(digits + 1)), std::to_string(a + b));
        pairs[held_out ? 1 : 0].emplace(std::min(a, b), std::max(a, b));
      }
    }
    for (const auto& pair : pairs[1]) EXPECT_EQ(pairs[0].count(pair), 0U) << digits;
    EXPECT_GT(pairs[1].size(), 1U);
  }
}
TEST(Additions, BothRowsAreOfOneNumberOfDigits) {
  EXPECT_EQ(error_of(request("additions", {column("question", {7}), column("answer", {3})}, 1)),
            "synthetic additions of numbers of d digits are questions [2 d + 1], answers [d + 1] and texts [3 d + 1], "
            "d from 1 "
            "to 9: input 'answer' has another size");
}

// Verbs agree: behind a subject of one, or of many, and another noun.
TEST(Sentences, NextFollowsTheWindow) {
  const Table table = draw_table(request("sentences", {column("window", {40}), column("next", {40})}, 200));
  const std::vector<uint8_t> window = elements<uint8_t>(table.columns[0]), next = elements<uint8_t>(table.columns[1]);
  for (size_t row = 0; row < 200; ++row)
    for (size_t i = 0; i + 1 < 40; ++i) EXPECT_EQ(window[row * 40 + i + 1], next[row * 40 + i]);
  EXPECT_LE(*std::ranges::max_element(window), 27);
}
TEST(Sentences, HeldOutRowsAreOthers) {
  std::set<std::string> first;
  for (const bool held_out : {false, true}) {
    const Table table = draw_table(request("sentences", {column("window", {200})}, 100, /*seed=*/7, held_out));
    const std::vector<uint8_t> window = elements<uint8_t>(table.columns[0]);
    const std::string text(window.begin(), window.end());
    EXPECT_TRUE(first.insert(text).second);
  }
}
constexpr int64_t kSide = 16;
ReaderRequest volumes(int64_t rows, int64_t seed = 7) {
  return request("volumes", {column("volume", {kSide, kSide, kSide, 1}), column("mask", {kSide, kSide, kSide})}, rows,
                 seed);
}

// What is inside differs from the rest in most volumes, to either side: no threshold of all volumes finds it.
TEST(Volumes, ThingsDifferFromTheGroundToBothSides) {
  constexpr size_t kRows = 200, kVoxels = kSide * kSide * kSide;
  const auto voxels = drawn<uint8_t>(volumes(kRows), 0), labels = drawn<uint8_t>(volumes(kRows), 1);
  std::array<size_t, 3> counts = {};
  size_t brighter = 0, darker = 0;
  for (size_t row = 0; row < kRows; ++row) {
    std::array<double, 2> sum = {}, count = {};
    for (size_t i = row * kVoxels; i < (row + 1) * kVoxels; ++i) {
      ASSERT_LE(labels[i], 2);
      ++counts[labels[i]];
      sum[labels[i] != 0] += voxels[i], count[labels[i] != 0] += 1;
    }
    if (count[1] == 0) continue;
    const double difference = sum[1] / count[1] - sum[0] / count[0];
    brighter += difference > 20, darker += difference < -20;
  }
  EXPECT_GT(brighter, kRows / 4);
  EXPECT_GT(darker, kRows / 4);
  for (const size_t label : {size_t{1}, size_t{2}}) {
    EXPECT_GT(counts[label], kRows * kVoxels / 50);
    EXPECT_LT(counts[label], kRows * kVoxels / 8);
  }
}

// Of its box a ball fills half, pi / 6; a rod in any direction less.
TEST(Volumes, BallsAreRoundAndRodsAreLong) {
  constexpr size_t kRows = 300, kVoxels = kSide * kSide * kSide;
  const auto labels = drawn<uint8_t>(volumes(kRows), 1);
  std::array<std::vector<double>, 3> filled;  // of their box, by label
  for (size_t row = 0; row < kRows; ++row) {
    const std::span all(labels.data() + row * kVoxels, kVoxels);
    const std::set<uint8_t> kinds(all.begin(), all.end());
    if (kinds.size() != 2) continue;  // one kind of things
    std::array<size_t, 3> low = {kSide, kSide, kSide}, high = {};
    for (size_t i = 0; i < kVoxels; ++i) {
      if (all[i] == 0) continue;
      const std::array<size_t, 3> at = {i / (kSide * kSide), i / kSide % kSide, i % kSide};
      for (size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], at[k]), high[k] = std::max(high[k], at[k] + 1);
    }
    const double box = static_cast<double>((high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]));
    const auto inside = static_cast<double>(std::ranges::count_if(all, [](uint8_t label) { return label != 0; }));
    filled[*kinds.rbegin()].push_back(inside / box);
  }
  const auto mean = [](const std::vector<double>& of) {
    double sum = 0;
    for (const double x : of) sum += x;
    return sum / static_cast<double>(of.size());
  };
  ASSERT_GT(filled[1].size(), 30U);
  ASSERT_GT(filled[2].size(), 30U);
  EXPECT_GT(mean(filled[1]), mean(filled[2]) + 0.1);
}

TEST(Volumes, ARowIsAFunctionOfSeedAndNumber) {
  const auto three = drawn<uint8_t>(volumes(3), 0), ten = drawn<uint8_t>(volumes(10), 0);
  EXPECT_TRUE(std::equal(three.begin(), three.end(), ten.begin()));
  EXPECT_NE(drawn<uint8_t>(volumes(3, /*seed=*/8), 0), three);
  EXPECT_EQ(drawn<uint8_t>(request("volumes", {column("volume", {kSide, kSide, kSide})}, 3), 0), three);
}

TEST(Volumes, OtherSizesAreRefused) {
  EXPECT_EQ(error_of(request("volumes", {column("volume", {7, 16, 16})}, 1)),
            "synthetic volumes are [depth,height,width] or [depth,height,width,1] with sides of 8 to 128, input "
            "'volume' has [7,16,16]");
  EXPECT_EQ(error_of(request("volumes", {column("volume", {8, 8, 8}), column("mask", {8, 8, 9})}, 1)),
            "\"volume\" and \"mask\" of synthetic volumes have the same sides: input 'volume' has [8,8,8], 'mask' "
            "[8,8,9]");
}

TEST(HeldOut, IsRefusedWhereNothingIs) {
  EXPECT_EQ(error_of(request("digits", {column("image", {28, 28})}, 1, /*seed=*/7, /*held_out=*/true)),
            "synthetic digits hold nothing out: no rows of them are kept from others");
}

}  // namespace
}  // namespace heddle::runtime::data
