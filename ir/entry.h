// EntryKind: the purpose of a graph of a module. IR text expresses it in the graph's name; entry_kind reads the name.
//
//   graph @train_last(...)   ->   {.phase = Phase::train, .batch = BatchKind::remainder}
//   graph @eval.16(...)      ->   {.phase = Phase::eval, .length = 16}
#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::ir {

enum class Phase { other, init, train, eval, predict, reset, metrics, after_epoch, take_average };
// `whole`: the planned batch. `remainder`: the rows that are left at the end of an epoch or a split.
enum class BatchKind { whole, remainder };

struct EntryKind {
  Phase phase = Phase::other;
  BatchKind batch = BatchKind::whole;
  int64_t length = 0;  // the length of rows, if shorter than the model's; 0: the model's length
  bool operator==(const EntryKind&) const = default;

  // Whether it runs over the rows of a data set. Such an entry may read its batches itself (passes/feed.h).
  bool takes_rows() const { return phase == Phase::train || phase == Phase::eval; }
};

struct NamedEntry {
  std::string_view name;
  EntryKind kind;
};
inline constexpr std::array<NamedEntry, 10> kEntries = {{{"init", {Phase::init}},
                                                         {"train", {Phase::train}},
                                                         {"train_last", {Phase::train, BatchKind::remainder}},
                                                         {"eval", {Phase::eval}},
                                                         {"eval_last", {Phase::eval, BatchKind::remainder}},
                                                         {"predict", {Phase::predict}},
                                                         {"reset", {Phase::reset}},
                                                         {"metrics", {Phase::metrics}},
                                                         {"after_epoch", {Phase::after_epoch}},
                                                         {"take_average", {Phase::take_average}}}};

inline std::string entry_name(EntryKind kind) {
  for (const NamedEntry& e : kEntries)
    if (e.kind.phase == kind.phase && e.kind.batch == kind.batch)
      return std::string(e.name) + (kind.length > 0 ? "." + std::to_string(kind.length) : "");
  return {};
}
// The kind of the entry with this name, with or without a length. Phase::other if the name is not in kEntries.
inline EntryKind entry_kind(std::string_view name) {
  const size_t dot = name.find('.');
  for (const NamedEntry& e : kEntries) {
    if (e.name != name.substr(0, dot)) continue;
    EntryKind kind = e.kind;
    if (dot == std::string_view::npos) return kind;
    const std::string_view digits = name.substr(dot + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), kind.length);
    const bool whole = error == std::errc() && end == digits.data() + digits.size() && digits[0] != '0';
    return kind.takes_rows() && whole && kind.length > 0 ? kind : EntryKind{};
  }
  return {};
}

// The meaning of an entry's result for the runtime. The names of all roles but `result` are reserved.
enum class OutputRole {
  result,   // an output of the model, or a metric
  loss,     // the loss of the step
  count,    // how much of the batch counts in the loss
  norm,     // the norm of the gradients
  outside,  // for each check, the first index that is out of range
};
struct NamedOutput {
  std::string_view name;
  OutputRole role;
};
inline constexpr std::array<NamedOutput, 4> kStepOutputs = {{{"loss", OutputRole::loss},
                                                             {"loss.count", OutputRole::count},
                                                             {"gradient.norm", OutputRole::norm},
                                                             {"step.outside", OutputRole::outside}}};

constexpr std::string_view output_name(OutputRole role) {
  for (const NamedOutput& o : kStepOutputs)
    if (o.role == role) return o.name;
  return {};
}
constexpr OutputRole output_role(std::string_view name) {
  for (const NamedOutput& o : kStepOutputs)
    if (o.name == name) return o.role;
  return OutputRole::result;
}

}  // namespace heddle::ir
