// Floating arithmetic of f32 and f64. The approximate functions are the exact ones, rounded: a GPU's last bits differ.
#include "tests/ptx/real.h"

#include <map>

#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
  static float rounded(Rounding r, float a, float b) {
    return directed(r, a + b, double{a} + double{b}, rest_of_sum(a, b));
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
  static float rounded(Rounding r, float a, float b) { return Add::rounded(r, a, -b); }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
  static float rounded(Rounding r, float a, float b) { return directed(r, a * b, double{a} * double{b}, 0); }
};
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
  static float rounded(Rounding r, float a, float b, float c) {
    const double product = double{a} * double{b};  // exact
    return directed(r, std::fma(a, b, c), product + double{c}, rest_of_sum(product, c));
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
// The number where the other is NaN; -0 is below 0.
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    if (a == b) return std::signbit(a) ? a : b;
    return a < b || std::isnan(b) ? a : b;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    if (a == b) return std::signbit(a) ? b : a;
    return a > b || std::isnan(b) ? a : b;
  }
};
template <class Op>
struct OrNan {
  template <class T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : Op()(a, b);
  }
};
// copysign.f32 d, a, b: b with the sign of a.
struct SignOf {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct Root {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct ReciprocalRoot {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
template <double (*function)(double)>
struct Function1 {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(function(static_cast<double>(a)));
  }
};

// With .ftz, .sat and rounding other than to nearest.
template <class Op, bool ftz, bool sat>
struct Modified {
  template <class... A>
  float operator()(A... a) const {
    float x = Op()((ftz ? flush(a) : a)...);
    if (ftz) x = flush(x);
    if (sat) x = x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;  // NaN becomes 0
    return x;
  }
};
template <class Op, Rounding rounding>
struct Rounded {
  template <class... A>
  float operator()(A... a) const {
    return Op::rounded(rounding, a...);
  }
};

template <class T, class>
using Repeat = T;
template <class T, class Op, class... A>
Execute execution() {
  return apply<Op, T, Repeat<T, A>...>;
}

template <class Op, class... A>
Execute modified(bool ftz, bool sat) {
  if (ftz && sat) return execution<float, Modified<Op, true, true>, A...>();
  if (ftz) return execution<float, Modified<Op, true, false>, A...>();
  if (sat) return execution<float, Modified<Op, false, true>, A...>();
  return execution<float, Op, A...>();
}

struct Modifiers {
  bool ftz = false, sat = false;
  int rounding = 0;  // -1: none said
  Type type = Type::f32;
};

Modifiers take_modifiers(Decoding& d) {
  Modifiers m;
  m.ftz = d.take("ftz");
  m.sat = d.take("sat");
  d.take_one_of({"approx", "full"});
  m.rounding = d.take_one_of({"rn", "rz", "rm", "rp"});
  m.type = d.type();
  return m;
}

template <class Op, class... A>
Execute choose(Decoding& d, const Modifiers& m) {
  if (m.type == Type::f64 && m.rounding <= 0 && !m.sat) return execution<double, Op, A...>();
  if (m.type != Type::f32) d.refuse("not executed in this type or rounding");
  if (m.rounding <= 0) return modified<Op, A...>(m.ftz, m.sat);
  if constexpr (requires { &Op::rounded; }) {
    if (m.ftz || m.sat) d.refuse("not executed with this rounding");
    if (m.rounding == 1) return execution<float, Rounded<Op, Rounding::zero>, A...>();
    if (m.rounding == 2) return execution<float, Rounded<Op, Rounding::down>, A...>();
    return execution<float, Rounded<Op, Rounding::up>, A...>();
  }
  d.refuse("not executed with this rounding");
}

template <class Op>
void decode_one(Decoding& d) {
  const Modifiers m = take_modifiers(d);
  d.operands_are(m.type, {m.type});
  d.out.execute = choose<Op, int>(d, m);
}
template <class Op>
void decode_two(Decoding& d) {
  const Modifiers m = take_modifiers(d);
  d.operands_are(m.type, {m.type, m.type});
  d.out.execute = choose<Op, int, int>(d, m);
}
template <class Op>
void decode_extreme(Decoding& d) {
  const bool nan = d.take("NaN");
  if (nan)
    decode_two<OrNan<Op>>(d);
  else
    decode_two<Op>(d);
}
void decode_fma(Decoding& d) {
  const Modifiers m = take_modifiers(d);
  d.operands_are(m.type, {m.type, m.type, m.type});
  d.out.execute = choose<MultiplyAdd, int, int, int>(d, m);
}

}  // namespace

bool decode_float(Decoding& d) {
  using Decode = void (*)(Decoding&);
  static const std::map<std::string, Decode> known = {
      {"add", decode_two<Add>},
      {"sub", decode_two<Subtract>},
      {"mul", decode_two<Multiply>},
      {"fma", decode_fma},
      {"mad", decode_fma},
      {"div", decode_two<Divide>},
      {"min", decode_extreme<Least>},
      {"max", decode_extreme<Most>},
      {"copysign", decode_two<SignOf>},
      {"neg", decode_one<Negate>},
      {"abs", decode_one<Absolute>},
      {"rcp", decode_one<Reciprocal>},
      {"sqrt", decode_one<Root>},
      {"rsqrt", decode_one<ReciprocalRoot>},
      {"ex2", decode_one<Function1<std::exp2>>},
      {"lg2", decode_one<Function1<std::log2>>},
      {"sin", decode_one<Function1<std::sin>>},
      {"cos", decode_one<Function1<std::cos>>},
      {"tanh", decode_one<Function1<std::tanh>>},
  };
  const auto it = known.find(d.root());
  if (it == known.end()) return false;
  it->second(d);
  return true;
}

}  // namespace heddle::ptx
