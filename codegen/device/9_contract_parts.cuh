#pragma once
// Split-K: adds up the parts of a product whose sum over k is cut.
namespace hd {

// The sums of one tile in the partial results. The sums of a thread are strided, so that neighbouring threads write
// neighbours.
template <class P>
struct Parts {
  static constexpr int height = P::Sums::height, width = P::Sums::width, all = height * width;
  static constexpr int at_once = all < 128 ? 128 / all : 1;  // parts whose loads are in flight together
  float* first;

  HD_DEVICE float* at(int part, int e) const { return first + ((i64)part * all + e) * P::threads; }
  HD_DEVICE void leave(int part, const typename P::Sums& sums) const {
    HD_IN_REGISTERS
    for (int e = 0; e < all; ++e) *at(part, e) = sums.sum[e / width][e % width];
  }
  // Adds up `count` parts, `step` apart, in order.
  HD_DEVICE void add(typename P::Sums& sums, int part, int step, int count) const {
    HD_IN_REGISTERS
    for (int e = 0; e < all; ++e) sums.sum[e / width][e % width] = written(at(part, e));
    for (int i = 1; i < count; i += at_once) {
      float next[at_once][all];
      HD_IN_REGISTERS
      for (int p = 0; p < at_once; ++p)
        HD_IN_REGISTERS
      for (int e = 0; e < all; ++e) next[p][e] = i + p < count ? written(at(part + (i + p) * step, e)) : 0.0f;
      HD_IN_REGISTERS
      for (int p = 0; p < at_once; ++p)
        HD_IN_REGISTERS
      for (int e = 0; e < all; ++e)
        if (i + p < count) sums.sum[e / width][e % width] = sums.sum[e / width][e % width] + next[p][e];
    }
  }
};

// Writes the part's sums to `partials`. Returns true in the block that arrives last; its `sums` are then those of all
// parts. The parts are added in order: the last block of each group of `gather` parts adds the group, and the last
// block of all adds the groups.
template <class P>
HD_DEVICE bool add_parts(typename P::Sums& sums, float* partials, u32* counters, i64 tile, int part, int parts, int gather) {
  const Parts<P> all{partials + tile * parts * (P::tile_rows * P::tile_columns) + thread()};
  const int groups = cut(parts, gather), first = part / gather * gather, count = least(gather, parts - first);
  u32* const mine = counters + tile * (groups + 1);
  all.leave(part, sums);
  if (!last_of(mine + 1 + part / gather, count)) return false;
  all.add(sums, first, 1, count);
  if (groups == 1) return true;
  all.leave(first, sums);
  if (!last_of(mine, groups)) return false;
  all.add(sums, 0, gather, groups);
  return true;
}

}  // namespace hd
