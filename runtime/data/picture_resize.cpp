#include "runtime/data/picture_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ir/check.h"

namespace heddle::runtime::data {
namespace {

// Weights are whole numbers of 22 bits: a sum of 255 times them fits 32 bits, also where the cubic's are negative.
constexpr int kBits = 22;
constexpr int32_t kHalf = 1 << (kBits - 1);

double triangle(double x) { return std::max(1 - std::abs(x), 0.0); }

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0.0;
}

// The range of pixels along one axis from which an element of the result is computed. Both ends increase from element
// to element.
struct Window {
  int64_t first = 0, last = 0;  // last: behind it
  size_t weights = 0;           // where in Axis::weights
};
struct Axis {
  std::vector<Window> windows;
  std::vector<int32_t> weights;
};

// `count` elements made of [begin, end) of an axis of `size` pixels.
Axis axis_of(int64_t size, double begin, double end, int64_t count, bool bicubic) {
  Axis axis;
  const double scale = (end - begin) / static_cast<double>(count), wide = std::max(scale, 1.0),
               reach = (bicubic ? 2 : 1) * wide;
  std::vector<double> weights;
  for (int64_t i = 0; i < count; ++i) {
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(std::floor(center - reach + 0.5)), 0),
                  last = std::min(static_cast<int64_t>(std::floor(center + reach + 0.5)), size);
    weights.clear();
    double sum = 0;
    for (int64_t at = first; at < last; ++at) {
      const double x = (static_cast<double>(at) - center + 0.5) / wide;
      weights.push_back(bicubic ? cubic(x) : triangle(x));
      sum += weights.back();
    }
    axis.windows.push_back({.first = first, .last = last, .weights = axis.weights.size()});
    for (const double weight : weights)
      axis.weights.push_back(static_cast<int32_t>(std::lround(weight / sum * (1 << kBits))));
  }
  return axis;
}

int32_t rounded(int32_t sum) { return std::clamp(sum >> kBits, 0, 255); }

template <size_t kChannels>
void resample_row(const std::byte* from, const Axis& across, int32_t* to) {
  for (const Window& window : across.windows) {
    std::array<int32_t, kChannels> sums;
    sums.fill(kHalf);
    const int32_t* weight = across.weights.data() + window.weights;
    const std::byte* pixel = from + window.first * static_cast<int64_t>(kChannels);
    for (int64_t i = window.first; i < window.last; ++i, ++weight, pixel += kChannels)
      for (size_t c = 0; c < kChannels; ++c) sums[c] += *weight * std::to_integer<int32_t>(pixel[c]);
    for (const int32_t sum : sums) *to++ = rounded(sum);
  }
}

// The picture's rows one after another, each added to the rows of the result that it is part of; `stride` bytes lie
// between these.
template <size_t kChannels>
void resample(const std::byte* from, int64_t width, const Axis& across, const Axis& down, std::byte* to,
              int64_t stride) {
  const size_t line = across.windows.size() * kChannels, rows = down.windows.size();
  std::vector<int32_t> row(line), sums(line * rows, kHalf);
  size_t open = 0;  // the first row that lacks something
  for (int64_t y = down.windows[0].first; open < rows; ++y) {
    resample_row<kChannels>(from + y * width * static_cast<int64_t>(kChannels), across, row.data());
    for (size_t r = open; r < rows && down.windows[r].first <= y; ++r) {
      const int32_t weight = down.weights[down.windows[r].weights + static_cast<size_t>(y - down.windows[r].first)];
      int32_t* sum = sums.data() + r * line;
      for (size_t i = 0; i < line; ++i) sum[i] += weight * row[i];
    }
    for (; open < rows && down.windows[open].last == y + 1; ++open) {
      std::byte* out = to + static_cast<int64_t>(open) * stride;
      for (size_t i = 0; i < line; ++i) out[i] = static_cast<std::byte>(rounded(sums[open * line + i]));
    }
  }
}

// Columns first: one row of the result after another.
template <size_t kChannels>
void resample_down_first(const std::byte* from, int64_t width, const Axis& across, const Axis& down, std::byte* to,
                         int64_t stride) {
  const size_t line = static_cast<size_t>(width) * kChannels;
  std::vector<int32_t> sums(line), out(across.windows.size() * kChannels);
  std::vector<std::byte> row(line);
  for (const Window& window : down.windows) {
    std::ranges::fill(sums, kHalf);
    for (int64_t y = window.first; y < window.last; ++y) {
      const int32_t weight = down.weights[window.weights + static_cast<size_t>(y - window.first)];
      const std::byte* stored = from + y * static_cast<int64_t>(line);
      for (size_t i = 0; i < line; ++i) sums[i] += weight * std::to_integer<int32_t>(stored[i]);
    }
    std::ranges::transform(sums, row.begin(), [](int32_t sum) { return static_cast<std::byte>(rounded(sum)); });
    resample_row<kChannels>(row.data(), across, out.data());
    std::ranges::transform(out, to, [](int32_t value) { return static_cast<std::byte>(value); });
    to += stride;
  }
}

// What of the picture is drawn, and where.
struct Placement {
  double top = 0, left = 0, bottom, right;
  int64_t y = 0, x = 0, height, width;
};

// As Python rounds: a half to the even neighbour.
int64_t to_even(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

Placement place(PictureSize size, ResizeKind how, PictureSize result) {
  const auto height = static_cast<double>(size.height), width = static_cast<double>(size.width),
             wanted_height = static_cast<double>(result.height), wanted_width = static_cast<double>(result.width);
  const double ratio = width / height, wanted = wanted_width / wanted_height;
  Placement p{.bottom = height, .right = width, .height = result.height, .width = result.width};
  if (how == ResizeKind::fit) {
    if (ratio > wanted) p.height = std::min(to_even(height / width * wanted_width), result.height);
    if (ratio < wanted) p.width = std::min(to_even(width / height * wanted_height), result.width);
    p.y = to_even(static_cast<double>(result.height - p.height) * 0.5);
    p.x = to_even(static_cast<double>(result.width - p.width) * 0.5);
  } else if (how == ResizeKind::cover) {
    const double seen_width = ratio > wanted ? wanted * height : width,
                 seen_height = ratio < wanted ? width / wanted : height;
    p.left = (width - seen_width) * 0.5, p.right = p.left + seen_width;
    p.top = (height - seen_height) * 0.5, p.bottom = p.top + seen_height;
  }
  return p;
}

}  // namespace

void resize_picture(const std::byte* from, PictureSize size, Resizing resizing, PictureSize result, std::byte* to) {
  HEDDLE_CHECK(resizing.how != ResizeKind::none && size.channels == result.channels, "a picture is resized");
  const Placement p = place(size, resizing.how, result);
  if (p.height < result.height || p.width < result.width) std::fill_n(to, result.bytes(), std::byte{0});
  if (p.height == 0 || p.width == 0) return;
  const Axis across = axis_of(size.width, p.left, p.right, p.width, resizing.bicubic),
             down = axis_of(size.height, p.top, p.bottom, p.height, resizing.bicubic);
  const int64_t stride = result.width * result.channels;
  std::byte* corner = to + p.y * stride + p.x * result.channels;
  // As Pillow 13 does where the height shrinks by more than twice what the width does.
  const bool down_first = p.height < size.height && 2 * (size.width - p.width) < size.height - p.height;
  const auto resample_all = down_first ? (result.channels == 1 ? resample_down_first<1> : resample_down_first<3>)
                                       : (result.channels == 1 ? resample<1> : resample<3>);
  resample_all(from, size.width, across, down, corner, stride);
}

}  // namespace heddle::runtime::data
