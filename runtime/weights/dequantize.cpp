#include "runtime/weights/dequantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "ir/diagnostic.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/quantize.h"
#include "runtime/weights/saved_buffers.h"

namespace heddle::runtime {
namespace {

class QuantizedFile {
 public:
  explicit QuantizedFile(const WeightsFile& file) : file_(file), tensors_(by_name(file)) {
    const std::vector<std::string> names = buffer_names(file);
    buffers_ = {names.begin(), names.end()};
    require_format();
  }

  bool lies_beside(const SavedTensor& t) const {
    return t.name.ends_with(kScaleSuffix) || t.name.ends_with(kShapeSuffix) || t.name.ends_with(kRangeSuffix);
  }
  // "int8" or "int4"; "" for other tensors. Buffers of layers are not quantised.
  std::string type(const SavedTensor& t) const {
    if (buffers_.contains(t.name)) return "";
    return t.dtype == "i8" ? "int8" : t.dtype == "u8" ? "int4" : "";
  }
  // Throws where a scale or a shape has no tensor, as in a damaged file.
  void require_owner(const SavedTensor& t) const {
    const std::string owner = t.name.substr(0, t.name.rfind('/'));
    const auto found = tensors_.find(owner);
    if (found == tensors_.end() || type(*found->second).empty())
      fail(fmt::format("'{}' lies beside no quantised tensor '{}'", t.name, owner));
    if (t.name.ends_with(kRangeSuffix) && found->second->dtype != "i8")
      fail(fmt::format("'{}' lies beside '{}', which is no int8", t.name, owner));
  }

  // As it was before; what lies beside the tensor is there and fits.
  std::vector<int64_t> dims(const SavedTensor& t) const {
    if (t.dtype != "i8") return matrix_dims(t);
    scaled_axis(t, beside(t, kScaleSuffix, "f32"));
    return t.dims;
  }

  void write(const SavedTensor& t, std::span<std::byte> to) const {
    t.dtype == "i8" ? write_int8(t, to) : write_int4(t, to);
  }

  // Keeps scales and ranges of an int8 tensor, for integer products.
  void describe(const SavedTensor& t, SavedTensor& out) const {
    if (t.dtype != "i8") return;
    const SavedTensor& scale = beside(t, kScaleSuffix, "f32");
    out.scales = scales(scale);
    out.scaled_axis = static_cast<int64_t>(scaled_axis(t, scale));
    if (tensors_.contains(t.name + std::string(kRangeSuffix))) out.range = range(beside(t, kRangeSuffix, "f32"));
  }

  // Of f32. Tensors of the file take as many bytes as their shapes say.
  int64_t elements(const SavedTensor& t) const {
    if (t.dtype == "i8") return t.end - t.begin;
    const std::vector<int64_t> shape = matrix_dims(t);
    return t.end == t.begin ? 0 : shape[0] * shape[1];
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(ExitCode::failed, fmt::format("{}: damaged: {}", file_.name, message),
                    "make the file again: heddle quantize");
  }

  void require_format() const {
    const auto word = file_.metadata.find(kQuantizedMark), version = file_.metadata.find(kQuantizedVersion);
    if (version == file_.metadata.end() || version->second != kQuantizedVersionNow)
      throw UserError(ExitCode::failed,
                      fmt::format("{}: quantised weights of version '{}', this is Heddle for version {}", file_.name,
                                  version == file_.metadata.end() ? "" : version->second, kQuantizedVersionNow),
                      "make the file again: heddle quantize");
    if (!stored_as(word->second)) fail(fmt::format("'{}' is no type of quantised weights", word->second));
  }

  const SavedTensor& beside(const SavedTensor& t, std::string_view suffix, const std::string& dtype) const {
    const std::string name = t.name + std::string(suffix);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) fail(fmt::format("no tensor '{}', which '{}' needs", name, t.name));
    if (found->second->dtype != dtype) fail(fmt::format("'{}' is {}, expected {}", name, found->second->dtype, dtype));
    return *found->second;
  }

  std::vector<float> scales(const SavedTensor& scale) const {
    std::vector<float> values = floats_of(file_, scale);
    for (const float value : values)
      if (!std::isfinite(value) || value <= 0)
        fail(fmt::format("'{}' holds {}, a scale is a positive number", scale.name, value));
    return values;
  }

  std::vector<float> range(const SavedTensor& t) const {
    if (t.dims != std::vector<int64_t>{2})
      fail(fmt::format("'{}' is {}, expected f32[2]", t.name, type_text(t.dtype, t.dims)));
    std::vector<float> values = floats_of(file_, t);
    if (!std::isfinite(values[0]) || !std::isfinite(values[1]) || values[0] > values[1] ||
        (values[0] == 0 && values[1] == 0))
      fail(fmt::format("'{}' holds {} and {}, a range is a smaller and a larger finite number", t.name, values[0],
                       values[1]));
    return values;
  }

  // What an int4 was before, as its shape says, of which the packed tensor and the scales are functions.
  std::vector<int64_t> matrix_dims(const SavedTensor& t) const {
    const SavedTensor& shape = beside(t, kShapeSuffix, "i64");
    const SavedTensor& scale = beside(t, kScaleSuffix, "f32");
    if (shape.dims != std::vector<int64_t>{2})
      fail(fmt::format("'{}' is {}, expected i64[2]", shape.name, type_text(shape.dtype, shape.dims)));
    const std::span<const std::byte> bytes = file_.bytes(shape);
    const auto rows = element<int64_t>(bytes, 0), columns = element<int64_t>(bytes, 1);
    // The check multiplies no numbers of the file, so it cannot overflow.
    if (rows < 0 || columns < 0 || t.dims != std::vector{rows, packed_bytes(columns)})
      fail(fmt::format("'{}' is {}, which is no int4[{},{}]", t.name, type_text(t.dtype, t.dims), rows, columns));
    if (scale.dims != std::vector{rows, groups_of(columns)})
      fail(fmt::format("'{}' is {}, expected f32[{},{}]", scale.name, type_text(scale.dtype, scale.dims), rows,
                       groups_of(columns)));
    return {rows, columns};
  }

  // The axis along which each place has its scale: the scales have as many axes as the tensor, the others of size 1.
  // As many as there are where all numbers have one scale.
  size_t scaled_axis(const SavedTensor& t, const SavedTensor& scale) const {
    size_t axis = t.dims.size(), axes = 0;
    bool fits = scale.dims.size() == t.dims.size();
    for (size_t k = 0; fits && k < t.dims.size(); ++k) {
      if (scale.dims[k] == 1) continue;
      fits = scale.dims[k] == t.dims[k] && ++axes == 1;
      axis = k;
    }
    if (fits) return axis;
    fail(fmt::format("'{}' is {}, and '{}' {}: a scale for each place along one axis is expected", scale.name,
                     type_text(scale.dtype, scale.dims), t.name, type_text("int8", t.dims)));
  }

  void write_int8(const SavedTensor& t, std::span<std::byte> to) const {
    const SavedTensor& beside_it = beside(t, kScaleSuffix, "f32");
    const size_t axis = scaled_axis(t, beside_it);
    const std::vector<float> scale = scales(beside_it);
    const std::span<const std::byte> bytes = file_.bytes(t);
    if (bytes.empty()) return;
    size_t inner = 1;  // numbers that lie at one place, one after the other
    for (size_t k = axis + 1; k < t.dims.size(); ++k) inner *= static_cast<size_t>(t.dims[k]);
    for (size_t i = 0, run = 0; i < bytes.size(); ++run) {
      const float by = scale[run % scale.size()];
      for (size_t k = 0; k < inner; ++k, ++i) {
        set_element(to, i, static_cast<float>(static_cast<int8_t>(bytes[i])) * by);
      }
    }
  }

  void write_int4(const SavedTensor& t, std::span<std::byte> to) const {
    const std::vector<int64_t> shape = matrix_dims(t);
    const std::vector<float> scale = scales(beside(t, kScaleSuffix, "f32"));
    const std::span<const std::byte> bytes = file_.bytes(t);
    const auto columns = static_cast<size_t>(shape[1]), row_bytes = static_cast<size_t>(t.dims[1]),
               groups = static_cast<size_t>(groups_of(shape[1]));
    for (size_t i = 0; i < to.size() / sizeof(float); ++i) {
      const size_t row = i / columns, column = i % columns;
      const auto byte = std::to_integer<unsigned>(bytes[row * row_bytes + column / 2]);
      const int nibble = static_cast<int>(byte >> (column % 2 * 4) & 0xfU);
      set_element(to, i, static_cast<float>(nibble < 8 ? nibble : nibble - 16) * scale[row * groups + column / kGroup]);
    }
  }

  const WeightsFile& file_;
  TensorsByName tensors_;
  std::set<std::string> buffers_;
};

}  // namespace

WeightsFile dequantized(WeightsFile file) {
  if (!is_quantized(file)) return file;
  const QuantizedFile quantized(file);
  WeightsFile out{.name = file.name, .tensors = {}, .metadata = file.metadata, .data = {}};
  const auto bytes_of = [&](const SavedTensor& t) {
    if (quantized.lies_beside(t)) return int64_t{0};
    return quantized.type(t).empty() ? t.end - t.begin : quantized.elements(t) * static_cast<int64_t>(sizeof(float));
  };
  int64_t all = 0;
  for (const SavedTensor& t : file.tensors) all += bytes_of(t);
  out.data.own().reserve(static_cast<size_t>(all));
  for (const SavedTensor& t : file.tensors) {
    if (quantized.lies_beside(t)) {
      quantized.require_owner(t);
      continue;
    }
    const std::string type = quantized.type(t);
    if (type.empty()) {
      const std::span<const std::byte> bytes = file.bytes(t);
      std::ranges::copy(bytes, out.add(t.name, t.dtype, t.dims, std::ssize(bytes)).begin());
      continue;
    }
    const std::vector<int64_t> dims = quantized.dims(t);
    quantized.write(t, out.add(t.name, "f32", dims, bytes_of(t)));
    out.tensors.back().was = type;
    quantized.describe(t, out.tensors.back());
  }
  return out;
}

std::vector<LogicalTensor> logical_tensors(const WeightsFile& file) {
  std::vector<LogicalTensor> out;
  const bool marked = is_quantized(file);
  std::optional<QuantizedFile> quantized;
  if (marked) quantized.emplace(file);
  for (const SavedTensor& t : file.tensors) {
    const std::string type = marked ? quantized->type(t) : "";
    if (marked && quantized->lies_beside(t))
      quantized->require_owner(t);
    else
      out.push_back({t.name, type.empty() ? t.dtype : type, type.empty() ? t.dims : quantized->dims(t)});
  }
  return out;
}

}  // namespace heddle::runtime
