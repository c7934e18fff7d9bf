// Weights of other programs: types that become f32, prefixes of names, and what is said about both.
#include "runtime/weights/read_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime {
namespace {

template <class T>
void add(WeightsFile& file, const std::string& name, const std::string& dtype, const std::vector<T>& values) {
  const auto bytes = std::ssize(values) * static_cast<int64_t>(sizeof(T));
  std::memcpy(file.add(name, dtype, {std::ssize(values)}, bytes).data(), values.data(), static_cast<size_t>(bytes));
}

class ReadWeightsTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/w";
  WeightsFile file_;

  ReadWeights read(const std::string& prefix = {}) {
    write_safetensors(path_, file_);
    return read_weights(path_, prefix);
  }
  // The message behind the file's name, and the remedy.
  std::string error(const std::string& prefix = {}) {
    try {
      read(prefix);
    } catch (const UserError& error) {
      return error.diagnostics().at(0).message.substr(path_.size() + 2) + "; " + error.diagnostics().at(0).help;
    }
    return "read";
  }
  std::string note() { return read().note.substr(path_.size() + 2); }
  std::vector<float> floats(const std::string& name) {
    const WeightsFile file = read().file;
    const SavedTensor* t = file.find(name);
    EXPECT_EQ(t->dtype, "f32");
    std::vector<float> values(file.bytes(*t).size() / sizeof(float));
    std::memcpy(values.data(), file.bytes(*t).data(), file.bytes(*t).size());
    return values;
  }
};

// From the definition of the format, with `bits` of fraction and an exponent of 0 at `bias`.
double value_of(uint16_t word, int bits, int bias) {
  const int exponent = (word & 0x7fff) >> bits, most = 0x7fff >> bits, fraction = word & ((1 << bits) - 1);
  const double sign = word >> 15 ? -1 : 1;
  if (exponent == most) return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - bits);
  return sign * std::ldexp((1 << bits) + fraction, exponent - bias - bits);
}

TEST_F(ReadWeightsTest, ConvertsEveryNumberOf16Bits) {
  std::vector<uint16_t> words(65536);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint16_t>(i);
  add(file_, "half", "f16", words);
  add(file_, "brain", "bf16", words);
  const std::vector<float> half = floats("half"), brain = floats("brain");
  for (size_t i = 0; i < words.size(); ++i) {
    const double h = value_of(words[i], 10, 15), b = value_of(words[i], 7, 127);
    ASSERT_TRUE(std::isnan(h) ? std::isnan(half[i]) : half[i] == h) << i;
    ASSERT_TRUE(std::isnan(b) ? std::isnan(brain[i]) : brain[i] == b) << i;
    ASSERT_EQ(std::signbit(half[i]), i >= 32768) << i;
  }
}

TEST_F(ReadWeightsTest, RoundsDoublesAndRefusesWhatNoF32Holds) {
  constexpr double kMax = std::numeric_limits<float>::max();
  add<double>(file_, "w", "f64",
              {1.0 / 3, -0.0, kMax, std::nextafter(0x1.ffffffp127, 0), -HUGE_VAL, 0x1p-149, 0x1p-151, 1 + 0x1p-24});
  const std::vector<float> w = floats("w");
  EXPECT_EQ(w[0], 1.0F / 3);
  EXPECT_TRUE(w[1] == 0 && std::signbit(w[1]));
  EXPECT_EQ(w[2], std::numeric_limits<float>::max());
  EXPECT_EQ(w[3], std::numeric_limits<float>::max());  // rounds down to it
  EXPECT_EQ(w[4], -HUGE_VALF);                         // what is not finite is found where weights are used
  EXPECT_EQ(w[5], std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(w[6], 0);
  EXPECT_EQ(w[7], 1);  // a tie goes to the even one
  EXPECT_EQ(note(), "1 tensor becomes f32: 1 from f64 (w); too small for f32, and so 0: 1 of 'w'");
  add<double>(file_, "v", "f64", {0, 1, -0x1.ffffffp127});
  EXPECT_EQ(error(),
            "'v': element 2 is -3.40282e+38, which f32 does not hold; the largest f32 is 3.4e38: look at the training "
            "that these weights come from");
}

TEST_F(ReadWeightsTest, SaysWhichTensorsFromWhat) {
  add<float>(file_, "kept", "f32", {1});
  add<int64_t>(file_, "count", "i64", {7});
  EXPECT_EQ(read().note, "");
  for (const char* name : {"a", "b", "c", "d"}) add<uint16_t>(file_, name, "bf16", {0x3f80});
  add<double>(file_, "e", "f64", {2});
  EXPECT_EQ(note(), "5 tensors become f32: 4 from bf16 (a, b, c, ...), 1 from f64 (e)");
  EXPECT_EQ(floats("d"), std::vector<float>{1});
  EXPECT_EQ(floats("kept"), std::vector<float>{1});
  EXPECT_EQ(read().file.find("count")->dtype, "i64");
  EXPECT_EQ(read().file.find("count")->was, "");
  EXPECT_EQ(read().file.find("d")->was, "bf16");
  EXPECT_EQ(read().file.find("e")->was, "f64");
}

TEST_F(ReadWeightsTest, TakesAPrefixOff) {
  add<float>(file_, "module.fc.weight", "f32", {1});
  add<uint16_t>(file_, "module.bn.mean", "f16", {0});
  add<float>(file_, "own", "f32", {2});
  file_.metadata["buffers"] = "module.bn.mean";
  const ReadWeights with = read("module.");
  EXPECT_TRUE(with.file.find("fc.weight") && with.file.find("bn.mean") && with.file.find("own"));
  EXPECT_EQ(with.file.metadata.at("buffers"), "bn.mean");
  EXPECT_TRUE(read().file.find("module.fc.weight"));  // only where it is asked for
  EXPECT_EQ(error("model."), "the name of no tensor begins with 'model.'; one is 'module.fc.weight'");
  EXPECT_EQ(error("own"),
            "the prefix 'own' is the whole name of a tensor; give the prefix of the names that the model has");
  add<float>(file_, "fc.weight", "f32", {2});
  EXPECT_EQ(
      error("module."),
      "there are a 'module.fc.weight' and a 'fc.weight': without the prefix they are one; leave the other tensors "
      "out of the file");
}

TEST_F(ReadWeightsTest, RefusesAPipe) {
  for (const auto& use : {+[] { read_weights("-"); }, +[] { require_weights_path("-"); }}) try {
      use();
      FAIL();
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(error.diagnostics().at(0).message,
                "-: weights and checkpoints are files, never standard input or output");
    }
}

}  // namespace
}  // namespace heddle::runtime
