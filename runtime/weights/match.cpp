#include "runtime/weights/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/half_floats.h"
#include "runtime/weights/saved_buffers.h"

namespace heddle::runtime {
namespace {

// "h.0.fc.bias" -> {"h.0.fc", "bias"}
struct Path {
  std::string path, last;
};
Path split(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? Path{"", name} : Path{name.substr(0, dot), name.substr(dot + 1)};
}

struct Match {
  const WeightsFile& file;
  std::vector<const codegen::Buffer*> buffers;
  TensorsByName tensors;
  std::unordered_set<std::string_view> names;  // of the buffers
  std::vector<Diagnostic> errors = {};

  bool full() const { return errors.size() == Diagnostics::kMaxErrors; }
  void error(const std::string& message, const std::string& help = {}) {
    if (!full()) errors.push_back({Severity::error, {}, fmt::format("{}: {}", file.name, message), {}, help});
  }
};

// The remedy where a parameter is missing: a tensor of the file may have its name misspelt.
std::string missing_remedy(const Match& m, const codegen::Buffer& b) {
  std::vector<std::string> free;
  for (const SavedTensor& t : m.file.tensors)
    if (!m.names.contains(t.name)) free.push_back(t.name);
  std::string near = did_you_mean_path(b.name, free);
  if (!near.empty() || b.role != codegen::BufferRole::buffer) return near;
  return "the layer keeps it beside its weights; a file that was saved without it does not say how the layer "
         "evaluates: "
         "train again, or save the whole state_dict";
}

constexpr const char* kBf16 = "bf16";

// The tensor's type in the file; its converted type where the model has that type, too.
const std::string& type_in_file(const codegen::Buffer& b, const SavedTensor& t) {
  return t.was.empty() || takes_type(b, t.dtype) ? t.dtype : t.was;
}

std::string other_remedy(const codegen::Buffer& b, const SavedTensor& t) {
  if (t.dims == b.dims) return fmt::format("save it as {}: no other type of numbers is converted to it", b.dtype);
  if (t.dims.size() == 2 && std::vector<int64_t>(t.dims.rbegin(), t.dims.rend()) == b.dims)
    return "its axes lie the other way round: save it transposed";
  return {};
}

// Of a tensor that the model lacks, where its shape says more: two names of one tensor in the program that wrote it.
std::string extra_remedy(const Match& m, const SavedTensor& t) {
  const codegen::Buffer* same_type = nullptr;
  for (const codegen::Buffer* b : m.buffers) {
    if (b->dims != t.dims || !takes_type(*b, t.dtype) || t.dims.size() < 2 || !m.tensors.contains(b->name)) continue;
    const std::span<const std::byte> ours = m.file.bytes(*m.tensors.at(b->name)), extra = m.file.bytes(t);
    if (std::ranges::equal(ours, extra))
      return fmt::format("it holds what '{}' holds: where both are one tensor, save the file without '{}'", b->name,
                         t.name);
    same_type = b;
  }
  const bool complete = std::ranges::all_of(m.buffers, [&](const auto* b) { return m.tensors.contains(b->name); });
  if (complete && same_type != nullptr)
    return fmt::format(
        "'{}' has its shape and other numbers: where the model takes both for one tensor, the file does "
        "not; else save the file without '{}'",
        same_type->name, t.name);
  return "save the file without what the model does not hold, or add the node that holds it";
}

// The prefix that all names have in the file and lack in the model, if the names differ only by it; else "".
std::string common_prefix(const std::vector<const codegen::Buffer*>& buffers, const WeightsFile& file,
                          const TensorsByName& tensors) {
  if (buffers.empty()) return {};
  const std::string& first = buffers[0]->name;
  if (tensors.contains(first)) return {};
  for (const SavedTensor& t : file.tensors) {
    if (!t.name.ends_with(first)) continue;
    std::string prefix = t.name.substr(0, t.name.size() - first.size());
    if (std::ranges::all_of(buffers, [&](const auto* b) { return tensors.contains(prefix + b->name); })) return prefix;
  }
  return {};
}

}  // namespace

bool takes_type(const codegen::Buffer& b, const std::string& dtype) {
  return dtype == b.dtype || (b.dtype == kBf16 && dtype == "f32");
}

// Every difference at once: a user who loads the wrong file sees that it is the wrong file.
void require_match(const WeightsFile& file, const codegen::Program& program, const std::set<std::string>& missing) {
  Match m{.file = file, .buffers = saved_buffers(program), .tensors = by_name(file), .names = {}};
  for (const codegen::Buffer* b : m.buffers) m.names.insert(b->name);
  if (const std::string prefix = common_prefix(m.buffers, file, m.tensors); !prefix.empty())
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: '{}' is a prefix of the name of every tensor that the model has", file.name, prefix),
        fmt::format("--weights-prefix {} removes it (a program gives load_weights the prefix)", prefix));
  for (const codegen::Buffer* b : m.buffers) {
    const auto found = m.tensors.find(b->name);
    const SavedTensor* t = found == m.tensors.end() ? nullptr : found->second;
    if (!t && missing.contains(b->name)) continue;
    if (!t)
      m.error(fmt::format("no tensor '{}'", b->name), m.full() ? "" : missing_remedy(m, *b));
    else if (!takes_type(*b, t->dtype) || t->dims != b->dims)
      m.error(fmt::format("'{}' is {}, the model has {}", b->name, type_text(type_in_file(*b, *t), t->dims),
                          type_text(b->dtype, b->dims)),
              other_remedy(*b, *t));
  }
  std::string before;  // said once, where it is the same of many
  for (const SavedTensor& t : file.tensors) {
    if (m.names.contains(t.name) || m.full()) continue;
    const std::string help = extra_remedy(m, t);
    m.error(fmt::format("the model has no parameter '{}'", t.name), help == before ? "" : help);
    before = help;
  }
  if (!m.errors.empty()) throw UserError(std::move(m.errors));
}

namespace {

// The first invalid number for a buffer that f32 is loaded into, and the remedy; "" where all are valid.
std::pair<std::string, std::string> fault(const codegen::Buffer& b, std::span<const std::byte> bytes) {
  const bool variance = b.role == codegen::BufferRole::buffer && split(b.name).last == "running_var";
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    const double value = element<float>(bytes, i);
    if (!std::isfinite(value))
      return {fmt::format("'{}' holds {}: what is computed with it is not finite either", b.name, value),
              "use weights saved before the numbers went wrong"};
    if (b.dtype == kBf16 && !to_bf16(element<float>(bytes, i)))
      return {fmt::format("'{}' holds {:g}, which bf16 does not", b.name, value),
              "the largest bf16 is 3.39e38: look at the training that these weights come from"};
    if (variance && value < 0)
      return {fmt::format("'{}' holds {}, and no variance is below 0", b.name, value),
              "look at the program that wrote the file: batch_norm divides by its root"};
  }
  return {};
}

}  // namespace

void require_values(const WeightsFile& file, const codegen::Program& program) {
  const TensorsByName tensors = by_name(file);
  std::vector<Diagnostic> errors;
  for (const codegen::Buffer* b : saved_buffers(program)) {
    if (errors.size() == Diagnostics::kMaxErrors || !tensors.contains(b->name)) continue;
    if (tensors.at(b->name)->dtype != "f32") continue;
    const auto [message, help] = fault(*b, file.bytes(*tensors.at(b->name)));
    if (message.empty()) continue;
    const bool first = errors.empty();
    errors.push_back({Severity::error, {}, fmt::format("{}: {}", file.name, message), {}, first ? help : ""});
  }
  if (!errors.empty()) throw UserError(std::move(errors));
}

std::string did_you_mean_path(const std::string& name, const std::vector<std::string>& candidates) {
  const Path wanted = split(name);
  std::vector<std::string> paths, lasts;
  for (const std::string& candidate : candidates) {
    const Path other = split(candidate);
    if (other.last == wanted.last) paths.push_back(other.path);
    if (other.path == wanted.path) lasts.push_back(other.last);
  }
  const auto said = [](const std::string& path, const std::string& last) {
    return fmt::format("did you mean '{}{}{}'?", path, path.empty() ? "" : ".", last);
  };
  // Of a letter nothing is left where it is another.
  const std::string path = wanted.path.size() < 2 ? "" : nearest(wanted.path, paths);
  if (!path.empty()) return said(path, wanted.last);
  const std::string last = wanted.last.size() < 2 ? "" : nearest(wanted.last, lasts);
  return last.empty() ? "" : said(wanted.path, last);
}

}  // namespace heddle::runtime
