// One value at other indices, by movements that keep its type.
#include <algorithm>

#include "tests/random/growing_graph.h"

namespace heddle::testing {
using namespace ir;
namespace {

Attrs range(const Dims& dims, size_t axis, int64_t start, int64_t limit, int64_t stride = 1) {
  Dims starts(dims.size(), 0), limits = dims, strides(dims.size(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return {{"starts", starts}, {"limits", limits}, {"strides", strides}};
}

ValueId part(GrowingGraph& w, ValueId v, size_t axis, int64_t start, int64_t limit, int64_t stride = 1) {
  return w.b("slice", {v}, range(Dims(w.type(v).dims), axis, start, limit, stride));
}

ValueId joined(GrowingGraph& w, ValueId first, ValueId second, size_t axis) {
  return w.b("concat", {first, second}, {{"axis", static_cast<int64_t>(axis)}});
}

ValueId padded(GrowingGraph& w, ValueId v, size_t axis, int64_t low, int64_t high, int64_t interior) {
  const size_t rank = w.type(v).dims.size();
  Dims lows(rank, 0), highs(rank, 0), gaps(rank, 0);
  lows[axis] = low;
  highs[axis] = high;
  gaps[axis] = interior;
  return w.b("pad", {v}, {{"low", lows}, {"high", highs}, {"interior", gaps}});
}

// A part's width: 1, 2, or any.
int64_t width(GrowingGraph& w, int64_t size) {
  if (w.random.chance(60)) return std::min<int64_t>(size - 1, 1 + w.random.below(2));
  return 1 + w.random.below(size - 1);
}

ValueId strided(GrowingGraph& w, ValueId v, size_t axis, int64_t size) {
  const int64_t stride = 2 + w.random.below(2);
  const ValueId thin = part(w, v, axis, 0, size, stride);
  const int64_t filled = (w.type(thin).dims[axis] - 1) * stride + 1;
  return padded(w, thin, axis, size - filled, 0, stride - 1);
}

ValueId repeated(GrowingGraph& w, ValueId v, size_t axis, int64_t size) {
  const int64_t at = w.random.below(size);
  const ValueId one = part(w, v, axis, at, at + 1);
  Dims dims;
  for (size_t d = 0; d < w.type(v).dims.size(); ++d) dims.push_back(static_cast<int64_t>(d));
  return w.b("broadcast", {one}, {{"dims", dims}, {"shape", Dims(w.type(v).dims)}});
}

// Another axis becomes the innermost one and goes back, with rows read backward meanwhile.
ValueId turned(GrowingGraph& w, ValueId v, size_t axis) {
  const auto rank = w.type(v).rank();
  Dims there, back;
  for (int64_t d = 0; d < rank; ++d) {
    there.push_back((d + 1) % rank);
    back.push_back((d + rank - 1) % rank);
  }
  const ValueId t = w.b("transpose", {v}, {{"perm", there}});
  return w.b("transpose", {w.b("reverse", {t}, {{"axes", Dims{static_cast<int64_t>(axis)}}})}, {{"perm", back}});
}

}  // namespace

ValueId reread(GrowingGraph& w, ValueId v) {
  const Dims dims = w.type(v).dims;
  if (dims.empty()) return v;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto axis = static_cast<size_t>(w.random.chance(60) ? rank - 1 : w.random.below(rank));
  const int64_t size = dims[axis];
  if (size == 1) return w.random.chance(50) ? v : turned(w, v, axis);
  const int64_t k = width(w, size);
  switch (w.random.below(8)) {
    case 0: return w.b("reverse", {v}, {{"axes", Dims{static_cast<int64_t>(axis)}}});
    case 1: return joined(w, part(w, v, axis, k, size), part(w, v, axis, 0, k), axis);
    case 2: return padded(w, part(w, v, axis, 0, size - k), axis, k, 0, 0);
    case 3: return padded(w, part(w, v, axis, k, size), axis, 0, k, 0);
    case 4: return strided(w, v, axis, size);
    case 5: return repeated(w, v, axis, size);
    case 6: return turned(w, v, axis);
    default: return joined(w, part(w, v, axis, 0, k), part(w, recent_like(w, v), axis, k, size), axis);
  }
}

ValueId recent_like(GrowingGraph& w, ValueId v) {
  Values same;
  for (const ValueId other : w.values)
    if (w.type(other) == w.type(v)) same.push_back(other);
  return same.empty() ? v : w.random.pick(same);
}

ValueId adapt(GrowingGraph& w, ValueId v, const Dims& dims) {
  if (w.type(v).dims == dims) return v;
  const int64_t wanted = product(dims), have = w.type(v).elements();
  if (wanted == have) return w.b.reshape(v, dims);
  ValueId flat = w.b.reshape(v, {have});
  if (have == 1) return w.b.reshape(w.b("broadcast", {flat}, {{"dims", Dims{0}}, {"shape", Dims{wanted}}}), dims);
  if (have > wanted) {
    const int64_t start = w.random.below(have - wanted + 1);
    const bool jumps = have > 2 * wanted && w.random.chance(40);
    flat = jumps ? part(w, flat, 0, 0, 2 * wanted - 1, 2) : part(w, flat, 0, start, start + wanted);
  } else if (w.random.chance(50) && 2 * have >= wanted) {
    flat = joined(w, flat, part(w, flat, 0, 0, wanted - have), 0);
  } else {
    const int64_t low = w.random.below(wanted - have + 1);
    flat = padded(w, flat, 0, low, wanted - have - low, 0);
  }
  return w.b.reshape(flat, dims);
}

}  // namespace heddle::testing
