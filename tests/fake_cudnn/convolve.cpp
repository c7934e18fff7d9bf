// The convolution itself: of operands as the engine rounds them, summed in doubles.
#include <cmath>
#include <vector>

#include "tests/fake_cudnn/objects.h"
#include "tests/ptx/real.h"

namespace heddle::fake_cuda {
namespace {

constexpr int kF16 = 2, kBf16 = 9;
constexpr uint8_t kRubbish = 0xA5;

std::vector<double> read(const TensorOf& t, uint64_t at, bool tf32) {
  std::vector<std::byte> bytes(bytes_of(t));
  world().memory.read(bytes.data(), at, bytes.size());
  std::vector<double> all(bytes.size() / type_bytes(t.type));
  for (size_t i = 0; i < all.size(); ++i) {
    if (t.type == kF16 || t.type == kBf16) {
      uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
      all[i] = static_cast<double>(t.type == kF16 ? ptx::from_f16(bits) : ptx::from_bf16(bits));
    } else {
      float x = 0;
      std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
      all[i] = static_cast<double>(tf32 ? ptx::tf32_operand(ptx::to_tf32(x)) : x);
    }
  }
  return all;
}

void write(const TensorOf& t, uint64_t at, const std::vector<double>& all) {
  std::vector<std::byte> bytes(all.size() * type_bytes(t.type));
  for (size_t i = 0; i < all.size(); ++i) {
    if (t.type == kF16 || t.type == kBf16) {
      const uint16_t bits = t.type == kF16 ? ptx::to_f16(all[i]) : ptx::to_bf16(static_cast<float>(all[i]));
      std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
    } else {
      const auto x = static_cast<float>(all[i]);
      std::memcpy(bytes.data() + i * sizeof x, &x, sizeof x);
    }
  }
  world().memory.write(at, bytes.data(), bytes.size());
}

// Counts through all places of some axes, the last one the fastest; false behind the last place.
bool next(std::vector<int64_t>& at, const std::vector<int64_t>& sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++at[i] < sizes[i]) return true;
    at[i] = 0;
  }
  return false;
}

std::vector<int64_t> space_of(const TensorOf& t) { return {t.dims.begin() + 2, t.dims.end()}; }

// Where the elements of a pixel begin.
int64_t pixel(const TensorOf& t, int64_t image, const std::vector<int64_t>& at) {
  int64_t offset = image * t.strides[0];
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * t.strides[i + 2];
  return offset;
}

// Calls f(element of X, of W, of Y) for each product.
template <class F>
void for_each_product(const ConvolutionOf& c, F f) {
  const int64_t per_group = c.w.dims[1], groups = c.x.dims[1] / per_group, filters = c.w.dims[0] / groups;
  const std::vector<int64_t> outputs = space_of(c.y), taps = space_of(c.w), inputs = space_of(c.x);
  const auto channels = [&](int64_t x, int64_t w, int64_t y) {
    for (int64_t k = 0; k < c.w.dims[0]; ++k)
      for (int64_t i = 0; i < per_group; ++i)
        f(static_cast<size_t>(x + (k / filters * per_group + i) * c.x.strides[1]),
          static_cast<size_t>(w + k * c.w.strides[0] + i * c.w.strides[1]),
          static_cast<size_t>(y + k * c.y.strides[1]));
  };
  for (int64_t n = 0; n < c.x.dims[0]; ++n) {
    std::vector<int64_t> to(outputs.size(), 0);
    do {
      std::vector<int64_t> tap(taps.size(), 0);
      do {
        std::vector<int64_t> from(inputs.size());
        bool inside = true;
        for (size_t i = 0; i < inputs.size(); ++i) {
          from[i] = to[i] * c.strides[i] + tap[i] * c.dilations[i] - c.low[i];
          inside = inside && from[i] >= 0 && from[i] < inputs[i];
        }
        if (inside) channels(pixel(c.x, n, from), pixel(c.w, 0, tap), pixel(c.y, n, to));
      } while (next(tap, taps));
    } while (next(to, outputs));
  }
}

// Of sums that are not rounded yet.
void finish(const ConvolutionOf& c, const ArraysOf& at, const EngineOf& engine, std::vector<double>& sums) {
  if (c.bias) {
    const std::vector<double> bias = read(*c.bias, at.at[3], false);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i % bias.size()];
  }
  if (!c.relu) return;
  for (double& sum : sums)
    if (sum < 0 || (engine.drops_nan && std::isnan(sum))) sum = 0;
}

}  // namespace

void convolve(const ConvolutionOf& c, const ArraysOf& at, const EngineOf& engine) {
  const bool tf32 = engine.tf32;
  const bool makes_x = c.kind == kDataGradientObject, makes_w = c.kind == kFilterGradientObject;
  const TensorOf& made = makes_x ? c.x : makes_w ? c.w : c.y;
  std::vector<double> sums(bytes_of(made) / type_bytes(made.type), 0);
  const std::vector<double> x = makes_x ? sums : read(c.x, at.at[0], tf32);
  const std::vector<double> w = makes_w ? sums : read(c.w, at.at[1], tf32);
  const std::vector<double> y = makes_x || makes_w ? read(c.y, at.at[2], tf32) : sums;
  if (makes_x) {
    for_each_product(c, [&](size_t i, size_t j, size_t k) { sums[i] += w[j] * y[k]; });
  } else if (makes_w) {
    for_each_product(c, [&](size_t i, size_t j, size_t k) { sums[j] += x[i] * y[k]; });
  } else {
    for_each_product(c, [&](size_t i, size_t j, size_t k) { sums[k] += x[i] * w[j]; });
  }
  finish(c, at, engine, sums);
  if (at.workspace_bytes > 0) world().memory.fill(at.workspace, kRubbish, at.workspace_bytes);
  write(made, makes_x ? at.at[0] : makes_w ? at.at[1] : at.at[2], sums);
  ++world().counts["convolutions"];
}

}  // namespace heddle::fake_cuda
