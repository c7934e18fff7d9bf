#include "runtime/data/glyphs.h"

#include <cmath>

namespace heddle::runtime::data {
namespace {

// An arc of an ellipse around (x, y), in turns: 0 points right, 0.25 down.
Stroke arc(Point centre, float rx, float ry, float from, float to) {
  constexpr int kPieces = 10;
  constexpr float kTurn = 6.2831853F;
  Stroke s;
  for (int i = 0; i <= kPieces; ++i) {
    const float a = kTurn * (from + (to - from) * static_cast<float>(i) / kPieces);
    s.push_back({centre.x + rx * std::cos(a), centre.y + ry * std::sin(a)});
  }
  return s;
}

Stroke join(Stroke a, const Stroke& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool coin(KeyedRandom& random) { return random.below(2) == 1; }

std::vector<Stroke> one(KeyedRandom& random) {
  std::vector<Stroke> s = {{{0.5F, 0.05F}, {0.5F, 0.95F}}};
  if (coin(random)) s.push_back({{0.5F, 0.05F}, {0.3F, 0.25F}});
  if (coin(random)) s.push_back({{0.3F, 0.95F}, {0.7F, 0.95F}});
  return s;
}

std::vector<Stroke> four(KeyedRandom& random) {
  if (coin(random)) return {{{0.65F, 0.95F}, {0.65F, 0.05F}, {0.15F, 0.65F}, {0.88F, 0.65F}}};
  return {{{0.25F, 0.05F}, {0.2F, 0.55F}, {0.85F, 0.55F}}, {{0.68F, 0.1F}, {0.66F, 0.95F}}};
}

std::vector<Stroke> seven(KeyedRandom& random) {
  std::vector<Stroke> s = {{{0.18F, 0.07F}, {0.82F, 0.07F}, {0.4F, 0.95F}}};
  if (coin(random)) s.push_back({{0.4F, 0.5F}, {0.78F, 0.5F}});
  return s;
}

std::vector<Stroke> nine(KeyedRandom& random) {
  Stroke tail = coin(random) ? Stroke{{0.77F, 0.3F}, {0.7F, 0.95F}}
                             : join({{0.77F, 0.3F}}, arc({0.47F, 0.65F}, 0.3F, 0.3F, 0.0F, 0.4F));
  return {arc({0.5F, 0.3F}, 0.27F, 0.25F, 0.0F, 1.0F), std::move(tail)};
}

std::vector<Stroke> skeleton(int digit, KeyedRandom& random) {
  switch (digit) {
    case 0: return {arc({0.5F, 0.5F}, 0.32F, 0.45F, 0.0F, 1.0F)};
    case 1: return one(random);
    case 2: return {join(arc({0.5F, 0.32F}, 0.28F, 0.26F, 0.45F, 1.08F), {{0.2F, 0.95F}, {0.82F, 0.95F}})};
    case 3:
      return {join(arc({0.45F, 0.28F}, 0.28F, 0.23F, 0.55F, 1.22F), arc({0.45F, 0.72F}, 0.32F, 0.24F, 0.78F, 1.45F))};
    case 4: return four(random);
    case 5:
      return {join({{0.78F, 0.06F}, {0.3F, 0.06F}, {0.27F, 0.45F}}, arc({0.46F, 0.66F}, 0.3F, 0.28F, 0.65F, 1.42F))};
    case 6: return {join({{0.68F, 0.05F}, {0.35F, 0.35F}}, arc({0.5F, 0.7F}, 0.28F, 0.25F, 0.55F, 1.55F))};
    case 7: return seven(random);
    case 8: return {arc({0.5F, 0.28F}, 0.24F, 0.23F, 0.0F, 1.0F), arc({0.5F, 0.73F}, 0.29F, 0.23F, 0.0F, 1.0F)};
    default: return nine(random);
  }
}

}  // namespace

std::vector<Stroke> glyph(int digit, KeyedRandom& random) {
  std::vector<Stroke> strokes = skeleton(digit, random);
  // A smooth bend of the whole figure and a little shake of each point: no two are alike.
  const float bend_x = random.uniform(-0.12F, 0.12F), bend_y = random.uniform(-0.08F, 0.08F);
  for (Stroke& stroke : strokes) {
    for (Point& p : stroke) {
      const Point q = p;
      p.x += bend_x * std::sin(3.1415927F * q.y) + random.uniform(-0.015F, 0.015F);
      p.y += bend_y * std::sin(3.1415927F * q.x) + random.uniform(-0.015F, 0.015F);
    }
  }
  return strokes;
}

}  // namespace heddle::runtime::data
