#include "tests/property/random_values.h"

namespace heddle::testing {
using namespace ir;
namespace {

// x out of what it was put into: between two operands, or two pads.
void rejoined(RandomValues& r, ValueId x, ValueId y) {
  const Dims dims = r.type(x).dims;
  if (dims.empty()) return;
  Dims starts(dims.size(), 0), limits = dims, ends(dims.size(), 0);
  starts[0] = dims[0];
  limits[0] = 2 * dims[0];
  const Attrs within{{"starts", starts}, {"limits", limits}};
  r.keep(r.b("slice", {r.b("concat", {y, x, y}, {{"axis", int64_t{0}}})}, within));
  const ValueId padded =
      r.b("pad", {r.b("pad", {x}, {{"low", starts}, {"high", ends}})}, {{"low", ends}, {"high", starts}});
  r.keep(r.b("slice", {padded}, within));
}

void repeated(RandomValues& r, ValueId x) {
  const Dims dims = r.type(x).dims;
  Dims shape = {3}, to;
  for (size_t i = 0; i < dims.size(); ++i) to.push_back(static_cast<int64_t>(i) + 1);
  shape.insert(shape.end(), dims.begin(), dims.end());
  const ValueId wide = r.b("broadcast", {x}, {{"dims", to}, {"shape", shape}});
  const Dims axes = dims.empty() || r.chance(50) ? Dims{0} : Dims{0, 1};
  r.keep(r.b(r.chance(50) ? "reduce_sum" : "reduce_max", {wide}, {{"axes", axes}}));
}

void turned(RandomValues& r, ValueId x) {
  const int64_t rank = r.type(x).rank();
  if (rank < 2) return;
  Dims perm, back;
  for (int64_t i = 0; i < rank; ++i) perm.push_back((i + 1) % rank);
  for (int64_t i = 0; i < rank; ++i) back.push_back((i + rank - 1) % rank);
  r.keep(r.b("transpose", {r.b("relu", {r.b("transpose", {x}, {{"perm", perm}})})}, {{"perm", back}}));
}

}  // namespace

void add_redundancy(RandomValues& r) {
  const ValueId x = r.recent(), y = r.partner(x);
  const auto neg = [&](ValueId v) { return r.b("neg", {v}); };
  switch (r.below(12)) {
    case 0: return r.keep(neg(neg(x)));
    case 1: return r.keep(r.b("add", {r.b("tanh", {x}), r.b("tanh", {x})}));
    case 2: return r.keep(r.b("mul", {x, r.b.like(1, x)}));
    case 3:
      return r.keep(r.b.reshape(r.b("reshape", {x}, {{"shape", Dims{r.type(x).elements()}}}), Dims(r.type(x).dims)));
    case 4: return r.keep(neg(r.b("sub", {x, y})));
    case 5: return r.keep(r.b("sub", {x, neg(y)}));
    case 6: return r.keep(r.b("add", {neg(x), y}));
    case 7: return r.keep(r.b("mul", {neg(x), neg(y)}));
    case 8: return r.keep(r.b("select", {r.b("not", {r.b("lt", {x, y})}), x, y}));
    case 9: return rejoined(r, x, y);
    case 10: return repeated(r, x);
    default: return turned(r, x);
  }
}

}  // namespace heddle::testing
