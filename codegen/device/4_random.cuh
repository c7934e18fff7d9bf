#pragma once
// Random numbers as functions of (seed, step, stream, element): Philox4x32-7 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3", doi:10.1145/2063384.2063405). They do not depend on threads, so all targets draw the same numbers.
namespace hd {

struct Words {
  u32 x, y, z, w;
};
HD_DEVICE u32 fold(i64 v) { return (u32)(u64)v ^ (u32)((u64)v >> 32); }

HD_DEVICE Words philox(i64 seed, i64 step, i64 stream, i64 group) {
  u32 k0 = fold(seed), k1 = fold(stream);
  Words c = {(u32)(u64)group, (u32)((u64)group >> 32), (u32)(u64)step, (u32)((u64)step >> 32)};
  HD_UNROLL
  for (int round = 0; round < 7; ++round) {
    const u32 h0 = high_product(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    const u32 h1 = high_product(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = {h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}
HD_DEVICE u32 word(const Words& c, int lane) { return lane < 2 ? (lane == 0 ? c.x : c.y) : (lane == 2 ? c.z : c.w); }

// A number in [0, 1) from the 24 high bits, exact in float.
template <class T>
HD_DEVICE T unit(u32 word) {
  return (T)(int)(word >> 8) * T(0x1p-24);
}

// Element `base + lane` of an array; base is a multiple of 4. Four neighbours share one call of philox.
struct Element {
  i64 base;
  int lane;
};
HD_DEVICE i64 group_of(i64 i) { return i >> 2; }
HD_DEVICE i64 group_of(const Element& e) { return e.base >> 2; }
HD_DEVICE int lane_in_group(i64 i) { return (int)(i & 3); }
HD_DEVICE int lane_in_group(const Element& e) { return e.lane; }

// The index of element i, counted from element `first`.
HD_DEVICE i64 behind(i64 first, i64 i) { return first + i; }
HD_DEVICE i64 behind(i64 first, const Element& e) { return first + e.base + e.lane; }

template <class T, class I>
HD_DEVICE T random_uniform(i64 seed, i64 step, i64 stream, I i) {
  return unit<T>(word(philox(seed, step, stream, group_of(i)), lane_in_group(i)));
}

// Box and Muller (1958): words 0 and 1 make elements 0 and 1, words 2 and 3 the next two.
template <class T, class I>
HD_DEVICE T random_normal(i64 seed, i64 step, i64 stream, I i) {
  const Words c = philox(seed, step, stream, group_of(i));
  const bool second = lane_in_group(i) >= 2;
  const T radius = sqrt(T(-2) * log(unit<T>(second ? c.z : c.x) + T(0x1p-24)));
  const T angle = T(6.283185307179586) * unit<T>(second ? c.w : c.y);
  return radius * ((lane_in_group(i) & 1) == 0 ? cos(angle) : sin(angle));
}

}  // namespace hd
