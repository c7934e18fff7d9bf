#include <array>

#include "ir/check.h"
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

constexpr size_t kMaxOperands = 4;  // of an elementwise operator

// Calls f on the operands' elements, one position at a time.
template <class Element, class Get, class F>
void for_each_position(std::span<const Tensor* const> operands, int64_t count, Get get, F f) {
  HEDDLE_CHECK(operands.size() <= kMaxOperands, "an elementwise operator of too many operands");
  std::array<Element, kMaxOperands> values{};
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) values[k] = get(*operands[k], static_cast<size_t>(i));
    f(static_cast<size_t>(i), std::span<const Element>(values.data(), operands.size()));
  }
}

void store(Tensor& y, size_t i, double value) {
  if (y.floating()) {
    y.real[i] = value;
  } else {
    y.set(static_cast<int64_t>(i), value);
  }
}

}  // namespace

Eval eval_real(std::function<double(std::span<const double>, const Signature&)> f) {
  return [f = std::move(f)](const Signature& s, std::span<const Tensor* const> operands) {
    Tensor y(s.results[0]);
    const auto get = [](const Tensor& t, size_t i) { return t.at(static_cast<int64_t>(i)); };
    for_each_position<double>(operands, y.elements(), get,
                              [&](size_t i, std::span<const double> values) { store(y, i, f(values, s)); });
    return std::vector<Tensor>{std::move(y)};
  };
}

Eval eval_integer(std::function<int64_t(std::span<const int64_t>, const Signature&)> f) {
  return [f = std::move(f)](const Signature& s, std::span<const Tensor* const> operands) {
    Tensor y(s.results[0]);
    const DType dtype = y.type.dtype;
    const auto get = [](const Tensor& t, size_t i) { return t.integer[i]; };
    for_each_position<int64_t>(operands, y.elements(), get, [&](size_t i, std::span<const int64_t> values) {
      y.integer[i] = wrap_to(dtype, f(values, s));
    });
    return std::vector<Tensor>{std::move(y)};
  };
}

Eval eval_either(std::function<double(std::span<const double>, const Signature&)> real,
                 std::function<int64_t(std::span<const int64_t>, const Signature&)> integer) {
  return [real = eval_real(std::move(real)), integer = eval_integer(std::move(integer))](
             const Signature& s, std::span<const Tensor* const> operands) {
    const DType dtype = operands.empty() ? s.results[0].dtype : operands[0]->type.dtype;
    return is_floating(dtype) ? real(s, operands) : integer(s, operands);
  };
}

}  // namespace heddle::ir
