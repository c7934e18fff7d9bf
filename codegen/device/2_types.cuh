#pragma once
// Element types in memory, and packets of elements. Computations on 16-bit types use float.
namespace hd {

template <class To, class From>
HD_DEVICE To bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bits are reinterpreted, not converted");
  To to;
  copy_bytes(&to, &from, sizeof(To));
  return to;
}

// IEEE binary16. Conversions round to nearest, ties to even, and keep subnormals.
struct half {
  unsigned short word;
  half() = default;
  HD_DEVICE half(float x) {
    const u32 sign = (bits<u32>(x) >> 16) & 0x8000u, a = bits<u32>(x) & 0x7fffffffu;
    const u32 subnormal = bits<u32>(bits<float>(a) + 0.5f) - bits<u32>(0.5f);
    const u32 normal = (a + 0xfffu + ((a >> 13) & 1u) - 0x38000000u) >> 13;
    const u32 finite = a < 0x38800000u ? subnormal : normal;
    const u32 special = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
    word = (unsigned short)(sign | (a >= 0x477ff000u ? special : finite));
  }
  HD_DEVICE operator float() const {
    const u32 sign = (u32)(word & 0x8000u) << 16, magnitude = (u32)(word & 0x7fffu) << 13;
    const u32 scaled = bits<u32>(bits<float>(magnitude) * 0x1p112f);
    return bits<float>(sign | (magnitude >= 0x0f800000u ? scaled | 0x7f800000u : scaled));
  }
};

// The upper half of a float.
struct bf16 {
  unsigned short word;
  bf16() = default;
  HD_DEVICE bf16(float x) {
    const u32 a = bits<u32>(x), rounded = (a + 0x7fffu + ((a >> 16) & 1u)) >> 16;
    word = (unsigned short)(x != x ? 0x7fc0u : rounded);
  }
  HD_DEVICE operator float() const { return bits<float>((u32)word << 16); }
};

// Rounds x to one of its two bf16 neighbours, each with a probability that makes the mean x: the lower 16 bits are added to
// 16 bits of `uniform`, a number of [0, 1), and the carry decides. Beyond the largest bf16, and nan: to the nearest.
HD_DEVICE float stochastic_bf16(float x, float uniform) {
  const u32 a = bits<u32>(x);
  const float held = uniform > 0.0f ? (uniform < 1.0f ? uniform : 0x1.fffep-1f) : 0.0f;
  const u32 drawn = (a + (u32)(int)(held * 65536.0f)) & 0xffff0000u;
  return (a & 0x7fffffffu) >= 0x7f7f0000u ? (float)bf16(x) : bits<float>(drawn);
}

// The type in which computations on an element are made.
template <class S>
struct ComputeOf {
  using type = S;
};
template <>
struct ComputeOf<half> {
  using type = float;
};
template <>
struct ComputeOf<bf16> {
  using type = float;
};
template <class S>
using Compute = typename ComputeOf<S>::type;

template <class T>
struct Limits;  // of an integer type
template <class T>
constexpr bool is_unsigned = T(-1) > T(0);
template <class T>
HD_DEVICE constexpr T largest() {
  return is_unsigned<T> ? T(-1) : T((u64(1) << (sizeof(T) * 8 - 1)) - 1);
}
template <class T>
HD_DEVICE constexpr T lowest() {
  return is_unsigned<T> ? T(0) : T(-largest<T>() - 1);
}
template <>
HD_DEVICE constexpr float largest<float>() {
  return __builtin_bit_cast(float, 0x7f800000u);
}
template <>
HD_DEVICE constexpr float lowest<float>() {
  return -__builtin_bit_cast(float, 0x7f800000u);
}
template <>
HD_DEVICE constexpr double largest<double>() {
  return __builtin_bit_cast(double, 0x7ff0000000000000ull);
}
template <>
HD_DEVICE constexpr double lowest<double>() {
  return -__builtin_bit_cast(double, 0x7ff0000000000000ull);
}
template <class T>
HD_DEVICE constexpr T not_a_number() {
  if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, 0x7ff8000000000000ull);
  else return __builtin_bit_cast(T, 0x7fc00000u);
}
template <class T>
constexpr bool is_real = false;
template <>
inline constexpr bool is_real<float> = true;
template <>
inline constexpr bool is_real<double> = true;
template <class T>
constexpr bool is_bool = false;
template <>
inline constexpr bool is_bool<bool> = true;

// `width` neighbouring elements. A GPU moves them with instructions of up to 16 bytes. On the host a Packet has one
// element.
template <class S, int width>
struct alignas(sizeof(S) * width) Elements {
  S item[width];
  HD_DEVICE S& operator[](int k) { return item[k]; }
  HD_DEVICE const S& operator[](int k) const { return item[k]; }
};
template <class S, int width>
using Packet = Elements<S, HD_WIDTH(width)>;

// A type of this many bytes that one instruction moves.
template <int bytes>
struct Word;
template <>
struct Word<1> {
  using type = u8;
};
template <>
struct Word<2> {
  using type = u16;
};
template <>
struct Word<4> {
  using type = u32;
};
#if defined(HD_CUDA)
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};
#else
template <>
struct Word<8> {
  using type = u64;
};
#endif

// Loads a packet of `width` elements on every target, also on the host. Random numbers need it: they come four at a
// time.
template <int width, class S>
HD_DEVICE Elements<S, width> load_group(const S* from) {
  Elements<S, width> packet;
#if defined(HD_CUDA)
  constexpr int bytes = sizeof(S) * width, step = bytes < 16 ? bytes : 16;
  using W = typename Word<step>::type;
  HD_UNROLL
  for (int i = 0; i < bytes / step; ++i) {
    const W word = reinterpret_cast<const W*>(from)[i];
    copy_bytes(packet.item + i * (step / (int)sizeof(S)), &word, step);
  }
#else
  HD_UNROLL
  for (int k = 0; k < width; ++k) packet[k] = from[k];
#endif
  return packet;
}

template <int width, class S>
HD_DEVICE Packet<S, width> load(const S* from) {
  return load_group<HD_WIDTH(width)>(from);
}

template <class S, int width>
HD_DEVICE void store(S* to, const Elements<S, width>& packet) {
#if defined(HD_CUDA)
  constexpr int bytes = sizeof(S) * width, step = bytes < 16 ? bytes : 16;
  using W = typename Word<step>::type;
  HD_UNROLL
  for (int i = 0; i < bytes / step; ++i) {
    W word;
    copy_bytes(&word, packet.item + i * (step / (int)sizeof(S)), step);
    reinterpret_cast<W*>(to)[i] = word;
  }
#else
  HD_UNROLL
  for (int k = 0; k < width; ++k) to[k] = packet[k];
#endif
}

// The same if only the first `rest` elements exist, in the last packet of an array. A packet of one element always
// exists; a branch for it would keep the host's loop from vectorising.
template <int width, class S, class Index>
HD_DEVICE Packet<S, width> load(const S* from, Index rest) {
  if constexpr (HD_WIDTH(width) == 1) return load<width>(from);
  if (rest >= HD_WIDTH(width)) return load<width>(from);
  Packet<S, width> packet;
  HD_UNROLL
  for (int k = 0; k < HD_WIDTH(width); ++k) packet[k] = k < rest ? from[k] : S(0);
  return packet;
}
template <class S, int width, class Index>
HD_DEVICE void store(S* to, const Elements<S, width>& packet, Index rest) {
  if constexpr (width == 1) return store(to, packet);
  if (rest >= width) return store(to, packet);
  HD_UNROLL
  for (int k = 0; k < width; ++k)
    if (k < rest) to[k] = packet[k];
}

}  // namespace hd
