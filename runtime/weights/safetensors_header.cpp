#include "runtime/weights/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "runtime/json_text.h"

namespace heddle::runtime {
namespace {

struct DtypeName {
  std::string_view dtype, saved;
  int64_t bytes;
};
constexpr std::array<DtypeName, 13> kDtypes = {{{"f64", "F64", 8},
                                                {"f32", "F32", 4},
                                                {"f16", "F16", 2},
                                                {"bf16", "BF16", 2},
                                                {"i64", "I64", 8},
                                                {"i32", "I32", 4},
                                                {"i16", "I16", 2},
                                                {"i8", "I8", 1},
                                                {"u64", "U64", 8},
                                                {"u32", "U32", 4},
                                                {"u16", "U16", 2},
                                                {"u8", "U8", 1},
                                                {"bool", "BOOL", 1}}};

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

// Events of the header: an object of objects whose values are text or lists of integers. Anything else ends the parse,
// so depth and size of values need no further limits.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  WeightsHeader header;

  bool key(string_t& text) override {
    if (depth_ == 1) {
      if (!names_.insert(text).second) fail(fmt::format("'{}' appears twice in the header", text));
      entry_ = text;
      fields_.clear();
      if (!in_metadata()) header.tensors.push_back({.name = text, .dtype = {}, .dims = {}, .begin = 0, .end = 0});
    } else {
      if (!fields_.insert(text).second) fail(fmt::format("'{}' of '{}' appears twice", text, entry_));
      field_ = text;
      numbers_.clear();
    }
    return true;
  }
  bool start_object(size_t) override {
    if (++depth_ > 2 || in_list_) fail("the header is nested too deeply");
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !in_metadata() && fields_ != std::set<std::string>{"data_offsets", "dtype", "shape"})
      fail(fmt::format("'{}' needs exactly dtype, shape and data_offsets", entry_));
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || in_metadata() || in_list_ || (field_ != "shape" && field_ != "data_offsets"))
      unexpected("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    SavedTensor& tensor = header.tensors.back();
    if (field_ == "shape") {
      tensor.dims = numbers_;
      return true;
    }
    if (numbers_.size() != 2) fail(fmt::format("'{}': data_offsets must be two numbers", entry_));
    tensor.begin = numbers_[0], tensor.end = numbers_[1];
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ != 2 || in_list_) unexpected("text");
    if (in_metadata()) {
      header.metadata[field_] = text;
      return true;
    }
    if (field_ != "dtype") unexpected("text");
    header.tensors.back().dtype = dtype_of_safetensors(text);
    if (header.tensors.back().dtype.empty()) fail(fmt::format("'{}': unknown dtype '{}'", entry_, text));
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) unexpected("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail(fmt::format("'{}': {} is too large", entry_, value));
    if (numbers_.size() >= 64) fail(fmt::format("'{}': more than 64 numbers in a list", entry_));
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(number_integer_t value) override { fail(fmt::format("'{}': {} is negative", entry_, value)); }
  bool number_float(number_float_t, const string_t& text) override {
    fail(fmt::format("'{}': {} is not an integer", entry_, text));
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail(fmt::format("the header is not JSON at byte {}", position));
  }

 private:
  bool in_metadata() const { return entry_ == "__metadata__"; }
  [[noreturn]] void unexpected(const std::string& what) {
    if (entry_.empty()) fail(fmt::format("the header is {}, expected an object", what));
    fail(fmt::format("'{}': unexpected {}", entry_, what));
  }
  int depth_ = 0;
  bool in_list_ = false;
  std::string entry_, field_;
  std::set<std::string> names_, fields_;
  std::vector<int64_t> numbers_;
};

}  // namespace

std::string safetensors_dtype(std::string_view dtype) {
  for (const DtypeName& d : kDtypes)
    if (d.dtype == dtype) return std::string(d.saved);
  return {};
}

std::string dtype_of_safetensors(std::string_view name) {
  for (const DtypeName& d : kDtypes)
    if (d.saved == name) return std::string(d.dtype);
  return {};
}

int64_t bytes_per_element(std::string_view dtype) {
  for (const DtypeName& d : kDtypes)
    if (d.dtype == dtype) return d.bytes;
  return 0;
}

WeightsHeader parse_weights_header(std::string_view text) {
  Handler handler;
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return std::move(handler.header);
}

std::string print_weights_header(const WeightsHeader& header) {
  JsonObject out;
  if (!header.metadata.empty()) {
    JsonObject metadata;
    for (const auto& [key, value] : header.metadata) metadata.text(key, value);
    out.raw("__metadata__", metadata.str());
  }
  for (const SavedTensor& t : header.tensors) {
    JsonObject entry;
    entry.text("dtype", safetensors_dtype(t.dtype));
    entry.raw("shape", fmt::format("[{}]", fmt::join(t.dims, ",")));
    entry.raw("data_offsets", fmt::format("[{},{}]", t.begin, t.end));
    out.raw(t.name, entry.str());
  }
  return out.str();
}

}  // namespace heddle::runtime
