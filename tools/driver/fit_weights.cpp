#include "tools/driver/fit_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/weights/match.h"
#include "tools/driver/adapters.h"
#include "tools/driver/foreign_weights.h"
#include "tools/driver/observed_ranges.h"

namespace heddle::driver {
namespace {

// The first number of the row that is not 0.
std::optional<float> number_in_row(const runtime::WeightsFile& file, const frontend::PaddingRow& row) {
  const runtime::SavedTensor* t = file.find(row.parameter);
  if (t == nullptr || t->dtype != "f32" || t->dims.empty() || row.row >= t->dims[0]) return {};
  const std::span<const std::byte> all = file.bytes(*t);
  const size_t bytes = all.size() / static_cast<size_t>(t->dims[0]);
  const std::span<const std::byte> of_row = all.subspan(static_cast<size_t>(row.row) * bytes, bytes);
  for (size_t i = 0; i + sizeof(float) <= bytes; i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, of_row.data() + i, sizeof value);
    if (value != 0) return value;
  }
  return {};
}

// Copies of whose node the file has no tensor: it was saved by a model without that node.
std::vector<frontend::PlannedCopy> without_tensors(const runtime::WeightsFile& file,
                                                   const std::vector<frontend::PlannedCopy>& copies) {
  std::set<std::string> known;  // nodes
  for (const frontend::PlannedCopy& copy : copies)
    if (file.find(copy.parameter) != nullptr) known.insert(copy.node);
  std::vector<frontend::PlannedCopy> without;
  std::ranges::copy_if(copies, std::back_inserter(without),
                       [&](const auto& copy) { return !known.contains(copy.node); });
  return without;
}

// Copies of adapters that begin: they begin as those.
void add_new_adapters(const runtime::WeightsFile& file, const std::vector<frontend::PlannedCopy>& all,
                      const std::set<std::string>& missing, std::vector<frontend::PlannedCopy>& without) {
  for (const frontend::PlannedCopy& copy : all)
    if (missing.contains(copy.source) && file.find(copy.parameter) == nullptr &&
        std::ranges::count(without, copy.parameter, &frontend::PlannedCopy::parameter) == 0)
      without.push_back(copy);
}

// Throws where the file has only some tensors of a copy.
void require_whole(const runtime::WeightsFile& file, const std::vector<frontend::PlannedCopy>& copies,
                   const std::vector<frontend::PlannedCopy>& without) {
  for (const frontend::PlannedCopy& copy : copies) {
    const bool left_out = std::ranges::count(without, copy.parameter, &frontend::PlannedCopy::parameter) > 0;
    if (left_out || file.find(copy.parameter) != nullptr) continue;
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: no tensor '{}', and others of the copy '{}' are there", file.name, copy.parameter, copy.node),
        fmt::format("add the tensor; or remove all of '{}' from the file: they then start as those that "
                    "they copy, this one as '{}'",
                    copy.node, copy.source));
  }
}

// Adds tensors for copies, equal to those of the copied node. Where the file lacks these too, both keep their initial
// values, which are equal.
void add_copies(runtime::WeightsFile& file, const std::vector<frontend::PlannedCopy>& copies) {
  for (const frontend::PlannedCopy& copy : copies) {
    const runtime::SavedTensor* source = file.find(copy.source);
    if (source == nullptr) continue;
    const runtime::SavedTensor t = *source;
    const std::span<const std::byte> held = file.bytes(t);
    const std::vector<std::byte> bytes(held.begin(), held.end());
    std::ranges::copy(bytes, file.add(copy.parameter, t.dtype, t.dims, std::ssize(bytes)).begin());
  }
}

std::string told_of_copies(const runtime::WeightsFile& file, const std::vector<frontend::PlannedCopy>& copies) {
  std::set<std::string> nodes;
  for (const frontend::PlannedCopy& copy : copies) nodes.insert(copy.node);
  if (nodes.empty()) return {};
  return fmt::format("{}: it has no tensors of '{}': they start as those that they copy", file.name,
                     fmt::join(nodes, "', '"));
}

// What the file held in another type, and the program stores in bf16.
std::string told_of_rounding(const runtime::WeightsFile& file, const codegen::Program& program) {
  constexpr size_t kMostNamed = 3;
  std::vector<std::string> names;
  int64_t count = 0;
  for (const codegen::Buffer& b : program.states) {
    const runtime::SavedTensor* t = codegen::is_saved(b) && b.dtype == "bf16" ? file.find(b.name) : nullptr;
    if (t == nullptr || t->dtype != "f32" || t->was == "bf16") continue;
    if (++count <= static_cast<int64_t>(kMostNamed)) names.push_back(b.name);
  }
  if (count == 0) return {};
  if (count > static_cast<int64_t>(kMostNamed)) names.emplace_back("...");
  return fmt::format("{}: {} rounded to the nearest bf16, in which the model stores {} ({})", file.name,
                     count == 1 ? "1 tensor is" : fmt::format("{} tensors are", count), count == 1 ? "it" : "them",
                     fmt::join(names, ", "));
}

bool has_some(const runtime::WeightsFile& file, const std::set<std::string>& names) {
  return std::ranges::any_of(file.tensors, [&](const runtime::SavedTensor& t) { return names.contains(t.name); });
}

[[noreturn]] void refuse_adapters_alone(const std::string& file) {
  throw UserError(ExitCode::failed, fmt::format("{}: it holds adapters without their base", file),
                  "give the base, too: --weights BASE --weights ADAPTERS");
}

void require_some(const runtime::WeightsFile& file, const frontend::PlannedAdapters& adapters) {
  if (!has_some(file, adapter_names(adapters)))
    throw UserError(ExitCode::failed, fmt::format("{}: it holds no adapters of 'train.lora'", file.name),
                    "give them, too: --weights BASE --weights ADAPTERS; a base alone, or one that they are merged "
                    "into, goes with --set train.lora=null");
}

// A model with train.lora takes its adapters from a file beside that of their base; a training begins without them.
void require_adapters(const runtime::WeightsFile& file, const frontend::PlannedAdapters& adapters, bool apart,
                      bool begins, std::set<std::string>& missing) {
  const std::set<std::string> names = adapter_names(adapters);
  const auto is_weight = [&](const frontend::AdapterPaths& paths) { return file.find(paths.weight) != nullptr; };
  if (apart && std::ranges::none_of(adapters.paths, is_weight)) refuse_adapters_alone(file.name);
  if (has_some(file, names)) return;
  if (!begins) require_some(file, adapters);
  missing.insert(names.begin(), names.end());
}

// "--set 'train.lora.train=["fc.weight","out.bias","out.weight"]'": these parameters, too. What stands there already is frozen.
std::string train_too(const frontend::PlannedAdapters& adapters, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (std::ranges::count(adapters.frozen, name) != 0) return fmt::format("take '{}' out of train.freeze", name);
  std::vector<std::string> names = adapters.trained;
  names.insert(names.end(), more.begin(), more.end());
  return fmt::format("--set 'train.lora.train=[\"{}\"]'", fmt::join(names, "\",\""));
}

// What train.lora trains beside the adapters lies in their file, too: the base has other values of it, or none. What the
// file has beyond that would be used, and left out of the next file.
void require_trained(const std::string& file, const frontend::PlannedAdapters& adapters,
                     const std::vector<runtime::SavedTensor>& apart, const codegen::Program& program, bool begins) {
  for (const std::string& name : adapters.trained)
    if (!begins && std::ranges::count(apart, name, &runtime::SavedTensor::name) == 0)
      throw UserError(
          ExitCode::failed,
          fmt::format("{}: its adapters come without '{}', which 'train.lora' trains beside them", file, name),
          "give the model the 'lora' that they were trained with: --set train.lora.train=null trains adapters alone");
  const std::set<std::string> known = adapter_names(adapters);
  std::vector<std::string> beyond;
  for (const runtime::SavedTensor& t : apart) {
    const auto state = std::ranges::find(program.states, t.name, &codegen::Buffer::name);
    const bool is_parameter = state != program.states.end() && state->role == codegen::BufferRole::param;
    if (is_parameter && !known.contains(t.name) && std::ranges::count(adapters.trained, t.name) == 0)
      beyond.push_back(t.name);
  }
  if (!beyond.empty())
    throw UserError(ExitCode::failed,
                    fmt::format("{}: beside adapters it holds '{}', which 'train.lora' neither trains nor saves", file,
                                beyond.front()),
                    "give the model the 'lora' that they were trained with: " + train_too(adapters, beyond));
}

// A base may lack what train.lora trains: a training draws it, and whoever uses the weights finds it beside the adapters.
void require_base(const runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                  const std::set<std::string>& missing) {
  std::vector<std::string> lost;
  std::ranges::copy_if(missing, std::back_inserter(lost),
                       [&](const auto& name) { return std::ranges::count(plan.adapters->trained, name) == 0; });
  if (!lost.empty())
    throw UserError(
        plan.weights->missing.front().where,
        fmt::format("{}: no tensor becomes '{}', which 'train.lora' neither trains nor saves", file.name, lost.front()),
        "train it beside the adapters: " + train_too(*plan.adapters, lost));
}

// A training with train.quantize may begin with weights that have no ranges of inputs beside them: it observes them first.
void require_ranges(const runtime::WeightsFile& file, const codegen::Program& program, bool begins,
                    std::set<std::string>& missing) {
  const std::vector<std::string> names = range_names(program);
  if (names.empty() || std::ranges::any_of(names, [&](const auto& name) { return file.find(name) != nullptr; })) return;
  if (!begins)
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: it holds no ranges of inputs, which a training with 'train.quantize' observes, such "
                    "as '{}'",
                    file.name, names.front()),
        "train with it, and give the weights that are saved; --set train.quantize=null computes in f32");
  missing.insert(names.begin(), names.end());
}

// Those of nodes, adapters and ranges: what a table of foreign names need not name.
std::vector<frontend::PlannedCopy> without_foreign_names(const frontend::TrainingPlan& plan,
                                                         const codegen::Program& program,
                                                         const std::vector<runtime::SavedTensor>& apart) {
  std::vector<frontend::PlannedCopy> all = plan.copies;
  for (const runtime::SavedTensor& t : apart) all.push_back({t.name, {}, {}});
  if (plan.adapters)
    for (const std::string& name : adapter_names(*plan.adapters)) all.push_back({name, {}, {}});
  for (const std::string& name : range_names(program)) all.push_back({name, {}, {}});
  return all;
}

}  // namespace

std::string require_weights(runtime::WeightsFile& file, const frontend::TrainingPlan& plan,
                            const codegen::Program& program, bool begins) {
  const std::vector<runtime::SavedTensor> adapters = take_adapters(file, plan);
  if (!adapters.empty() && file.tensors.empty()) refuse_adapters_alone(file.name);
  Translated translated;
  if (plan.weights)
    translated = translate(file, *plan.weights, program, without_foreign_names(plan, program, adapters));
  if (plan.adapters && adapters.empty() && !begins) require_some(file, *plan.adapters);
  if (!translated.missing.empty() && !begins)
    throw UserError(
        plan.weights->missing.front().where,
        fmt::format("{}: no tensor becomes '{}'", file.name, *translated.missing.begin()),
        "only a training may start without missing parameters: train first, and give the weights that it saves");
  if (plan.adapters) require_base(file, plan, translated.missing);
  if (plan.adapters && !adapters.empty()) require_trained(file.name, *plan.adapters, adapters, program, begins);
  put_adapters(file, adapters);
  if (plan.adapters) require_adapters(file, *plan.adapters, !adapters.empty(), begins, translated.missing);
  require_ranges(file, program, begins, translated.missing);
  std::vector<frontend::PlannedCopy> copies = without_tensors(file, plan.copies);
  const std::string note = told_of_copies(file, copies);
  add_new_adapters(file, plan.copies, translated.missing, copies);
  require_whole(file, plan.copies, copies);
  for (const frontend::PlannedCopy& copy : copies) translated.missing.insert(copy.parameter);
  runtime::require_match(file, program, translated.missing);
  runtime::require_values(file, program);
  add_copies(file, copies);
  std::string told = translated.note;
  for (const std::string& more : {note, told_of_rounding(file, program)})
    if (!more.empty()) told += (told.empty() ? "" : "; ") + more;
  std::vector<Diagnostic> errors;
  for (const frontend::PaddingRow& row : plan.padding) {
    const std::optional<float> number = number_in_row(file, row);
    if (!number) continue;
    const std::string message = fmt::format(
        "{}: row {} of '{}' holds {}, and the embedding reads zeros there: it is its "
        "'padding'",
        file.name, row.row, row.parameter, *number);
    if (row.shared)
      told += (told.empty() ? "" : "; ") + message + ", which other nodes read as it is";
    else
      errors.push_back({Severity::error,
                        {},
                        message,
                        {{Severity::note, row.where, "the embedding is here", {}, {}}},
                        fmt::format("make the row zero in the file; or leave out \"padding\": then row {} is read, and "
                                    "trained, as any other",
                                    row.row)});
  }
  if (!errors.empty()) throw UserError(std::move(errors));
  return told;
}

}  // namespace heddle::driver
