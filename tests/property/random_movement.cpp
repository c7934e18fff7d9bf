#include <algorithm>

#include "tests/property/random_values.h"

namespace heddle::testing {
using namespace ir;
namespace {

void transpose(RandomValues& r, ValueId x) {
  Dims perm;
  for (int64_t i = 0; i < r.type(x).rank(); ++i) perm.push_back(i);
  std::shuffle(perm.begin(), perm.end(), r.random);
  r.keep(r.b("transpose", {x}, {{"perm", perm}}));
}

void slice(RandomValues& r, ValueId x) {
  Dims starts, limits, strides;
  for (const int64_t d : Dims(r.type(x).dims)) {
    starts.push_back(r.chance(50) ? 0 : r.below(d));
    limits.push_back(r.chance(50) ? d : starts.back() + 1 + r.below(d - starts.back()));
    strides.push_back(r.chance(70) ? 1 : 1 + r.below(3));
  }
  r.keep(r.b("slice", {x}, {{"starts", starts}, {"limits", limits}, {"strides", strides}}));
}

void pad(RandomValues& r, ValueId x) {
  Dims low, high, interior;
  for (int64_t i = 0; i < r.type(x).rank(); ++i) {
    low.push_back(r.below(3) / 2);
    high.push_back(r.below(3) / 2);
    interior.push_back(r.below(6) / 5);
  }
  r.keep(r.b("pad", {x},
             {{"low", low}, {"high", high}, {"interior", interior}, {"fill", r.real(x) && r.chance(30) ? 0.25 : 0.0}}));
}

void broadcast(RandomValues& r, ValueId x) {
  Dims shape, dims;
  for (const int64_t d : Dims(r.type(x).dims)) {
    if (r.chance(25)) shape.push_back(1 + r.below(4));
    dims.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(d == 1 ? 1 + r.below(4) : d);
  }
  if (r.chance(25)) shape.push_back(1 + r.below(4));
  if (product(shape) <= kMaxElements && shape.size() < 6)
    r.keep(r.b("broadcast", {x}, {{"dims", dims}, {"shape", shape}}));
}

void reshape(RandomValues& r, ValueId x) {
  Dims shape;
  int64_t left = r.type(x).elements();
  while (left > 1) {
    int64_t d = 1 + r.below(left);
    while (left % d != 0) --d;
    shape.push_back(d == 1 ? left : d);
    left /= shape.back();
  }
  if (shape.size() < 6) r.keep(r.b("reshape", {x}, {{"shape", shape}}));
}

void concat(RandomValues& r, ValueId x) {
  if (r.type(x).rank() == 0) return;
  Values parts = {x, r.partner(x)};
  if (r.chance(50)) parts.push_back(r.partner(x));
  r.keep(r.b("concat", parts, {{"axis", r.below(r.type(x).rank())}}));
}

void reverse(RandomValues& r, ValueId x) {
  if (r.type(x).rank() > 0) r.keep(r.b("reverse", {x}, {{"axes", Dims{r.below(r.type(x).rank())}}}));
}

}  // namespace

void add_movement(RandomValues& r) {
  const ValueId x = r.chance(80) ? r.recent() : r.pick(r.values);
  switch (r.below(7)) {
    case 0: return transpose(r, x);
    case 1: return slice(r, x);
    case 2: return pad(r, x);
    case 3: return broadcast(r, x);
    case 4: return reshape(r, x);
    case 5: return concat(r, x);
    default: return reverse(r, x);
  }
}

}  // namespace heddle::testing
