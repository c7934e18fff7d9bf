#pragma once
// Mathematical functions for every type. On the host the float forms are straight-line code that vectorises, within 2.5 units in
// the last place, and exact at the edges: exp(-inf) is 0, log(0) is -inf, nan stays nan. double calls the system's functions.
namespace hd {

template <class T>
HD_DEVICE bool is_nan(T x) {
  return x != x;
}
// Whether an index is in [0, extent), and the result of a lookup outside of it: nan, or 0 for types without nan.
template <class T>
HD_DEVICE bool inside(T index, i64 extent) {
  return index >= T(0) && (u64)index < (u64)extent;
}
template <class T>
HD_DEVICE T nothing() {
  return T(0);
}
template <>
HD_DEVICE float nothing<float>() {
  return bits<float>(0x7fc00000u);
}
template <>
HD_DEVICE double nothing<double>() {
  return bits<double>((u64)0x7ff8000000000000ull);
}
// nan if either operand is nan.
template <class T>
HD_DEVICE T max(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
HD_DEVICE T min(T a, T b) {
  return a < b || a != a ? a : b;
}
// Integers wrap: the computation uses unsigned types, whose overflow is defined. (i16 and u16 would be promoted to
// int.)
template <bool wide>
struct UnsignedOf {
  using type = u32;
};
template <>
struct UnsignedOf<true> {
  using type = u64;
};
template <class T>
using Unsigned = typename UnsignedOf<(sizeof(T) > 4)>::type;
template <class T>
HD_DEVICE T add(T a, T b) {
  if constexpr (is_real<T>) return a + b;
  else return T(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T>
HD_DEVICE T sub(T a, T b) {
  if constexpr (is_real<T>) return a - b;
  else return T(Unsigned<T>(a) - Unsigned<T>(b));
}
template <class T>
HD_DEVICE T mul(T a, T b) {
  if constexpr (is_real<T>) return a * b;
  else return T(Unsigned<T>(a) * Unsigned<T>(b));
}
template <class T>
HD_DEVICE T neg(T x) {
  if constexpr (is_real<T>) return -x;
  else return sub(T(0), x);
}
template <class T>
HD_DEVICE T abs(T x) {
  return x < T(0) ? neg(x) : x;
}
template <class T>
HD_DEVICE T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
template <class T>
HD_DEVICE T select(bool condition, T a, T b) {
  return condition ? a : b;
}

// Integers: a quotient by 0 has ones in every bit, a remainder by 0 is the dividend, and the most negative number by -1
// wraps.
template <class T>
HD_DEVICE T div(T a, T b) {
  if constexpr (is_real<T>) return a / b;
  if (b == T(0)) return T(-1);
  if constexpr (!is_unsigned<T>)
    if (b == T(-1)) return T(0 - (u64)a);
  return T(a / (b == T(0) ? T(1) : b));
}

#if defined(HD_CUDA)
#define HD_FUNCTION(name, single, twice)                  \
  HD_DEVICE float name(float x) { return ::single(x); } \
  HD_DEVICE double name(double x) { return ::twice(x); }
HD_FUNCTION(exp, expf, exp)
HD_FUNCTION(log, logf, log)
HD_FUNCTION(log1p, log1pf, log1p)
HD_FUNCTION(expm1, expm1f, expm1)
HD_FUNCTION(sqrt, sqrtf, sqrt)
HD_FUNCTION(rsqrt, rsqrtf, rsqrt)
HD_FUNCTION(sin, sinf, sin)
HD_FUNCTION(cos, cosf, cos)
HD_FUNCTION(tan, tanf, tan)
HD_FUNCTION(tanh, tanhf, tanh)
HD_FUNCTION(erf, erff, erf)
HD_FUNCTION(erfc, erfcf, erfc)
HD_FUNCTION(erf_inv, erfinvf, erfinv)
HD_FUNCTION(asin, asinf, asin)
HD_FUNCTION(acos, acosf, acos)
HD_FUNCTION(atan, atanf, atan)
HD_FUNCTION(sinh, sinhf, sinh)
HD_FUNCTION(cosh, coshf, cosh)
HD_FUNCTION(asinh, asinhf, asinh)
HD_FUNCTION(acosh, acoshf, acosh)
HD_FUNCTION(atanh, atanhf, atanh)
HD_FUNCTION(cbrt, cbrtf, cbrt)
HD_FUNCTION(floor, floorf, floor)
HD_FUNCTION(ceil, ceilf, ceil)
HD_FUNCTION(rint, rintf, rint)
#undef HD_FUNCTION
HD_DEVICE float abs(float x) { return ::fabsf(x); }
HD_DEVICE double abs(double x) { return ::fabs(x); }
HD_DEVICE float pow(float a, float b) { return ::powf(a, b); }
HD_DEVICE double pow(double a, double b) { return ::pow(a, b); }
HD_DEVICE float fmod(float a, float b) { return ::fmodf(a, b); }
HD_DEVICE double fmod(double a, double b) { return ::fmod(a, b); }
HD_DEVICE float atan2(float a, float b) { return ::atan2f(a, b); }
HD_DEVICE double atan2(double a, double b) { return ::atan2(a, b); }
HD_DEVICE double lgamma(double x) { return ::lgamma(x); }
HD_DEVICE int ones(u64 word) { return __popcll(word); }
HD_DEVICE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
#else
#define HD_FUNCTION(name, single, twice)                  \
  HD_DEVICE float name(float x) { return single(x); } \
  HD_DEVICE double name(double x) { return twice(x); }
HD_FUNCTION(sqrt, __builtin_sqrtf, __builtin_sqrt)
HD_FUNCTION(sin, __builtin_sinf, __builtin_sin)
HD_FUNCTION(cos, __builtin_cosf, __builtin_cos)
HD_FUNCTION(tan, __builtin_tanf, __builtin_tan)
HD_FUNCTION(erfc, __builtin_erfcf, __builtin_erfc)
HD_FUNCTION(asin, __builtin_asinf, __builtin_asin)
HD_FUNCTION(acos, __builtin_acosf, __builtin_acos)
HD_FUNCTION(atan, __builtin_atanf, __builtin_atan)
HD_FUNCTION(sinh, __builtin_sinhf, __builtin_sinh)
HD_FUNCTION(cosh, __builtin_coshf, __builtin_cosh)
HD_FUNCTION(asinh, __builtin_asinhf, __builtin_asinh)
HD_FUNCTION(acosh, __builtin_acoshf, __builtin_acosh)
HD_FUNCTION(atanh, __builtin_atanhf, __builtin_atanh)
HD_FUNCTION(cbrt, __builtin_cbrtf, __builtin_cbrt)
HD_FUNCTION(floor, __builtin_floorf, __builtin_floor)
HD_FUNCTION(ceil, __builtin_ceilf, __builtin_ceil)
HD_FUNCTION(rint, __builtin_rintf, __builtin_rint)
HD_FUNCTION(abs, __builtin_fabsf, __builtin_fabs)
#undef HD_FUNCTION
HD_DEVICE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
HD_DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
HD_DEVICE double exp(double x) { return __builtin_exp(x); }
HD_DEVICE double log(double x) { return __builtin_log(x); }
HD_DEVICE double log1p(double x) { return __builtin_log1p(x); }
HD_DEVICE double expm1(double x) { return __builtin_expm1(x); }
HD_DEVICE double tanh(double x) { return __builtin_tanh(x); }
HD_DEVICE double erf(double x) { return __builtin_erf(x); }
HD_DEVICE float pow(float a, float b) { return __builtin_powf(a, b); }
HD_DEVICE double pow(double a, double b) { return __builtin_pow(a, b); }
HD_DEVICE float fmod(float a, float b) { return __builtin_fmodf(a, b); }
HD_DEVICE double fmod(double a, double b) { return __builtin_fmod(a, b); }
HD_DEVICE float atan2(float a, float b) { return __builtin_atan2f(a, b); }
HD_DEVICE double atan2(double a, double b) { return __builtin_atan2(a, b); }
// Not __builtin_popcountll: in a short loop over the index itself g++ 12 makes a vector of constants of it, with AVX-512, and gives these back
// as they are (2 for 2). Nor the product that usually ends these sums, which it turns into the same.
HD_DEVICE int ones(u64 word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  word += word >> 8, word += word >> 16, word += word >> 32;
  return (int)(word & 127);
}

// The system's lgamma writes the sign to a global variable, which would be a race between threads.
extern "C" double lgamma_r(double x, int* sign) noexcept;
HD_DEVICE double lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// Winitzki's formula is within 2e-3; each step of Halley's method takes the error to its third power. Near 1 the distance from 1 is
// compared, which is known better.
HD_DEVICE double erf_inv(double x) {
  const double size = __builtin_fabs(x), rest = 1.0 - size;
  if (!(size < 1.0)) return size == 1.0 ? x * __builtin_inf() : __builtin_nan("");
  const double l = log1p(-size * size), half = 4.3307467508 + 0.5 * l;
  double y = sqrt(sqrt(half * half - l / 0.147) - half);
  if (size < 1e-3) y = 0.886226925452758 * size;
  for (int step = 0; step < 3; ++step) {
    const double off = size < 0.5 ? erf(y) - size : rest - erfc(y);
    const double newton = off * exp(y * y) * 0.886226925452758;  // sqrt(pi) / 2
    y -= newton / (1.0 + y * newton);
  }
  return __builtin_copysign(y, x);
}
HD_DEVICE float erf_inv(float x) { return (float)erf_inv((double)x); }
HD_DEVICE u32 high_product(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }

// With a single rounding if the processor has the instruction.
HD_DEVICE float fma(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) - 1 by a minimax polynomial. Adding 1.5 * 2^23 rounds to an integer and leaves it in
// the low bits: no conversion, which for nan would be undefined.
struct Reduced {
  int n;
  float expm1;
};
HD_DEVICE Reduced reduce_exp(float x) {
  const float shifted = fma(x, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  const float r = fma(n, -1.42860677e-6f, fma(n, -0.693145752f, x));  // ln 2 in two parts, the first exact times n
  float p = 1.38146133e-3f;
  p = fma(p, r, 8.36870982e-3f);
  p = fma(p, r, 4.16683874e-2f);
  p = fma(p, r, 1.66665207e-1f);
  p = fma(p, r, 4.99999935e-1f);
  return {bits<int>(shifted) - 0x4b400000, fma(p, r * r, r)};
}
// 2^n; 0 if it is below the normal numbers, inf if it is too large.
HD_DEVICE float power_of_two(int n) {
  const int exponent = n + 127;
  return bits<float>((exponent < 0 ? 0 : exponent) << 23);
}
HD_DEVICE float clamp(float x, float low, float high) {
  x = x > high ? high : x;
  return x < low ? low : x;
}

HD_DEVICE float exp(float x) {  // results below 2^-126 are 0
  const Reduced e = reduce_exp(clamp(x, -88.0f, 89.0f));
  return 2.0f * (power_of_two(e.n - 1) * (1.0f + e.expm1));  // 2^n would overflow before the result does
}

HD_DEVICE float expm1(float x) {
  const Reduced e = reduce_exp(clamp(x, -18.0f, 89.0f));
  const float scale = power_of_two(e.n - 1);
  return 2.0f * fma(scale, e.expm1, scale - 0.5f);
}

// x = m 2^n with m in [sqrt(1/2), sqrt(2)); log(m) by a minimax polynomial.
HD_DEVICE float log(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const u32 word = bits<u32>(subnormal ? x * 8388608.0f : x) - 0x3f3504f3u;
  const float n = (float)((int)word >> 23) - (subnormal ? 23.0f : 0.0f);
  const float f = bits<float>((word & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 6.74664021e-2f;
  p = fma(p, f, -1.16756406e-1f);
  p = fma(p, f, 1.18881558e-1f);
  p = fma(p, f, -1.24055904e-1f);
  p = fma(p, f, 1.42195535e-1f);
  p = fma(p, f, -1.66679958e-1f);
  p = fma(p, f, 2.00021186e-1f);
  p = fma(p, f, -2.50000096e-1f);
  p = fma(p, f, 3.33333126e-1f);
  const float square = f * f;
  const float tail = fma(n, 1.42860677e-6f, fma(p, square * f, -0.5f * square));
  const float value = fma(n, 0.693145752f, f + tail);
  const float edge = x == 0.0f ? -__builtin_bit_cast(float, 0x7f800000u) : x < 0.0f ? __builtin_bit_cast(float, 0x7fc00000u) : x;
  return x > 0.0f && x < __builtin_bit_cast(float, 0x7f800000u) ? value : edge;
}

HD_DEVICE float log1p(float x) {
  const float u = 1.0f + x, lost = x - (u - 1.0f);  // what rounding took from u
  const float value = log(u);
  return u > 0.0f && u < __builtin_bit_cast(float, 0x7f800000u) ? value + lost / u : value;
}

HD_DEVICE float tanh(float x) {
  const float a = __builtin_fabsf(x), e = expm1(2.0f * (a > 9.1f ? 9.1f : a));
  return __builtin_copysignf(e / (e + 2.0f), x);
}

HD_DEVICE float erf(float x) {
  const float a = __builtin_fabsf(x), t = a > 4.0f ? 4.0f : a, s = x * x;
  float p = -5.95374179e-4f;  // |x| < 0.93: erf(x) / x - 1 in x^2
  p = fma(p, s, 4.98594064e-3f);
  p = fma(p, s, -2.67617199e-2f);
  p = fma(p, s, 1.12816825e-1f);
  p = fma(p, s, -3.76124811e-1f);
  p = fma(p, s, 1.28379148e-1f);
  float q = 2.10949665e-5f;  // beyond: -log(1 - erf(|x|)) in |x|
  q = fma(q, t, -4.34461702e-4f);
  q = fma(q, t, 4.17105885e-3f);
  q = fma(q, t, -2.51194170e-2f);
  q = fma(q, t, 1.08280074e-1f);
  q = fma(q, t, 6.33346920e-1f);
  q = fma(q, t, 1.12951492f);
  q = fma(q, t, -1.74683240e-4f);
  return a < 0.93f || x != x ? fma(p, x, x) : __builtin_copysignf(1.0f - exp(-q), x);
}
#endif

// The derivatives of lgamma, in double precision as it is. Between 1 and 2 digamma is its distance from its zero, which a double
// and what is left of it name, times a polynomial (interpolated at Chebyshev's nodes, within 1e-16 of it); steps of 1 lead there,
// and from 10 on the asymptotic series does (Abramowitz and Stegun 1964, 6.3.18 and 6.4.12).
HD_DEVICE double digamma_of_positive(double x) {
  constexpr double factors[] = {
      -0.00017312261802727394, 0.00025968482126430747, -0.00015148586836773365, 0.0002272331660987376, -0.0004821990530566789,
      0.0007233266279287554, -0.0010376374098418604, 0.0015566317474486838, -0.002345267632540769, 0.003519006401502276,
      -0.005279964873257405, 0.007926944646403797, -0.011908218001568644, 0.0179072524394512, -0.02697579675613825,
      0.04076083381242074, -0.061922133273064534, 0.09498872445494122, -0.14840492305390884, 0.2405424842407742,
      -0.4236274212814605, 0.951055876031833};
  double sum = 0.0;
  if (x >= 10.0) {
    const double z = 1.0 / (x * x);
    return log(x) - 0.5 / x -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  }
  if (x < 1.0) sum = -1.0 / x, x += 1.0;
  for (; x > 2.0; sum += 1.0 / x) x -= 1.0;
  double factor = 0.0;
  for (const double c : factors) factor = factor * (x - 1.5) + c;
  return sum + (x - 1.4616321449683622 - 9.549995429965697e-17) * factor;
}
HD_DEVICE double trigamma_of_positive(double x) {
  double sum = 0.0;
  for (; x < 10.0; x += 1.0) sum += 1.0 / (x * x);
  const double z = 1.0 / (x * x);
  const double series = z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730 -
                        z * (7.0 / 6 - z * (3617.0 / 510))))))));
  return sum + (1.0 + 0.5 / x + series) / x;
}
// Below 0 by reflection, with the distance from the nearest integer, which is exact.
HD_DEVICE double digamma(double x) {
  if (!(x < 0.0)) return x == 0.0 ? -1.0 / x : digamma_of_positive(x);
  const double distance = x - rint(x);
  if (distance == 0.0) return nothing<double>();
  return digamma_of_positive(1.0 - x) - 3.14159265358979324 / tan(3.14159265358979324 * distance);
}
HD_DEVICE double trigamma(double x) {
  if (!(x <= 0.0)) return trigamma_of_positive(x);
  const double part = 3.14159265358979324 / sin(3.14159265358979324 * (x - rint(x)));
  return part * part - trigamma_of_positive(1.0 - x);
}
// In double precision: near their zeros float would keep few digits.
HD_DEVICE float lgamma(float x) { return (float)lgamma((double)x); }
HD_DEVICE float digamma(float x) { return (float)digamma((double)x); }
HD_DEVICE float trigamma(float x) { return (float)trigamma((double)x); }

// The bits of an integer as a number without sign, and with the highest bit as the sign.
template <class T>
HD_DEVICE u64 word_of(T x) {
  constexpr int above = 64 - 8 * (int)sizeof(T);
  return ((u64)x << above) >> above;
}
template <class T>
HD_DEVICE i64 signed_of(T x) {
  constexpr int above = 64 - 8 * (int)sizeof(T);
  return (i64)((u64)x << above) >> above;
}
// A shift by a negative number, or by at least the number of bits, moves all bits out.
template <class T>
HD_DEVICE bool moves_all(T distance) {
  return (u64)distance >= 8 * sizeof(T);
}
template <class T>
HD_DEVICE T shift_left(T a, T b) {
  return moves_all(b) ? T(0) : T((u64)a << (u64)b);
}
template <class T>
HD_DEVICE T shift_right_logical(T a, T b) {
  return moves_all(b) ? T(0) : T(word_of(a) >> (u64)b);
}
template <class T>
HD_DEVICE T shift_right_arithmetic(T a, T b) {
  return T(signed_of(a) >> (moves_all(b) ? (u64)63 : (u64)b));
}
template <class T>
HD_DEVICE T popcnt(T x) {
  return T(ones(word_of(x)));
}

// Of element i for the place (step o + offset) / scale of result o, where k = o input + i. Elements beyond the ends are the last one's
// copies: their weights are its own.
template <class T>
HD_DEVICE T cubic_weight(T d) {
  d = abs(d);
  return d <= T(1) ? (T(1.25) * d - T(2.25)) * d * d + T(1) : d < T(2) ? ((T(-0.75) * d + T(3.75)) * d - T(6)) * d + T(3) : T(0);
}
template <class T>
HD_DEVICE T resize_weight(i64 k, i64 input, i64 step, i64 offset, i64 scale, bool cubic) {
  const i64 o = k / input, i = k - o * input, place = step * o + offset, last = (input - 1) * scale;
  if (!cubic) {
    const i64 inside = place < 0 ? 0 : place > last ? last : place;
    return max(T(1) - abs(T(inside - i * scale)) / T(scale), T(0));
  }
  T sum = cubic_weight(T(place - i * scale) / T(scale));
  HD_UNROLL
  for (int beyond = 1; beyond <= 2; ++beyond) {
    if (i == 0) sum += cubic_weight(T(place + beyond * scale) / T(scale));
    if (i == input - 1) sum += cubic_weight(T(place - last - beyond * scale) / T(scale));
  }
  return sum;
}

// An element with weight 0 contributes 0; the product 0 times inf would be nan.
template <class T>
HD_DEVICE T weighed(T x, T weight) {
  return weight == T(0) ? T(0) : x * weight;
}

// Integer powers wrap; a negative exponent gives the truncated reciprocal, 0 for a = 0.
template <class T>
HD_DEVICE T pow(T a, T b) {
  if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b % T(2) == T(0) ? T(1) : T(-1)) : T(0);
  u64 result = 1, base = (u64)a;
  for (u64 n = (u64)b; n != 0; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return T(result);
}
template <class T>
HD_DEVICE T fmod(T a, T b) {
  const bool negates = !is_unsigned<T> && b == T(-1);  // the most negative integer by -1 would trap
  return b == T(0) ? a : T(a % (b == T(0) || negates ? T(1) : b));
}

// A float of which the last bit says whether anything was lost ("round to odd"), so that rounding it to 16 bits is as
// if `x` had been rounded once.
HD_DEVICE float to_odd(float x) { return x; }
HD_DEVICE float to_odd(double x) {
  const float near = (float)x;
  const u32 word = bits<u32>(near);
  const double size = abs((double)near), exact = abs(x);
  const u32 odd = size > exact ? word - 1 : size < exact ? word + 1 : word;  // the neighbour on the other side of x
  return (word & 1u) != 0 ? near : bits<float>(odd);
}
template <class T>
HD_DEVICE float to_odd(T x) {
  if constexpr (sizeof(T) < 8) {
    return to_odd((double)x);
  } else {
    const bool negative = !is_unsigned<T> && x < T(0);
    const u64 magnitude = negative ? 0 - (u64)x : (u64)x, low = magnitude & 0x7ffu;
    const double exact = (double)((magnitude >> 53) == 0 || low == 0 ? magnitude : (magnitude - low) | 0x800u);
    return to_odd(negative ? -exact : exact);
  }
}

// A value in the storage type To, as its compute type. ir/evaluate/arithmetic.h says what casts mean.
template <class To, class From>
HD_DEVICE Compute<To> cast(From x) {
  if constexpr (is_bool<To>) {
    return x != From(0);
  } else if constexpr (is_real<From> && !is_real<Compute<To>>) {
    constexpr From high = is_unsigned<To> ? From(2) * From(u64(1) << (sizeof(To) * 8 - 1)) : From(u64(1) << (sizeof(To) * 8 - 1));
    constexpr From low = is_unsigned<To> ? From(0) : -high;
    const bool inside = x > low && x < high;
    const To converted = To(inside ? x : From(0));
    return inside ? converted : x >= high ? largest<To>() : x <= low ? lowest<To>() : To(0);
  } else if constexpr (is_real<To>) {
    return To(x);
  } else if constexpr (is_real<Compute<To>>) {
    return Compute<To>(To(to_odd(x)));
  } else {
    return To(x);
  }
}

}  // namespace hd
