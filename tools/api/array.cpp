#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "ir/diagnostic.h"
#include "tools/api/guarded.h"
#include "tools/api/heddle.h"

namespace heddle {
namespace {

template <class T>
Array array(const char* dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  return api::guarded([&] {
    int64_t elements = 1;
    for (const int64_t d : shape)
      if (d < 0 || __builtin_mul_overflow(elements, d, &elements)) elements = -1;
    if (shape.empty() || elements != std::ssize(values))
      throw UserError(ExitCode::usage,
                      fmt::format("an array of shape [{}] has no {} elements", fmt::join(shape, ","), values.size()),
                      "the shape's product is the number of values, and its first axis counts the rows");
    Array made{.dtype = dtype, .shape = std::move(shape), .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
    if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
    return made;
  });
}

}  // namespace

Error::Error(const std::string& message, int code) : std::runtime_error(message), code_(code) {}
Error::Error(const Error&) = default;
Error::~Error() = default;
int Error::code() const { return code_; }

std::string version() { return HEDDLE_VERSION; }

Array Array::f32(std::vector<int64_t> shape, const std::vector<float>& values) {
  return array("f32", std::move(shape), values);
}
Array Array::i32(std::vector<int64_t> shape, const std::vector<int32_t>& values) {
  return array("i32", std::move(shape), values);
}
Array Array::u8(std::vector<int64_t> shape, const std::vector<uint8_t>& values) {
  return array("u8", std::move(shape), values);
}

std::vector<float> Array::floats() const {
  return api::guarded([&] {
    return runtime::data::visit(api::element_type(*this), [&](auto v) {
      std::vector<float> out;
      out.reserve(bytes.size() / sizeof v);
      for (size_t at = 0; at + sizeof v <= bytes.size(); at += sizeof v) {
        std::memcpy(&v, bytes.data() + at, sizeof v);
        out.push_back(static_cast<float>(v));
      }
      return out;
    });
  });
}

}  // namespace heddle
