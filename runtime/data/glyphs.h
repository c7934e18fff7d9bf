// Stroke skeletons of the ten digits, in a unit square (x to the right, y down), with the variants people write.
//
//   glyph(7, random) -> {{0.2,0.07} {0.8,0.07} {0.4,0.95}}, sometimes with a crossbar
#pragma once
#include <vector>

#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {

struct Point {
  float x = 0, y = 0;
};
using Stroke = std::vector<Point>;  // a polyline

std::vector<Stroke> glyph(int digit, KeyedRandom& random);

}  // namespace heddle::runtime::data
