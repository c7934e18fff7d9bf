// Weights in fewer bits: the wholes and scales of PyTorch, errors within half a scale, and damaged files.
#include "runtime/weights/quantize.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"
#include "runtime/weights/dequantize.h"
#include "runtime/weights/half_floats.h"
#include "runtime/weights/read_weights.h"

namespace heddle::runtime {
namespace {

template <class T>
void add(WeightsFile& file, const std::string& name, const std::string& dtype, const std::vector<int64_t>& dims,
         const std::vector<T>& values) {
  const auto bytes = std::ssize(values) * static_cast<int64_t>(sizeof(T));
  std::memcpy(file.add(name, dtype, dims, bytes).data(), values.data(), static_cast<size_t>(bytes));
}

template <class T>
std::vector<T> values_of(const WeightsFile& file, const std::string& name) {
  const SavedTensor* t = file.find(name);
  if (t == nullptr) return {};
  std::vector<T> values(file.bytes(*t).size() / sizeof(T));
  std::memcpy(values.data(), file.bytes(*t).data(), file.bytes(*t).size());
  return values;
}

WeightsFile one(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  WeightsFile file{.name = "file", .tensors = {}, .metadata = {}, .data = {}};
  add(file, "w", "f32", dims, values);
  return file;
}

WeightsFile quantized(const WeightsFile& file, const Quantization& how) {
  WeightsFile out{.name = file.name, .tensors = {}, .metadata = {}, .data = {}};
  add_quantized(out, file, file.tensors[0], how);
  mark_quantized(out, how.as, "m");
  return out;
}

// numpy: i = arange(36); w = ((i*i*37 + i*11) % 203 - 101).astype(float32) * float32(0.0137), reshape(4, 9);
// w[1] *= float32(1e-3); w[2] *= float32(250)
WeightsFile matrix() {
  std::vector<float> w;
  for (int i = 0; i < 36; ++i) {
    const float value = static_cast<float>((i * i * 37 + i * 11) % 203 - 101) * 0.0137F;
    w.push_back(i / 9 == 1 ? value * 1e-3F : i / 9 == 2 ? value * 250.F : value);
  }
  return one({4, 9}, w);
}

// PyTorch 2.15: s = w.abs().amax(1 - axis) / 127; quantize_per_channel(w, s, zeros, axis, qint8).int_repr()
TEST(Quantize, Int8IsThatOfPyTorch) {
  const WeightsFile rows = quantized(matrix(), {StoredAs::int8, 0});
  EXPECT_EQ(
      values_of<int8_t>(rows, "w"),
      (std::vector<int8_t>{-127, -67, 87,  78, -93, 84, 99,  -48, -102, -78, 86,  49,  127, 3,   -5,  103, 9,  31,
                           -121, 85,  127, 5,  -23, 43, -55, -58, 32,   -57, -30, 127, 59,  120, -43, -78, 16, -115}));
  EXPECT_EQ(values_of<float>(rows, "w/scale"),
            (std::vector<float>{0x1.650432p-7F, 0x1.253118p-17F, 0x1.593264p+1F, 0x1.020aa4p-7F}));
  EXPECT_EQ(rows.find("w/scale")->dims, (std::vector<int64_t>{4, 1}));
  const WeightsFile columns = quantized(matrix(), {StoredAs::int8, 1});
  EXPECT_EQ(values_of<int8_t>(columns, "w"),
            (std::vector<int8_t>{-1,   0,   0,   8,   -2,   1,   1,    0,    -2,  0, 0, 0, 0, 0, 0, 0,  0, 0,
                                 -127, 127, 127, 127, -127, 127, -127, -127, 127, 0, 0, 0, 4, 2, 0, -1, 0, -1}));
  EXPECT_EQ(values_of<float>(columns, "w/scale"),
            (std::vector<float>{0x1.47efe0p+1F, 0x1.ce9054p+0F, 0x1.593264p+1F, 0x1.b9da1ap-4F, 0x1.f1155ep-2F,
                                0x1.d577bcp-1F, 0x1.28de8ap+0F, 0x1.3d94c4p+0F, 0x1.593264p-1F}));
  EXPECT_EQ(columns.find("w/scale")->dims, (std::vector<int64_t>{1, 9}));
}

// numpy: j = arange(262); v = ((j*j*29 + j*13) % 211 - 105).astype(float32) * float32(0.00731), reshape(2, 131); scales
// max|v| / 7 of columns 0 to 127 and 128 to 130; rint(v / scale), as torch.fake_quantize_per_tensor_affine(g, s, 0, -7, 7)
TEST(Quantize, Int4IsThatOfNumPyInGroups) {
  std::vector<float> v;
  for (int j = 0; j < 262; ++j) v.push_back(static_cast<float>((j * j * 29 + j * 13) % 211 - 105) * 0.00731F);
  const WeightsFile q = quantized(one({2, 131}, v), {StoredAs::int4, 0});
  const std::string expected =
      "c9f23fbd3dde90544b426cb5f250e0713307fef41e49a4029223e5baa0a6b0eb36a423c4663c2127316cc624b444f7dcb1b9d1fc47b424c4"
      "663c2127316cc6249405"
      "63be0b6a0aab5e3229204a94e14fef7033170e052f5bc624b44509edd3dbf32f9cfa6a1bddb1a6afc9f23fbd3dde90544b426cb5f250e071"
      "3307fef41e49a4029203";
  std::string hex;
  for (const uint8_t byte : values_of<uint8_t>(q, "w"))
    for (const int digit : {byte >> 4, byte & 15}) hex += "0123456789abcdef"[digit];
  EXPECT_EQ(hex, expected);
  EXPECT_EQ(values_of<float>(q, "w/scale"), (std::vector<float>{0.10965000092983246F, 0.08771999180316925F,
                                                                0.10965000092983246F, 0.10651713609695435F}));
  EXPECT_EQ(values_of<int64_t>(q, "w/shape"), (std::vector<int64_t>{2, 131}));
  const std::vector<float> back = values_of<float>(dequantized(q), "w"), scale = values_of<float>(q, "w/scale");
  ASSERT_EQ(back.size(), v.size());
  for (size_t i = 0; i < v.size(); ++i)
    EXPECT_LE(std::abs(back[i] - v[i]), 0.5000001F * scale[i / 131 * 2 + i % 131 / 128]) << i;
}

// float32 -> torch.half and torch.bfloat16, view(int16), PyTorch 2.15.
TEST(Quantize, HalvesAreRoundedAsPyTorchRoundsThem) {
  const std::vector<float> values = {0.F,
                                     -0.F,
                                     1.F,
                                     1.00048828125F,
                                     1.00146484375F,
                                     65504.F,
                                     65519.99F,
                                     6.1035156e-05F,
                                     6.1e-05F,
                                     5.9604645e-08F,
                                     2.9802322e-08F,
                                     2.98023260e-08F,
                                     8.9406967e-08F,
                                     -0.333333343F,
                                     1e-10F,
                                     2049.F,
                                     2051.F};
  const std::vector<uint16_t> f16 = {0, 0x8000, 0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7bff, 0x400, 0x3ff,
                                     1, 0,      1,      2,      0xb555, 0,      0x6800, 0x6802};
  const std::vector<uint16_t> bf16 = {0,      0x8000, 0x3f80, 0x3f80, 0x3f80, 0x4780, 0x4780, 0x3880, 0x3880,
                                      0x3380, 0x3300, 0x3300, 0x33c0, 0xbeab, 0x2edc, 0x4500, 0x4500};
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(to_f16(values[i]), f16[i]) << values[i];
    EXPECT_EQ(to_bf16(values[i]), bf16[i]) << values[i];
  }
  const std::vector<std::pair<float, uint16_t>> more = {
      {1.00390625F, 0x3f80}, {1.01171875F, 0x3f82}, {3.38e38F, 0x7f7e}, {1e-40F, 1}, {-2.7182817F, 0xc02e}};
  for (const auto& [value, bits] : more) EXPECT_EQ(to_bf16(value), bits) << value;
  EXPECT_EQ(to_f16(65520.F), std::nullopt);
  EXPECT_EQ(to_f16(-1e10F), std::nullopt);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), std::nullopt);
}

// Every f16 and every bf16 of a finite number comes back as itself.
TEST(Quantize, EveryHalfComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<uint16_t>(bits);
    if (std::isfinite(from_f16(word))) {
      EXPECT_EQ(to_f16(from_f16(word)), word);
    }
    if (std::isfinite(from_bf16(word))) {
      EXPECT_EQ(to_bf16(from_bf16(word)), word);
    }
  }
}

// Rows of zeros, of denormal and of the largest numbers, along each axis of a filter.
TEST(Quantize, StaysWithinHalfAScale) {
  constexpr float kMost = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::denorm_min();
  std::vector<float> w(24, 0.F);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = std::vector<float>{0.F, kLeast * 3, -kMost, 0.25F * static_cast<float>(i)}[i / 6];
  for (const int64_t axis : {0, 1, 2}) {
    const WeightsFile q = quantized(one({4, 3, 2}, w), {StoredAs::int8, axis});
    const std::vector<float> back = values_of<float>(dequantized(q), "w"), scale = values_of<float>(q, "w/scale");
    for (size_t i = 0; i < w.size(); ++i) {
      const size_t place = axis == 0 ? i / 6 : axis == 1 ? i / 2 % 3 : i % 2;
      EXPECT_TRUE(std::isfinite(back[i]));
      EXPECT_LE(std::abs(static_cast<double>(back[i]) - w[i]), 0.500001 * scale[place]) << axis << " " << i;
    }
  }
}

TEST(Quantize, RefusesWhatAHalfDoesNotHold) {
  try {
    quantized(one({2}, {1.F, 70000.F}), {StoredAs::f16, 0});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "file: 'w': element 1 is 70000, which f16 does not hold");
    EXPECT_EQ(error.diagnostics().at(0).help, "--type bf16, or --keep w leaves that tensor as it is");
  }
}

class DamagedTest : public testing::Test {
 protected:
  WeightsFile file_{.name = "file", .tensors = {}, .metadata = {}, .data = {}};
  DamagedTest() { mark_quantized(file_, StoredAs::int8, "m"); }
  void int8() { add<int8_t>(file_, "w", "i8", {2, 2}, {1, 2, 3, -128}); }
  void int4() { add<uint8_t>(file_, "w", "u8", {1, 2}, {0x21, 0x83}); }
  void scale(const std::vector<int64_t>& dims, const std::vector<float>& values) {
    add(file_, "w/scale", "f32", dims, values);
  }
  std::string read() {
    const auto message = [](const auto& use) -> std::string {
      try {
        use();
        return "read";
      } catch (const UserError& error) {
        EXPECT_EQ(error.diagnostics().size(), 1U);
        return error.diagnostics().at(0).message;
      }
    };
    return message([&] { converted_weights(file_); });
  }
};

TEST_F(DamagedTest, ReadsWhatIsWhole) {
  int8();
  scale({2, 1}, {0.5F, 2});
  EXPECT_EQ(values_of<float>(dequantized(file_), "w"), (std::vector<float>{0.5F, 1, 6, -256}));
  EXPECT_EQ(converted_weights(file_).note, "file: 1 tensor becomes f32 except where int8 is used: 1 from int8 (w)");
  EXPECT_EQ(logical_tensors(file_).at(0).type, "int8");
}

TEST_F(DamagedTest, KeepsWhatAnInt8WasMadeWith) {
  int8();
  scale({1, 2}, {0.5F, 2});
  add<float>(file_, "w/range", "f32", {2}, {-1, 5.5F});
  const WeightsFile read = converted_weights(file_).file;
  EXPECT_EQ(read.tensors.size(), 1U);
  EXPECT_EQ(read.find("w")->scales, (std::vector<float>{0.5F, 2}));
  EXPECT_EQ(read.find("w")->scaled_axis, 1);
  EXPECT_EQ(read.find("w")->range, (std::vector<float>{-1, 5.5F}));
}

TEST_F(DamagedTest, RangesThatAreNone) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::vector<float>, std::string>> cases = {
      {{0, kNan}, "0 and nan"}, {{-kInfinity, 1}, "-inf and 1"}, {{2, 1}, "2 and 1"}, {{0, 0}, "0 and 0"}};
  for (const auto& [range, said] : cases) {
    file_.tensors.clear(), file_.data.own().clear();
    int8();
    scale({2, 1}, {0.5F, 2});
    add(file_, "w/range", "f32", {2}, range);
    EXPECT_EQ(read(), "file: damaged: 'w/range' holds " + said + ", a range is a smaller and a larger finite number");
  }
  file_.tensors.clear(), file_.data.own().clear();
  int8();
  scale({2, 1}, {0.5F, 2});
  add<float>(file_, "w/range", "f32", {1}, {1});
  EXPECT_EQ(read(), "file: damaged: 'w/range' is f32[1], expected f32[2]");
}

TEST_F(DamagedTest, ReadsOneScaleForAll) {
  int8();
  scale({1, 1}, {2});
  EXPECT_EQ(values_of<float>(dequantized(file_), "w"), (std::vector<float>{2, 4, 6, -256}));
}

TEST_F(DamagedTest, ReadsFourBits) {
  int4();
  scale({1, 1}, {2});
  add<int64_t>(file_, "w/shape", "i64", {2}, {1, 3});
  EXPECT_EQ(values_of<float>(dequantized(file_), "w"), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(dequantized(file_).find("w")->dims, (std::vector<int64_t>{1, 3}));
}

TEST_F(DamagedTest, NoScale) {
  int8();
  EXPECT_EQ(read(), "file: damaged: no tensor 'w/scale', which 'w' needs");
}

TEST_F(DamagedTest, NoTensor) {
  scale({2, 1}, {1, 1});
  EXPECT_EQ(read(), "file: damaged: 'w/scale' lies beside no quantised tensor 'w'");
}

TEST_F(DamagedTest, WrongShapes) {
  int8();
  scale({2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(
      read(),
      "file: damaged: 'w/scale' is f32[2,2], and 'w' int8[2,2]: a scale for each place along one axis is expected");
}

TEST_F(DamagedTest, WrongNumberOfAxes) {
  int8();
  scale({2}, {1, 1});
  EXPECT_NE(read().find("'w/scale' is f32[2]"), std::string::npos);
}

TEST_F(DamagedTest, ScalesThatAreNone) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.F, -1.F}) {
    file_.tensors.clear();
    file_.data.own().clear();
    int8();
    scale({2, 1}, {1, bad});
    EXPECT_EQ(read(), fmt::format("file: damaged: 'w/scale' holds {}, a scale is a positive number", bad));
  }
}

TEST_F(DamagedTest, FourBitsWithAnotherShape) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 5}, {2, 3}, {-1, 3}, {huge, huge}, {1, -1}}) {
    file_.tensors.clear();
    file_.data.own().clear();
    int4();
    scale({1, 1}, {1});
    add(file_, "w/shape", "i64", {2}, shape);
    EXPECT_EQ(read(), fmt::format("file: damaged: 'w' is u8[1,2], which is no int4[{},{}]", shape[0], shape[1]));
  }
}

TEST_F(DamagedTest, AnotherVersion) {
  int8();
  scale({2, 1}, {1, 1});
  file_.metadata[kQuantizedVersion] = "2";
  EXPECT_EQ(read(), "file: quantised weights of version '2', this is Heddle for version 1");
  file_.metadata[kQuantizedVersion] = "1";
  file_.metadata[kQuantizedMark] = "int3";
  EXPECT_EQ(read(), "file: damaged: 'int3' is no type of quantised weights");
}

// Integers that a layer keeps are no quantised weights, and a file without the mark is as it is.
TEST_F(DamagedTest, OtherIntegersStay) {
  int8();
  set_buffer_names(file_, {"w"});
  EXPECT_EQ(dequantized(file_).find("w")->dtype, "i8");
  set_buffer_names(file_, {"other"});
  file_.metadata.erase(kQuantizedMark);
  EXPECT_EQ(dequantized(file_).find("w")->dtype, "i8");
}

}  // namespace
}  // namespace heddle::runtime
