#include "codegen/scalar_argument.h"

#include <bit>

#include "ir/check.h"
#include "ir/evaluate/tensor.h"

namespace heddle::codegen {

using ir::DType;

std::string scalar_type(DType dtype) {
  return to_string(dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype);
}

ScalarArgument scalar_argument(const ir::Attr& value, DType dtype) {
  ScalarArgument scalar{.dtype = scalar_type(dtype)};
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    const int64_t wrapped = dtype == DType::boolean ? int64_t{*integer != 0} : ir::wrap_to(dtype, *integer);
    scalar.bits = static_cast<uint64_t>(wrapped);
    return scalar;
  }
  const auto* real = std::get_if<double>(&value);
  HEDDLE_CHECK(real != nullptr && ir::is_floating(dtype), "a scalar is a number of its type");
  const double rounded = ir::round_to(dtype, *real);
  scalar.bits =
      dtype == DType::f64 ? std::bit_cast<uint64_t>(rounded) : std::bit_cast<uint32_t>(static_cast<float>(rounded));
  return scalar;
}

std::string scalar_text(const ScalarArgument& scalar) {
  if (scalar.dtype == "f64") return ir::real_text(std::bit_cast<double>(scalar.bits));
  if (scalar.dtype == "f32") return ir::real_text(std::bit_cast<float>(static_cast<uint32_t>(scalar.bits)));
  return std::to_string(static_cast<int64_t>(scalar.bits));
}

}  // namespace heddle::codegen
