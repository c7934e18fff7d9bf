// Integer arithmetic: add, sub, mul, mad, div, rem, neg, abs, min, max, sums with a carry, and
// products of parts of words.
#include <limits>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

template <class T>
using Unsigned = UnsignedOf<sizeof(T)>;
__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
template <class T>
using Twice = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, int32_t, std::conditional_t<sizeof(T) == 4, int64_t, Int128>>,
    std::conditional_t<sizeof(T) == 2, uint32_t, std::conditional_t<sizeof(T) == 4, uint64_t, Unsigned128>>>;

// Modulo 2^bits; in 64 bits, where unsigned numbers are not promoted to int.
template <class T>
T wrap(uint64_t x) {
  return static_cast<T>(static_cast<Unsigned<T>>(x));
}
template <class T>
uint64_t bits(T x) {
  return static_cast<uint64_t>(static_cast<int64_t>(x));
}

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return wrap<T>(bits(a) + bits(b));
  }
};
struct Difference {
  template <class T>
  T operator()(T a, T b) const {
    return wrap<T>(bits(a) - bits(b));
  }
};
struct LowProduct {
  template <class T>
  T operator()(T a, T b) const {
    return wrap<T>(bits(a) * bits(b));
  }
};
struct HighProduct {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (8 * sizeof(T)));
  }
};
struct WideProduct {
  template <class T>
  auto operator()(T a, T b) const {
    return static_cast<Twice<T>>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b));
  }
};
template <class Product>
struct AndAdd {
  template <class T, class C>
  C operator()(T a, T b, C c) const {
    return Sum()(Product()(a, b), c);
  }
};
// A GPU gives all ones for a division by zero, and the operand for its remainder.
struct Quotient {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(~T{0})) return Difference()(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(~T{0})) return 0;
    return static_cast<T>(a % b);
  }
};
struct Negated {
  template <class T>
  T operator()(T a) const {
    return Difference()(T{0}, a);
  }
};
struct Magnitude {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Negated()(a) : a;
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class Op, template <class, class> class Schedule>
Execute of_type(Type t) {
  switch (t) {
    case Type::b16:
    case Type::u16: return Schedule<Op, uint16_t>::execute;
    case Type::s16: return Schedule<Op, int16_t>::execute;
    case Type::b32:
    case Type::u32: return Schedule<Op, uint32_t>::execute;
    case Type::s32: return Schedule<Op, int32_t>::execute;
    case Type::b64:
    case Type::u64: return Schedule<Op, uint64_t>::execute;
    case Type::s64: return Schedule<Op, int64_t>::execute;
    default: return nullptr;
  }
}
template <class Op, class T>
struct One {
  static constexpr Execute execute = apply<Op, T, T>;
};
template <class Op, class T>
struct Two {
  static constexpr Execute execute = apply<Op, T, T, T>;
};
template <class Op, class T>
struct Three {
  static constexpr Execute execute = apply<Op, T, T, T, T>;
};

template <class Op>
Execute wide_of(Type t) {
  const auto pick = [&]<class T>(T) -> Execute {
    if constexpr (std::is_same_v<Op, WideProduct>)
      return apply<Op, Twice<T>, T, T>;
    else
      return apply<Op, Twice<T>, T, T, Twice<T>>;
  };
  switch (t) {
    case Type::u16: return pick(uint16_t{});
    case Type::s16: return pick(int16_t{});
    case Type::u32: return pick(uint32_t{});
    case Type::s32: return pick(int32_t{});
    default: return nullptr;
  }
}

Type twice(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

// add.cc, addc, sub.cc, subc, mad.cc, madc of 32 and 64 bits. The carry is a bit of each lane, in a
// register of its own.
enum CarryMode : uint32_t { kIn = 1, kOut = 2, kSubtract = 4, kMultiply = 8, kHigh = 16 };

template <class T>
T carried(uint32_t mode, T a, T b, T c, bool& carry) {
  using Wide = Twice<T>;
  if ((mode & kMultiply) != 0) {
    const Wide product = static_cast<Wide>(a) * b;
    a = (mode & kHigh) != 0 ? static_cast<T>(product >> (8 * sizeof(T))) : static_cast<T>(product);
    b = c;
  }
  const Wide in = (mode & kIn) != 0 && carry ? 1U : 0U;
  const Wide result = (mode & kSubtract) != 0 ? static_cast<Wide>(static_cast<Wide>(a) - b - in)
                                              : static_cast<Wide>(static_cast<Wide>(a) + b + in);
  if ((mode & kOut) != 0) carry = ((result >> (8 * sizeof(T))) & 1) != 0;
  return static_cast<T>(result);
}

template <class T>
void execute_carry(Warp& w, const Instruction& i, Lanes lanes) {
  Lanes carries = w.predicate(i.slot[4]);
  each_lane(lanes, [&](int l) {
    bool carry = (carries >> l & 1U) != 0;
    const T c = i.slot[3] == kNoSlot ? T{0} : get<T>(w.at(i.slot[3]), l);
    set<T>(w.at(i.slot[0]), l, carried<T>(i.mode, get<T>(w.at(i.slot[1]), l), get<T>(w.at(i.slot[2]), l), c, carry));
    carries = (carries & ~(1U << l)) | (static_cast<Lanes>(carry) << l);
  });
  w.set_predicate(i.slot[4], lanes, carries);
}

bool decode_carry(Decoding& d) {
  const std::string& root = d.root();
  const bool in = root == "addc" || root == "subc" || root == "madc";
  const bool known = in || root == "add" || root == "sub" || root == "mad";
  const bool out = known && d.take("cc");
  if (!in && !out) return false;
  const bool multiply = root.starts_with("mad");
  d.out.mode =
      (in ? kIn : 0U) | (out ? kOut : 0U) | (root.starts_with("sub") ? kSubtract : 0U) | (multiply ? kMultiply : 0U);
  if (multiply && !d.take("lo")) d.out.mode |= d.take("hi") ? kHigh : 0U;
  const Type t = d.type();
  if (multiply)
    d.operands_are(t, {t, t, t});
  else
    d.operands_are(t, {t, t});
  if (!multiply) d.out.slot[3] = kNoSlot;
  d.out.slot[4] = d.builder.carry();
  d.out.execute = size_of(t) == 8 ? execute_carry<uint64_t> : execute_carry<uint32_t>;
  return true;
}

// dp2a: the halves of a word times two bytes of another, lower or upper; dp4a: four bytes times four. And a sum.
template <class A, class B, int count, int first>
struct PartsProduct {
  template <class T>
  T operator()(uint32_t a, uint32_t b, T sum) const {
    constexpr int kBits = 32 / count;
    uint64_t all = bits(sum);
    for (int i = 0; i < count; ++i) {
      const auto x = static_cast<A>(a >> (i * kBits));
      const auto y = static_cast<B>(b >> ((first + i) * 8));
      all += bits(x) * bits(y);
    }
    return wrap<T>(all);
  }
};

template <class A, class B, class T, int count>
Execute parts_of(bool upper) {
  if (upper) return apply<PartsProduct<A, B, count, 2>, T, uint32_t, uint32_t, T>;
  return apply<PartsProduct<A, B, count, 0>, T, uint32_t, uint32_t, T>;
}

template <class U, class S, int count>
Execute parts_of(Type a, Type b, bool upper) {
  const bool left = a == Type::s32, right = b == Type::s32;
  if (left && right) return parts_of<S, int8_t, int32_t, count>(upper);
  if (left) return parts_of<S, uint8_t, int32_t, count>(upper);
  if (right) return parts_of<U, int8_t, int32_t, count>(upper);
  return parts_of<U, uint8_t, uint32_t, count>(upper);
}

void decode_parts(Decoding& d) {
  const bool two = d.root() == "dp2a";
  const bool upper = two && d.take_one_of({"lo", "hi"}) == 1;
  const Type a = d.type(), b = d.type();
  const Type sum = a == Type::s32 || b == Type::s32 ? Type::s32 : Type::u32;
  d.operands_are(sum, {Type::u32, Type::u32, sum});
  d.out.execute =
      two ? parts_of<uint16_t, int16_t, 2>(a, b, upper) : parts_of<uint8_t, int8_t, 4>(a, b, /*upper=*/false);
}

void decode_product(Decoding& d, bool add) {
  const int part = d.take_one_of({"lo", "hi", "wide"});
  const Type t = d.type();
  const Type r = part == 2 ? twice(t) : t;
  if (add)
    d.operands_are(r, {t, t, r});
  else
    d.operands_are(r, {t, t});
  if (part == 2) d.out.execute = add ? wide_of<AndAdd<WideProduct>>(t) : wide_of<WideProduct>(t);
  if (part == 0) d.out.execute = add ? of_type<AndAdd<LowProduct>, Three>(t) : of_type<LowProduct, Two>(t);
  if (part == 1) d.out.execute = add ? of_type<AndAdd<HighProduct>, Three>(t) : of_type<HighProduct, Two>(t);
}

}  // namespace

bool decode_integer(Decoding& d) {
  if (d.is_real()) return false;
  if (decode_carry(d)) return true;
  const std::string& root = d.root();
  if (root == "dp2a" || root == "dp4a") {
    decode_parts(d);
    return true;
  }
  if (root == "mul" || root == "mad") {
    decode_product(d, root == "mad");
    return true;
  }
  using Choose = Execute (*)(Type);
  static const std::map<std::string, Choose> two = {{"add", of_type<Sum, Two>},      {"sub", of_type<Difference, Two>},
                                                    {"div", of_type<Quotient, Two>}, {"rem", of_type<Remainder, Two>},
                                                    {"min", of_type<Least, Two>},    {"max", of_type<Most, Two>}};
  static const std::map<std::string, Choose> one = {{"neg", of_type<Negated, One>}, {"abs", of_type<Magnitude, One>}};
  if (const auto it = two.find(root); it != two.end()) {
    const Type t = d.type();
    d.operands_are(t, {t, t});
    d.out.execute = it->second(t);
    return true;
  }
  const auto it = one.find(root);
  if (it == one.end()) return false;
  const Type t = d.type();
  d.operands_are(t, {t});
  d.out.execute = it->second(t);
  return true;
}

}  // namespace heddle::ptx
