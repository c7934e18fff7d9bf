#include "tests/gpu/element_types.h"

#include "codegen/c_text.h"

namespace heddle::testing {
namespace {

std::optional<ir::DType> dtype_of(std::string text) {
  if (text.starts_with("const ")) text.erase(0, 6);
  for (const ir::DType dtype : ir::all_dtypes())
    if (codegen::storage_type(dtype) == text) return dtype;
  return std::nullopt;
}

}  // namespace

std::vector<Pointer> pointers_of(const std::string& source, const std::string& kernel) {
  std::vector<Pointer> pointers;
  size_t at = source.find("HD_KERNEL(" + kernel + ", ");
  if (at == std::string::npos) return pointers;
  at = source.find(")(", at) + 2;
  const std::string list = source.substr(at, source.find(')', at) - at);
  for (size_t begin = 0; begin < list.size();) {
    const size_t first = list.find_first_not_of(" \n", begin), end = std::min(list.find(',', begin), list.size());
    if (const size_t star = list.find('*', begin); star < end) {
      const size_t last = list.find_last_not_of(" \n", end - 1), name = list.find_last_of(" *", last) + 1;
      pointers.push_back({list.substr(name, last + 1 - name), dtype_of(list.substr(first, star - first))});
    }
    begin = end + 1;
  }
  return pointers;
}

}  // namespace heddle::testing
