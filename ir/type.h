// Tensor types: an element type and a static shape, printed as f32[64,128]; a scalar is f32[].
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

using Dims = std::vector<int64_t>;

int64_t bits(DType dtype);  // bits an element occupies in memory; boolean takes 8
bool is_floating(DType dtype);
bool is_integer(DType dtype);        // signed and unsigned integers, without boolean
bool is_signed(DType dtype);         // floating and signed integers
bool holds(DType dtype, int64_t n);  // whether this integer type has the number n, for n >= 0
std::string to_string(DType dtype);  // "f32"; boolean is "bool"
std::optional<DType> parse_dtype(std::string_view text);
const std::vector<DType>& all_dtypes();

struct Type {
  DType dtype = DType::f32;
  Dims dims;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t elements() const;
  int64_t bytes() const;  // rounded up to whole bytes
  bool operator==(const Type&) const = default;
};

std::string to_string(const Type& type);
std::string to_string(const Dims& dims);  // "[64,128]"
int64_t product(const Dims& dims);
Dims row_major_strides(const Dims& dims);  // in elements

// The axis order of a state in memory, relative to its logical shape, which files and messages use. Axis k in memory is
// axis layout[k] of the logical shape, as after `transpose` with this `perm`. Empty: the order is the same.
//
//   logical f32[32,16,3,3] (OIHW), layout [0,2,3,1]  ->  in memory f32[32,3,3,16] (OHWI)
using Layout = Dims;
bool is_layout(const Layout& layout, int64_t rank);  // whether it is a permutation of `rank` axes, or empty
Layout inverse(const Layout& layout);                // from memory to logical
Dims memory_dims(const Dims& logical, const Layout& layout);
Dims logical_dims(const Dims& in_memory, const Layout& layout);

}  // namespace heddle::ir
