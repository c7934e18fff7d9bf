// cvt between all types, and cvta between windows of addresses.
#include <limits>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/real.h"

namespace heddle::ptx {
namespace {

enum class To { any, nearest, zero, down, up };
// Kept in Instruction::mode.
struct Conversion {
  Type to = Type::f32, from = Type::f32;
  To rounding = To::any;
  bool whole = false;  // .rni and so on: to an integral value
  bool ftz = false, sat = false, relu = false;

  uint32_t pack() const {
    return static_cast<uint32_t>(to) | static_cast<uint32_t>(from) << 5 | static_cast<uint32_t>(rounding) << 10 |
           static_cast<uint32_t>(whole) << 13 | static_cast<uint32_t>(ftz) << 14 | static_cast<uint32_t>(sat) << 15 |
           static_cast<uint32_t>(relu) << 16;
  }
  static Conversion unpack(uint32_t mode) {
    return {static_cast<Type>(mode & 31U),
            static_cast<Type>(mode >> 5 & 31U),
            static_cast<To>(mode >> 10 & 7U),
            (mode >> 13 & 1U) != 0,
            (mode >> 14 & 1U) != 0,
            (mode >> 15 & 1U) != 0,
            (mode >> 16 & 1U) != 0};
  }
};

bool floating(Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64; }
bool is_signed(Type t) { return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64; }

// The type's bits with its sign repeated.
uint64_t extended(uint64_t bits, Type t) {
  const int free = 64 - 8 * size_of(t);
  if (free == 0) return bits;
  return is_signed(t) ? static_cast<uint64_t>(static_cast<int64_t>(bits << free) >> free) : bits << free >> free;
}

double real_of(uint64_t bits, Type t) {
  switch (t) {
    case Type::f16: return from_f16(static_cast<uint16_t>(bits));
    case Type::bf16: return from_bf16(static_cast<uint16_t>(bits));
    case Type::f32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

double integral(double x, To rounding) {
  switch (rounding) {
    case To::zero: return std::trunc(x);
    case To::down: return std::floor(x);
    case To::up: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

// Stops at the limits. NaN becomes 0 between types of up to 32 bits, otherwise the number 2^(bits - 1).
uint64_t to_integer(double x, const Conversion& c) {
  const int bits = 8 * size_of(c.to);
  if (std::isnan(x)) {
    const bool wide = c.from == Type::f64 || bits == 64;
    return wide ? extended(uint64_t{1} << (bits - 1), c.to) : 0;
  }
  const double above = std::ldexp(1.0, is_signed(c.to) ? bits - 1 : bits), lowest = is_signed(c.to) ? -above : 0;
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  if (x >= above) return is_signed(c.to) ? ones >> 1 : ones;
  if (x <= lowest) return is_signed(c.to) ? extended(uint64_t{1} << (bits - 1), c.to) : 0;
  return is_signed(c.to) ? static_cast<uint64_t>(static_cast<int64_t>(x)) : static_cast<uint64_t>(x);
}

float to_float(double x, To rounding) {
  const auto nearest = static_cast<float>(x);
  if (rounding == To::zero) return directed(Rounding::zero, nearest, x, 0);
  if (rounding == To::down) return directed(Rounding::down, nearest, x, 0);
  if (rounding == To::up) return directed(Rounding::up, nearest, x, 0);
  return nearest;
}

uint64_t to_real(double x, const Conversion& c) {
  if (c.sat) x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
  if (c.relu && !(x > 0)) x = std::isnan(x) ? x : 0.0;
  switch (c.to) {
    case Type::f16: return to_f16(x);
    case Type::bf16: return to_bf16(static_cast<float>(x));
    case Type::f32: {
      const float y = to_float(x, c.rounding);
      return std::bit_cast<uint32_t>(c.ftz ? flush(y) : y);
    }
    default: return std::bit_cast<uint64_t>(x);
  }
}

// 64-bit integers are rounded once, to float as to double.
uint64_t integer_to_real(uint64_t bits, const Conversion& c) {
  const uint64_t x = extended(bits, c.from);
  const bool sign = is_signed(c.from);
  if (c.to == Type::f32 && size_of(c.from) == 8)
    return std::bit_cast<uint32_t>(sign ? static_cast<float>(static_cast<int64_t>(x)) : static_cast<float>(x));
  return to_real(sign ? static_cast<double>(static_cast<int64_t>(x)) : static_cast<double>(x), c);
}

uint64_t converted(uint64_t bits, const Conversion& c) {
  if (!floating(c.from) && !floating(c.to)) return extended(extended(bits, c.from), c.to);
  if (!floating(c.from)) return integer_to_real(bits, c);
  double x = real_of(bits, c.from);
  if (c.ftz && c.from == Type::f32) x = flush(static_cast<float>(x));
  if (c.whole || !floating(c.to)) x = integral(x, c.rounding);
  return floating(c.to) ? to_real(x, c) : to_integer(x, c);
}

void execute_convert(Warp& w, const Instruction& i, Lanes lanes) {
  const Conversion c = Conversion::unpack(i.mode);
  const bool from_wide = (i.wide & 2U) != 0, to_wide = (i.wide & 1U) != 0;
  each_lane(lanes,
            [&](int l) { set_any(w.at(i.slot[0]), l, to_wide, converted(get_any(w.at(i.slot[1]), l, from_wide), c)); });
}

// cvt.rn.bf16x2.f32 d, a, b: a becomes the upper half.
void execute_pair(Warp& w, const Instruction& i, Lanes lanes) {
  const Conversion c = Conversion::unpack(i.mode);
  each_lane(lanes, [&](int l) {
    const auto high = static_cast<uint32_t>(converted(get<uint32_t>(w.at(i.slot[1]), l), c));
    const auto low = static_cast<uint32_t>(converted(get<uint32_t>(w.at(i.slot[2]), l), c));
    set<uint32_t>(w.at(i.slot[0]), l, high << 16 | low);
  });
}

struct ToTf32 {
  uint32_t operator()(float x) const { return to_tf32(x); }
};
// The same between integers of one width and from 32 to 64 bits, which addresses need.
template <class R, class A>
struct Cast {
  R operator()(A a) const { return static_cast<R>(a); }
};

// The frequent ones as vector instructions.
Execute quick(const Conversion& c, bool to_wide, bool from_wide) {
  if (to_wide != (size_of(c.to) == 8) || from_wide != (size_of(c.from) == 8)) return nullptr;
  if (c.from == Type::s32 && c.to == Type::s64) return apply<Cast<int64_t, int32_t>, int64_t, int32_t>;
  if (c.from == Type::u32 && c.to == Type::u64) return apply<Cast<uint64_t, uint32_t>, uint64_t, uint32_t>;
  if (c.from == Type::u64 && c.to == Type::u32) return apply<Cast<uint32_t, uint64_t>, uint32_t, uint64_t>;
  if (c.from == Type::f32 && c.to == Type::f64) return apply<Cast<double, float>, double, float>;
  if (c.rounding != To::nearest || c.sat || c.ftz || c.whole) return nullptr;
  if (c.from == Type::f64 && c.to == Type::f32) return apply<Cast<float, double>, float, double>;
  if (c.from == Type::s32 && c.to == Type::f32) return apply<Cast<float, int32_t>, float, int32_t>;
  return nullptr;
}

Conversion take_conversion(Decoding& d) {
  Conversion c;
  static constexpr To order[] = {To::nearest, To::zero, To::down, To::up};
  if (const int whole = d.take_one_of({"rni", "rzi", "rmi", "rpi"}); whole >= 0) {
    c.whole = true;
    c.rounding = order[whole];
  } else if (const int r = d.take_one_of({"rn", "rz", "rm", "rp"}); r >= 0) {
    c.rounding = order[r];
  }
  c.ftz = d.take("ftz");
  c.sat = d.take("sat");
  c.relu = d.take("relu");
  return c;
}

void decode_cvt(Decoding& d) {
  if (d.take("tf32")) {
    if (!d.take("rna")) d.refuse("only .rna is executed");
    d.operands_are(Type::b32, {d.type()});
    d.out.execute = apply<ToTf32, uint32_t, float>;
    return;
  }
  Conversion c = take_conversion(d);
  const int pair = d.take_one_of({"f16x2", "bf16x2"});
  if (pair < 0) c.to = d.type();
  c.from = d.type();
  if (pair >= 0) c.to = pair == 0 ? Type::f16 : Type::bf16;
  d.out.mode = c.pack();
  if (pair >= 0) {
    d.operands_are(Type::b32, {c.from, c.from});
    d.out.execute = c.from == Type::f32 && c.rounding == To::nearest ? execute_pair : nullptr;
    return;
  }
  const bool narrow_real = c.to == Type::f16 || c.to == Type::bf16;
  if (narrow_real && c.rounding != To::nearest) d.refuse("only rounding to nearest is executed");
  if (c.to == Type::f32 && size_of(c.from) == 8 && !floating(c.from) && c.rounding != To::nearest)
    d.refuse("only rounding to nearest is executed");
  if (c.sat && !floating(c.to)) {
    if (!floating(c.from)) d.refuse("saturation of integers is not executed");
    c.sat = false;  // of floating numbers always
  }
  d.out.slot[0] = d.destination(d.operand(0), c.to, true);
  d.out.slot[1] = d.source(d.operand(1), c.from, true);
  const bool to_wide = d.is_wide(d.operand(0));
  const bool from_wide =
      d.builder.find_register(d.operand(1)) != nullptr ? d.is_wide(d.operand(1)) : size_of(c.from) == 8;
  d.out.wide = (to_wide ? 1U : 0U) | (from_wide ? 2U : 0U);
  d.out.execute = quick(c, to_wide, from_wide);
  if (d.out.execute == nullptr) d.out.execute = execute_convert;
}

// Shared and local memory have windows of generic addresses; global addresses are generic.
uint64_t window_of(Space space, const Warp& w, int lane) {
  if (space == Space::shared) return kSharedWindow;
  if (space == Space::local) return kLocalWindow + static_cast<uint64_t>(lane) * w.function->local_bytes;
  return 0;
}

void execute_cvta(Warp& w, const Instruction& i, Lanes lanes) {
  const bool to_wide = (i.wide & 1U) != 0, from_wide = (i.wide & 2U) != 0;
  each_lane(lanes, [&](int l) {
    const uint64_t a = get_any(w.at(i.slot[1]), l, from_wide), window = window_of(i.space, w, l);
    set_any(w.at(i.slot[0]), l, to_wide, i.mode == 1 ? a - window : a + window);
  });
}

void decode_cvta(Decoding& d) {
  d.out.mode = d.take("to") ? 1 : 0;
  d.take("cta");
  const int space = d.take_one_of({"global", "shared", "shared::cta", "local", "const"});
  if (space < 0) d.refuse("a space is missing");
  d.out.space = space == 0 || space == 4 ? Space::global : space == 3 ? Space::local : Space::shared;
  const Type t = d.type();
  d.operands_are(t, {t});
  d.out.wide = size_of(t) == 8 ? 3U : 0U;
  d.out.execute = execute_cvta;
}

}  // namespace

bool decode_convert(Decoding& d) {
  if (d.root() == "cvt") {
    decode_cvt(d);
  } else if (d.root() == "cvta") {
    decode_cvta(d);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::ptx
