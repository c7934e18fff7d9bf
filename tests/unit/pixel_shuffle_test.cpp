// pixel_shuffle: channels land where torch.nn.PixelShuffle puts them, in both layouts; what cannot
// be shared out is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/diagnostic.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

constexpr int64_t kHeight = 2, kWidth = 3, kChannels = 2, kFactor = 2, kAll = kChannels * kFactor * kFactor;

std::string shuffle(bool channels_first, const std::string& factor = "2") {
  return model(channels_first ? R"("x": {"shape": ["N", 8, 2, 3]})" : R"("x": {"shape": ["N", 2, 3, 8]})",
               R"({"name": "y", "op": "pixel_shuffle", "in": "x", "factor": )" + factor + "}",
               std::string(R"(, "outputs": {"y": "y"})") + (channels_first ? R"(, "layout": "NCHW")" : ""));
}

// The number that stands in channel k of pixel (h, w).
double number(int64_t h, int64_t w, int64_t k) { return static_cast<double>(100 * h + 10 * w + k); }

TEST(PixelShuffle, SharesChannelsOut) {
  ir::NamedTensors in;
  in["x"] = tensor({ir::DType::f32, {1, kHeight, kWidth, kAll}},
                   [](int64_t i) { return number(i / kAll / kWidth, i / kAll % kWidth, i % kAll); });
  const std::vector<double> y = predict(shuffle(false), in);
  ASSERT_EQ(y.size(), static_cast<size_t>(kHeight * kWidth * kAll));
  for (int64_t h = 0; h < kHeight * kFactor; ++h)
    for (int64_t w = 0; w < kWidth * kFactor; ++w)
      for (int64_t c = 0; c < kChannels; ++c)
        EXPECT_EQ(y[static_cast<size_t>((h * kWidth * kFactor + w) * kChannels + c)],
                  number(h / kFactor, w / kFactor, (c * kFactor + h % kFactor) * kFactor + w % kFactor));
}

TEST(PixelShuffle, WithChannelsFirst) {
  ir::NamedTensors in;
  in["x"] = tensor({ir::DType::f32, {1, kAll, kHeight, kWidth}},
                   [](int64_t i) { return number(i / kWidth % kHeight, i % kWidth, i / kWidth / kHeight); });
  const std::vector<double> y = predict(shuffle(true), in);
  for (int64_t c = 0; c < kChannels; ++c)
    for (int64_t h = 0; h < kHeight * kFactor; ++h)
      for (int64_t w = 0; w < kWidth * kFactor; ++w)
        EXPECT_EQ(y[static_cast<size_t>((c * kHeight * kFactor + h) * kWidth * kFactor + w)],
                  number(h / kFactor, w / kFactor, (c * kFactor + h % kFactor) * kFactor + w % kFactor));
}

TEST(PixelShuffle, RefusesWhatCannotBeSharedOut) {
  for (const char* factor : {"3", "0", "-2", "100000"}) EXPECT_THROW(predict(shuffle(false, factor), {}), UserError);
}

}  // namespace
}  // namespace heddle::frontend
