#include "tools/driver/foreign_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "frontend/name_pattern.h"
#include "ir/diagnostic.h"
#include "runtime/weights/match.h"
#include "runtime/weights/saved_buffers.h"

namespace heddle::driver {
namespace {

using frontend::RenamedTensor;
using runtime::SavedTensor;
using runtime::WeightsFile;

// A tensor of the file, as it becomes one of the model's.
struct Piece {
  SavedTensor tensor;  // under the parameter's name
  std::string from;    // as the file calls it
  const RenamedTensor* by = nullptr;
};

bool any_glob(const std::vector<frontend::Named>& globs, const std::string& name) {
  return std::ranges::any_of(globs, [&](const frontend::Named& g) { return frontend::glob(g.text, name); });
}

int64_t element_bytes(const SavedTensor& t) {
  const int64_t elements = std::accumulate(t.dims.begin(), t.dims.end(), int64_t{1}, std::multiplies<>());
  return elements == 0 ? 0 : (t.end - t.begin) / elements;
}

// Transposes a matrix [rows, columns] in its memory.
void transpose(std::span<std::byte> bytes, size_t rows, size_t columns, size_t of_element) {
  const std::vector<std::byte> before(bytes.begin(), bytes.end());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      std::memcpy(bytes.data() + (c * rows + r) * of_element, before.data() + (r * columns + c) * of_element,
                  of_element);
}

class Translation {
 public:
  Translation(WeightsFile& file, const frontend::WeightsTable& table, const codegen::Program& program,
              const std::vector<frontend::PlannedCopy>& copies)
      : file_(file), table_(table) {
    for (const codegen::Buffer* b : runtime::saved_buffers(program)) parameters_.emplace(b->name, b);
    for (const frontend::PlannedCopy& copy : copies) copies_.insert(copy.parameter);
  }

  Translated run() {
    for (SavedTensor& t : std::exchange(file_.tensors, {})) take(std::move(t));
    join_parts();
    for (Piece& piece : pieces_) place(std::move(piece));
    find_missing();
    refuse_what_is_left();
    throw_if_any();
    for (const Piece& piece : taken_) file_.tensors.push_back(piece.tensor);
    return {.missing = missing_, .note = told()};
  }

  // Of a file of the model's own names the table says what may be missing, and nothing else.
  Translated keep_names() {
    for (const auto& [name, buffer] : parameters_)
      if (file_.find(name) == nullptr && !copies_.contains(name) && any_glob(table_.missing, name))
        missing_.insert(name);
    return {.missing = missing_, .note = told()};
  }

 private:
  void error(const Location& where, const std::string& message, const std::string& help,
             std::vector<Diagnostic> notes = {}) {
    errors_.push_back({Severity::error, where, fmt::format("{}: {}", file_.name, message), std::move(notes), help});
  }
  void throw_if_any() {
    if (errors_.size() > Diagnostics::kMaxErrors) errors_.resize(Diagnostics::kMaxErrors);
    if (!errors_.empty()) throw UserError(std::move(errors_));
  }

  std::string without_prefix(const std::string& name) const {
    for (const frontend::Named& prefix : table_.prefix)
      if (name.starts_with(prefix.text) && name.size() > prefix.text.size()) return name.substr(prefix.text.size());
    return name;
  }

  // What the table says of a tensor.
  void take(SavedTensor t) {
    const std::string from = t.name;
    t.name = without_prefix(from);
    if (any_glob(table_.ignore, t.name) || any_glob(table_.ignore, from)) {
      ++ignored_;
      return;
    }
    for (const RenamedTensor& by : table_.names)
      if (const auto held = frontend::match(by.from_pattern, t.name)) return rename(std::move(t), from, by, *held);
    pieces_.push_back({std::move(t), from, nullptr});
  }

  void rename(SavedTensor t, const std::string& from, const RenamedTensor& by, const frontend::HeldParts& held) {
    if (by.transpose && !turn(t, from, by)) {
      for (const frontend::NamePattern& to : by.to_patterns) left_.insert(frontend::fill(to, held));
      return;
    }
    if (by.to_patterns.size() > 1) return cut(t, from, by, held);
    t.name = frontend::fill(by.to_patterns.front(), held);
    auto& list = by.part ? parts_[t.name][*by.part] : pieces_;
    list.push_back({std::move(t), from, &by});
  }

  bool turn(SavedTensor& t, const std::string& from, const RenamedTensor& by) {
    if (t.dims.size() != 2) {
      if (t.dims.size() == 1) return true;  // a bias, of which the same pattern may speak
      error(by.from.where,
            fmt::format("'{}' is {}, and 'transpose' turns two axes", from, runtime::type_text(t.dtype, t.dims)),
            "leave out 'transpose' for it");
      return false;
    }
    const auto of_element = static_cast<size_t>(element_bytes(t));
    const std::span<std::byte> bytes =
        std::span(file_.data.own()).subspan(static_cast<size_t>(t.begin), static_cast<size_t>(t.end - t.begin));
    transpose(bytes, static_cast<size_t>(t.dims[0]), static_cast<size_t>(t.dims[1]), of_element);
    std::swap(t.dims[0], t.dims[1]);
    return true;
  }

  // Cuts a tensor into parameters: each takes as many rows as it has.
  void cut(const SavedTensor& t, const std::string& from, const RenamedTensor& by, const frontend::HeldParts& held) {
    std::vector<std::string> names;
    int64_t rows = 0;
    for (const frontend::NamePattern& to : by.to_patterns) names.push_back(frontend::fill(to, held));
    const auto refuse = [&](const std::string& message, const std::string& help) {
      left_.insert(names.begin(), names.end());
      error(by.from.where, message, help);
    };
    for (const std::string& name : names) {
      const auto parameter = parameters_.find(name);
      if (parameter == parameters_.end())
        return refuse(fmt::format("the model has no parameter '{}', a part of '{}'", name, from),
                      runtime::did_you_mean_path(name, parameter_names()));
      if (parameter->second->dims.empty())
        return refuse(fmt::format("the parameter '{}' is one number, and a part of '{}' is rows of it", name, from),
                      "");
      rows += parameter->second->dims[0];
    }
    if (t.dims.empty() || t.dims[0] != rows)
      return refuse(
          fmt::format("'{}' is {}, and the parameters '{}' have {} rows together", from,
                      runtime::type_text(t.dtype, t.dims), fmt::join(names, "', '"), rows),
          !by.transpose && t.dims.size() == 2 && t.dims[1] == rows ? "\"transpose\": true turns its axes" : "");
    const int64_t of_row = rows == 0 ? 0 : (t.end - t.begin) / rows;
    int64_t begin = t.begin;
    for (const std::string& name : names) {
      Piece piece{t, from, &by};
      piece.tensor.name = name;
      piece.tensor.dims[0] = parameters_.at(name)->dims[0];
      piece.tensor.begin = begin;
      piece.tensor.end = begin += piece.tensor.dims[0] * of_row;
      pieces_.push_back(std::move(piece));
    }
  }

  // Tensors that are parts of one parameter, one behind the other.
  void join_parts() {
    for (auto& [name, parts] : parts_) {
      const Piece& first = parts.begin()->second.front();
      SavedTensor whole{.name = name,
                        .dtype = first.tensor.dtype,
                        .dims = first.tensor.dims,
                        .begin = static_cast<int64_t>(file_.data.size()),
                        .end = 0};
      int64_t expected = 0, rows = 0, bytes = 0;
      bool fits = true;
      for (const auto& [number, pieces] : parts) {
        const Piece& piece = pieces.front();
        fits = fits && part_fits(piece, first, name, pieces, number, expected++);
        if (!fits) break;
        rows += piece.tensor.dims[0], bytes += piece.tensor.end - piece.tensor.begin;
      }
      if (!fits) continue;
      std::vector<std::byte>& data = file_.data.own();
      data.reserve(data.size() + static_cast<size_t>(bytes));
      for (const auto& [number, pieces] : parts) {
        const SavedTensor& t = pieces.front().tensor;
        const size_t at = data.size();
        data.resize(at + static_cast<size_t>(t.end - t.begin));
        std::memcpy(data.data() + at, data.data() + t.begin, static_cast<size_t>(t.end - t.begin));
      }
      whole.dims[0] = rows, whole.end = whole.begin + bytes;
      pieces_.push_back({std::move(whole), first.from, first.by});
    }
  }

  bool part_fits(const Piece& piece, const Piece& first, const std::string& name, const std::vector<Piece>& all,
                 int64_t number, int64_t expected) {
    const SavedTensor &a = first.tensor, &b = piece.tensor;
    if (number != expected) {
      left_.insert(name);
      error(piece.by->from.where,
            fmt::format("part {} of '{}' is '{}', and no tensor is part {}", number, name, piece.from, expected),
            fmt::format("an entry with \"part\": {} says which one it is", expected));
      return false;
    }
    if (all.size() > 1) {
      left_.insert(name);
      error(piece.by->from.where,
            fmt::format("'{}' and '{}' are both part {} of '{}'", piece.from, all[1].from, number, name), {});
      return false;
    }
    const bool alike = !a.dims.empty() && a.dtype == b.dtype && a.dims.size() == b.dims.size() &&
                       std::equal(a.dims.begin() + 1, a.dims.end(), b.dims.begin() + 1);
    if (alike) return true;
    left_.insert(name);
    error(piece.by->from.where,
          fmt::format("'{}' is {} and '{}' {}: they do not join", first.from, runtime::type_text(a.dtype, a.dims),
                      piece.from, runtime::type_text(b.dtype, b.dims)),
          {});
    return false;
  }

  // Two names of one tensor, as tied weights have them, hold the same numbers.
  void place(Piece piece) {
    const auto at = places_.find(piece.tensor.name);
    if (at == places_.end()) {
      places_.emplace(piece.tensor.name, taken_.size());
      taken_.push_back(std::move(piece));
      return;
    }
    const Piece& other = taken_[at->second];
    const auto a = file_.bytes(other.tensor), b = file_.bytes(piece.tensor);
    if (other.tensor.dims == piece.tensor.dims && std::ranges::equal(a, b)) return;
    error(where(piece),
          fmt::format("'{}' and '{}' are both '{}', and hold other numbers", other.from, piece.from, piece.tensor.name),
          "the model takes them for one tensor: give it two parameters, or ignore one of the tensors");
  }

  Location where(const Piece& piece) const { return piece.by != nullptr ? piece.by->from.where : table_.where; }

  std::vector<std::string> parameter_names() const {
    std::vector<std::string> names;
    for (const auto& [name, buffer] : parameters_) names.push_back(name);
    return names;
  }

  // One message for each entry of the table, which tells of the first of them.
  struct Fault {
    std::string message, help;
    int64_t count = 0;
  };
  using Faults = std::map<const RenamedTensor*, Fault>;
  void tell(const Faults& faults, const char* of_all) {
    const auto one = [&](const RenamedTensor* by, const Fault& fault) {
      const std::string more = fault.count > 1 ? fmt::format(", and {} more {}", fault.count - 1, of_all) : "";
      error(by != nullptr ? by->from.where : table_.where, fault.message + more, fault.help);
    };
    if (const auto none = faults.find(nullptr); none != faults.end()) one(nullptr, none->second);
    for (const RenamedTensor& by : table_.names)
      if (const auto found = faults.find(&by); found != faults.end()) one(&by, found->second);
  }

  // By which entry the parameter would be found, and what the tensor would be called.
  std::pair<const RenamedTensor*, std::string> expected_for(const std::string& parameter) const {
    for (const RenamedTensor& by : table_.names)
      for (const frontend::NamePattern& to : by.to_patterns)
        if (const auto held = frontend::match(to, parameter)) return {&by, frontend::fill(by.from_pattern, *held)};
    return {nullptr, parameter};
  }

  void find_missing() {
    std::vector<std::string> unused;  // names of the file that became no parameter
    for (const Piece& piece : taken_)
      if (!parameters_.contains(piece.tensor.name)) unused.push_back(without_prefix(piece.from));
    Faults faults;
    for (const auto& [name, buffer] : parameters_) {
      if (places_.contains(name) || left_.contains(name) || copies_.contains(name)) continue;
      if (any_glob(table_.missing, name)) {
        missing_.insert(name);
        continue;
      }
      const auto [by, tensor] = expected_for(name);
      Fault& fault = faults[by];
      if (++fault.count > 1) continue;
      fault.message = tensor == name ? fmt::format("no tensor '{}'", name)
                                     : fmt::format("no tensor '{}', which would be '{}'", tensor, name);
      fault.help = runtime::did_you_mean_path(tensor, unused);
      if (fault.help.empty())
        fault.help = fmt::format("\"missing\": [\"{}\"] lets a training begin with its initial values", name);
    }
    tell(faults, "likewise");
  }

  void refuse_what_is_left() {
    std::vector<std::string> free;  // parameters without a tensor
    for (const auto& [name, buffer] : parameters_)
      if (!places_.contains(name)) free.push_back(name);
    Faults faults;
    for (const Piece& piece : taken_) {
      const SavedTensor& t = piece.tensor;
      const auto parameter = parameters_.find(t.name);
      if (parameter == parameters_.end()) {
        Fault& fault = faults[piece.by];
        if (++fault.count > 1) continue;
        fault.message = t.name == piece.from
                            ? fmt::format("the model has no parameter '{}'", t.name)
                            : fmt::format("'{}' is '{}', and the model has no such parameter", piece.from, t.name);
        fault.help = runtime::did_you_mean_path(t.name, free);
        if (fault.help.empty())
          fault.help = fmt::format("\"ignore\": [\"{}\"] leaves it out", without_prefix(piece.from));
      } else if (const codegen::Buffer& b = *parameter->second; t.dims != b.dims || !runtime::takes_type(b, t.dtype)) {
        refuse_type(piece, b);
      }
    }
    tell(faults, "likewise");
  }

  void refuse_type(const Piece& piece, const codegen::Buffer& b) {
    const SavedTensor& t = piece.tensor;
    const bool turned =
        t.dims.size() == 2 && b.dims.size() == 2 && t.dims[0] == b.dims.back() && t.dims[1] == b.dims.front();
    const std::string help =
        !runtime::takes_type(b, t.dtype) ? fmt::format("save it as {}", b.dtype)
        : !turned                        ? std::string(
                                               "sizes of the model are those of \"let\": --set let.NAME=SIZE; a layer that "
                                                                      "begins anew is named in \"ignore\" and in \"missing\"")
        : piece.by != nullptr && piece.by->transpose ? std::string("its axes lie as they should: leave out 'transpose'")
                                                     : std::string("\"transpose\": true turns its axes");
    error(where(piece),
          fmt::format("{}, the model's '{}' is {}", found_for(piece), b.name, runtime::type_text(b.dtype, b.dims)),
          help);
  }

  // What the file has for a parameter: a tensor, several that are joined, or some rows of one.
  static std::string found_for(const Piece& piece) {
    const SavedTensor& t = piece.tensor;
    const std::string type = runtime::type_text(t.dtype, t.dims);
    if (piece.by != nullptr && piece.by->part)
      return fmt::format("the parts of '{}', '{}' and what joins it, are {} together", t.name, piece.from, type);
    if (piece.by != nullptr && piece.by->to_patterns.size() > 1)
      return fmt::format("the part of '{}' for '{}' is {}", piece.from, t.name, type);
    return fmt::format("'{}' is {}", piece.from, type);
  }

  std::string told() const {
    std::vector<std::string> parts;
    if (ignored_ > 0)
      parts.push_back(
          fmt::format("{} tensor{} left out, as the model's 'weights' say", ignored_, ignored_ == 1 ? " is" : "s are"));
    if (!missing_.empty()) {
      constexpr size_t kMostNamed = 3;
      std::vector<std::string> names(missing_.begin(), missing_.end());
      const bool more = names.size() > kMostNamed;
      if (more) names.resize(kMostNamed);
      parts.push_back(fmt::format("not in the file, and {} initial values: {}{}",
                                  missing_.size() == 1 ? "begins with its" : "begin with their", fmt::join(names, ", "),
                                  more ? ", ..." : ""));
    }
    return parts.empty() ? "" : fmt::format("{}: {}", file_.name, fmt::join(parts, "; "));
  }

  WeightsFile& file_;
  const frontend::WeightsTable& table_;
  std::map<std::string, const codegen::Buffer*> parameters_;
  std::vector<Piece> pieces_, taken_;
  std::map<std::string, std::map<int64_t, std::vector<Piece>>> parts_;  // by parameter and number
  std::map<std::string, size_t> places_;                                // in taken_, by parameter
  std::set<std::string> missing_, left_, copies_;                       // left_: told already
  int64_t ignored_ = 0;
  std::vector<Diagnostic> errors_;
};

}  // namespace

Translated translate(runtime::WeightsFile& file, const frontend::WeightsTable& table, const codegen::Program& program,
                     const std::vector<frontend::PlannedCopy>& copies) {
  Translation translation(file, table, program, copies);
  return file.metadata.contains(kOwnNames) ? translation.keep_names() : translation.run();
}

}  // namespace heddle::driver
