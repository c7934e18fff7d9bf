#include "tools/driver/int8_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>

#include "ir/diagnostic.h"
#include "ir/int8.h"
#include "runtime/host/onednn.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/quantize.h"

namespace heddle::driver {
namespace {

using passes::Int8Weight;

Int8Weight::Input input_of(const runtime::SavedTensor& t) {
  if (t.range.empty()) return Int8Weight::Input::by_row;
  return ir::becomes_unsigned(t.range[0]) ? Int8Weight::Input::fixed_unsigned : Int8Weight::Input::fixed_signed;
}

std::set<std::string> taken_as_int8(const codegen::Program& program) {
  std::set<std::string> names;
  for (const codegen::Buffer& b : program.states)
    if (b.role == codegen::BufferRole::param && b.dtype == "i8") names.insert(b.name);
  return names;
}

// "conv2.weight, fc.weight, fc2.weight, ..."
std::string first_of(const std::set<std::string>& names) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> few(names.begin(), std::next(names.begin(), std::min<long>(std::ssize(names), kMostNamed)));
  if (names.size() > few.size()) few.emplace_back("...");
  return fmt::format("{}", fmt::join(few, ", "));
}

void add_floats(runtime::WeightsFile& to, const std::string& name, const std::vector<int64_t>& dims,
                std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  std::ranges::copy(bytes, to.add(name, "f32", dims, std::ssize(bytes)).begin());
}

// The numbers are whole multiples of their scales, up to a rounding of f32.
void add_wholes(runtime::WeightsFile& to, const runtime::WeightsFile& from, const runtime::SavedTensor& t,
                bool reads_step) {
  const std::vector<float> values = runtime::floats_of(from, t);
  size_t inner = 1;
  for (size_t k = static_cast<size_t>(t.scaled_axis) + 1; k < t.dims.size(); ++k)
    inner *= static_cast<size_t>(t.dims[k]);
  const std::span<std::byte> wholes = to.add(t.name, "i8", t.dims, std::ssize(values));
  for (size_t i = 0; i < values.size(); ++i) {
    const float scale = t.scales[i / inner % t.scales.size()];
    wholes[i] =
        static_cast<std::byte>(static_cast<int8_t>(std::clamp(std::nearbyint(values[i] / scale), -128.0F, 127.0F)));
  }
  add_floats(to, ir::int8_scale_name(t.name), {std::ssize(t.scales)}, t.scales);
  if (!reads_step) return;
  const float step = ir::step_for(t.range[0], t.range[1]);
  add_floats(to, ir::int8_input_name(t.name), {}, {&step, 1});
}

}  // namespace

Int8Weights int8_weights(const runtime::WeightsFile& file, const ir::Target& target) {
  Int8Weights found;
  for (const runtime::SavedTensor& t : file.tensors)
    if (t.dtype == "f32" && !t.scales.empty())
      found.weights.push_back({.name = t.name, .axis = t.scaled_axis, .input = input_of(t)});
  if (found.weights.empty()) return found;
  std::string why;
  if (target.gpu)
    why = "products of int8 are made on the host only";
  else if (!runtime::onednn_multiplies_bytes())
    why = "this processor, or what ONEDNN_MAX_CPU_ISA leaves of it, has no AVX-512 VNNI";
  if (!why.empty()) return {.weights = {}, .note = fmt::format("{}: {}: computed in f32", file.name, why)};
  return found;
}

Int8Weights int8_weights_to_read(const runtime::WeightsFile& file, const ir::Target& target) {
  Int8Weights found;
  for (const runtime::SavedTensor& t : file.tensors)
    if (t.dtype == "f32" && !t.scales.empty())
      found.weights.push_back({.name = t.name, .axis = t.scaled_axis, .input = Int8Weight::Input::f32});
  if (!found.weights.empty() && target.gpu)
    return {.weights = {},
            .note = fmt::format("{}: weights are read as int8 on the host only: they are f32 here", file.name)};
  return found;
}

void put_int8(runtime::WeightsFile& file, const codegen::Program& program) {
  const std::set<std::string> names = taken_as_int8(program);
  if (names.empty()) return;
  runtime::WeightsFile out{.name = file.name, .tensors = {}, .metadata = file.metadata, .data = {}};
  int64_t bytes_of_all = 0;
  for (const runtime::SavedTensor& t : file.tensors) {
    constexpr int64_t kFloat = sizeof(float);
    const int64_t as_int8 = (t.end - t.begin) / kFloat + kFloat * (std::ssize(t.scales) + 1);
    bytes_of_all += names.contains(t.name) ? as_int8 : t.end - t.begin;
  }
  out.data.own().reserve(static_cast<size_t>(bytes_of_all));
  for (const runtime::SavedTensor& t : file.tensors) {
    if (!names.contains(t.name)) {
      const std::span<const std::byte> bytes = file.bytes(t);
      std::ranges::copy(bytes, out.add(t.name, t.dtype, t.dims, std::ssize(bytes)).begin());
      out.tensors.back().was = t.was;
      continue;
    }
    const codegen::Buffer& b = *std::ranges::find(program.states, t.name, &codegen::Buffer::name);
    if (t.dims != b.dims)  // the first such is enough: it is a file of another model
      throw UserError(ExitCode::failed,
                      fmt::format("{}: '{}' is {}, the model has {}", file.name, t.name,
                                  runtime::type_text("int8", t.dims), runtime::type_text("int8", b.dims)),
                      "give weights of this model");
    if (t.scales.empty())
      throw UserError(ExitCode::failed,
                      fmt::format("{}: '{}' is not int8, and the program multiplies by it in int8", file.name, t.name),
                      "compile the model for these weights");
    const bool reads_step = std::ranges::count(program.states, ir::int8_input_name(t.name), &codegen::Buffer::name) > 0;
    add_wholes(out, file, t, reads_step);
  }
  file = std::move(out);
}

void read_as_quantized(frontend::Model& model, const runtime::WeightsFile& file) {
  if (runtime::is_quantized(file)) model.train.stored.reset();
}

std::string told_of_int8(const codegen::Program& program, const frontend::Model& model) {
  const std::set<std::string> names = taken_as_int8(program);
  if (names.empty()) return {};
  return fmt::format("{} of the int8 weights {} multiplied in int8, {} ({}); --precision f32 computes in f32",
                     names.size(), names.size() == 1 ? "is" : "are",
                     model.train.quantize ? "as trained" : "which is predicted to be faster", first_of(names));
}

std::string told_of_int8_read(const codegen::Program& program) {
  const std::set<std::string> names = taken_as_int8(program);
  if (names.empty()) return {};
  const char* const what = names.size() == 1 ? "stays int8 in the program and becomes f32 as it is read"
                                             : "stay int8 in the program and become f32 as they are read";
  return fmt::format("{} of the int8 weights {} ({}); --precision f32 stores f32", names.size(), what, first_of(names));
}

}  // namespace heddle::driver
