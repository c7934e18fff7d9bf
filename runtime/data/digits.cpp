#include "runtime/data/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>

#include "ir/diagnostic.h"
#include "runtime/data/glyphs.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

// Glyph coordinates to pixels.
struct Affine {
  float xx = 1, xy = 0, yx = 0, yy = 1, x0 = 0, y0 = 0;
  Point operator()(Point p) const { return {xx * p.x + xy * p.y + x0, yx * p.x + yy * p.y + y0}; }
};

// Rotation up to 17 degrees, shear up to 0.2, sides of 55 % to 85 % of the picture, anywhere that keeps the centre near
// the middle.
Affine random_affine(KeyedRandom& random, float height, float width) {
  const float angle = random.uniform(-0.30F, 0.30F), shear = random.uniform(-0.20F, 0.20F);
  const float sx = width * random.uniform(0.55F, 0.85F), sy = height * random.uniform(0.55F, 0.85F);
  const float c = std::cos(angle), s = std::sin(angle);
  Affine m{c * sx, (c * shear - s) * sy, s * sx, (s * shear + c) * sy, 0, 0};
  const float x = width * random.uniform(0.385F, 0.615F), y = height * random.uniform(0.385F, 0.615F);
  m.x0 = x - 0.5F * (m.xx + m.xy);
  m.y0 = y - 0.5F * (m.yx + m.yy);
  return m;
}

// Squared distance from each pixel centre to the nearest stroke.
std::vector<float> distances(const std::vector<Stroke>& strokes, int64_t height, int64_t width) {
  std::vector<float> nearest(static_cast<size_t>(height * width), 1e9F);
  for (const Stroke& stroke : strokes) {
    for (size_t i = 1; i < stroke.size(); ++i) {
      const Point a = stroke[i - 1], d{stroke[i].x - a.x, stroke[i].y - a.y};
      const float inverse = 1 / std::max(d.x * d.x + d.y * d.y, 1e-6F);
      for (int64_t y = 0; y < height; ++y) {
        const float py = static_cast<float>(y) + 0.5F - a.y;
        float* row = nearest.data() + y * width;
        for (int64_t x = 0; x < width; ++x) {
          const float px = static_cast<float>(x) + 0.5F - a.x;
          const float t = std::min(std::max((px * d.x + py * d.y) * inverse, 0.0F), 1.0F);
          const float ex = px - t * d.x, ey = py - t * d.y;
          row[x] = std::min(row[x], ex * ex + ey * ey);
        }
      }
    }
  }
  return nearest;
}

void check_request(const ReaderRequest& request, const ColumnRequest& c) {
  if (c.source() == "label") {
    if (!c.one_hot && !c.dims.empty())
      throw UserError(c.where, fmt::format("synthetic labels are one number a row, input '{}' has {} axes", c.input,
                                           c.dims.size()));
    return;
  }
  if (c.source() != "image")
    throw UserError(c.where, fmt::format("synthetic draws \"image\" and \"label\", not \"{}\"", c.source()));
  const auto side = [](int64_t n) { return n >= kMinDigitSide && n <= kMaxDigitSide; };
  const bool picture =
      (c.dims.size() == 2 || (c.dims.size() == 3 && c.dims[2] == 1)) && side(c.dims[0]) && side(c.dims[1]);
  if (!picture)
    throw UserError(
        c.where,
        fmt::format(
            "synthetic pictures are [height,width] or [height,width,1] with sides of {} to {}, input '{}' is not",
            kMinDigitSide, kMaxDigitSide, c.input));
  if (request.integer("rows") > (int64_t{1} << 36) / (c.dims[0] * c.dims[1]))
    throw UserError(request.where, "the pictures exceed 64 GiB");
}

// The label that draw_digit draws first.
int digit_label(uint64_t seed, int64_t row) {
  return static_cast<int>(KeyedRandom(seed, static_cast<uint64_t>(row)).below(10));
}

void draw_rows(const ReaderRequest& request, Table& table, int64_t begin, int64_t end) {
  const auto seed = static_cast<uint64_t>(request.integer("seed"));
  for (size_t i = 0; i < table.columns.size(); ++i) {
    Column& column = table.columns[i];
    const bool image = request.columns[i].source() == "image";
    const int64_t height = image ? column.dims[0] : kMinDigitSide, width = image ? column.dims[1] : kMinDigitSide;
    for (int64_t row = begin; row < end; ++row) {
      std::byte* to = column.bytes.data() + row * column.row_bytes();
      if (!image) {
        *to = static_cast<std::byte>(digit_label(seed, row));
        continue;
      }
      const Digit digit = draw_digit(seed, row, height, width);
      std::transform(digit.pixels.begin(), digit.pixels.end(), to, [](uint8_t p) { return static_cast<std::byte>(p); });
    }
  }
}

}  // namespace

Digit draw_digit(uint64_t seed, int64_t row, int64_t height, int64_t width) {
  KeyedRandom random(seed, static_cast<uint64_t>(row));
  Digit digit{.label = static_cast<int>(random.below(10)), .pixels = {}};
  std::vector<Stroke> strokes = glyph(digit.label, random);
  const auto h = static_cast<float>(height), w = static_cast<float>(width);
  const Affine map = random_affine(random, h, w);
  for (Stroke& stroke : strokes)
    for (Point& p : stroke) p = map(p);

  const float size = std::sqrt(h * w), radius = size * random.uniform(0.025F, 0.065F), soft = size * 0.03F;
  const float ink = random.uniform(150, 255), paper = random.uniform(0, 40), noise = random.uniform(5, 45);
  for (float squared : distances(strokes, height, width)) {
    const float cover = std::min(std::max((radius + soft - std::sqrt(squared)) / soft, 0.0F), 1.0F);
    const float grain = noise * (random.uniform(-1, 1) + random.uniform(-1, 1));
    const float value = paper + (ink - paper) * cover + grain;
    digit.pixels.push_back(static_cast<uint8_t>(std::min(std::max(value, 0.0F), 255.0F)));
  }
  return digit;
}

Table draw_digits(const ReaderRequest& request) {
  const int64_t rows = request.integer("rows");
  Table table{.rows = rows, .columns = {}};
  for (const ColumnRequest& c : request.columns) {
    check_request(request, c);
    Column column{.input = c.input, .type = ElementType::u8, .dims = {}, .bytes = {}};
    if (c.source() == "image") column.dims = c.dims;
    column.bytes.resize(static_cast<size_t>(rows * column.row_bytes()));
    table.columns.push_back(std::move(column));
  }
  const int64_t parts = std::clamp<int64_t>(static_cast<int64_t>(std::thread::hardware_concurrency()), 1, 16);
  const auto draw = [&](int64_t p) { draw_rows(request, table, rows * p / parts, rows * (p + 1) / parts); };
  std::vector<std::jthread> workers;
  for (int64_t p = 0; p < parts; ++p) {
    try {
      workers.emplace_back([&draw, p] { draw(p); });
    } catch (const std::system_error&) {
      draw(p);  // here, where the system gives no more threads
    }
  }
  workers.clear();  // joins
  return table;
}

}  // namespace heddle::runtime::data
