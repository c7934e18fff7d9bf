// EntryKind: what a graph of a module is for. Its name says it in IR text; all code asks here.
//
//   graph @train_last(...)   ->   {.phase = Phase::train, .batch = BatchKind::remainder}
#pragma once
#include <array>
#include <string_view>

namespace heddle::ir {

enum class Phase { other, init, train, eval, predict, reset, metrics, after_epoch, take_average };
// The planned batch, or the rows that an epoch or a split has left over.
enum class BatchKind { whole, remainder };

struct EntryKind {
  Phase phase = Phase::other;
  BatchKind batch = BatchKind::whole;
  bool operator==(const EntryKind&) const = default;

  // Whether it runs over the rows of a data set, and so may take its batches itself.
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

constexpr std::string_view entry_name(EntryKind kind) {
  for (const NamedEntry& e : kEntries)
    if (e.kind.phase == kind.phase && e.kind.batch == kind.batch) return e.name;
  return {};
}
// Phase::other for a name that is none of the list's.
constexpr EntryKind entry_kind(std::string_view name) {
  for (const NamedEntry& e : kEntries)
    if (e.name == name) return e.kind;
  return {};
}

// What an entry's result is to those who run it. The names of those that are not the model's own are reserved.
enum class OutputRole {
  result,   // an output of the model, or a metric
  loss,     // of the step
  count,    // how much of the batch counts in the loss
  norm,     // of the gradients
  outside,  // the first index outside of what it is to find, for each check
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
