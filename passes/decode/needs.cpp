#include "passes/decode/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/check.h"
#include "ir/decoding.h"
#include "ir/scan.h"
#include "passes/decompose.h"

namespace heddle::passes {
using namespace ir;

Part part_of(ValueId v, AxisRoles roles) {
  if (!has_tokens(roles)) roles.clear();
  return {v, std::move(roles)};
}
bool is_whole(const Part& part) { return part.roles.empty(); }
bool has_front(const Part& part) { return has_tokens(part.roles) && !has_rows(part.roles); }

size_t tokens_axis(const AxisRoles& roles) {
  return static_cast<size_t>(std::ranges::find_if(roles, [](AxisRole role) { return has_tokens({role}); }) -
                             roles.begin());
}
size_t rows_axis(const AxisRoles& roles) {
  return static_cast<size_t>(std::ranges::find_if(roles, [](AxisRole role) { return has_rows({role}); }) -
                             roles.begin());
}

Part record_part(const Graph& g, const Node& n, size_t operand, const AxisSizes& sizes) {
  const ValueId v = n.operands[operand];
  const Dims& dims = g[v].type.dims;
  AxisRoles roles(dims.size(), AxisRole::other);
  const Decoding& decoding = *n.op->decoding;
  const int64_t axis = decoding.tokens_axis(signature(g, n), operand);
  if (axis < 0) return {v, {}};
  if (dims[0] == sizes.rows) roles[0] = AxisRole::rows;
  if (dims[static_cast<size_t>(axis)] == sizes.tokens) roles[static_cast<size_t>(axis)] = AxisRole::tokens;
  return part_of(v, roles);
}

namespace {

class Finder {
 public:
  Finder(const Module& m, Graph forward, size_t result, ValueId text) : m_(m) {
    n_.forward = std::move(forward);
    n_.text = text;
    find_dependent();
    decompose();
    find_dependent();
    const Graph& f = n_.forward;
    const Dims& dims = f[text].type.dims;
    n_.sizes = {.rows = dims[0], .tokens = dims[1]};
    AxisRoles roles(f[f.outputs[result]].type.dims.size(), AxisRole::other);
    roles[0] = AxisRole::rows, roles[1] = AxisRole::tokens;
    n_.result = part_of(f.outputs[result], roles);
  }

  Needs run() {
    ask(n_.result, {});
    for (size_t i = f().order.size(); i-- > 0;) ask_operands(f().order[i]);
    if (fault_) throw UserError(*fault_);
    ask_inputs();
    for (const auto& [v, parts] : n_.parts)
      if (of_source(v) && std::ranges::any_of(parts, is_whole)) n_.kept.push_back(v);
    return std::move(n_);
  }

 private:
  const Graph& f() const { return n_.forward; }
  bool depends(ValueId v) const { return (dependent_[index_of(v)] & kOnText) != 0; }
  // Whether the value depends on a source, but not on the text.
  bool of_source(ValueId v) const { return dependent_[index_of(v)] == kOnSource; }
  const Type& type(ValueId v) const { return f()[v].type; }
  [[noreturn]] void refuse(const Node& n, const std::string& reason, const std::string& help = {}) const {
    refuse_node(f(), n, reason, help);
  }

  void find_dependent() {
    dependent_.assign(f().value_count(), 0);
    for (const ValueId v : f().inputs)
      if (f()[v].role == Role::input) dependent_[index_of(v)] = v == n_.text ? kOnText : kOnSource;
    for (const NodeId id : f().order) {
      const Node& n = f()[id];
      unsigned char of_operands = 0;
      for (const ValueId v : n.operands) of_operands |= dependent_[index_of(v)];
      for (const ValueId v : n.results) dependent_[index_of(v)] = of_operands;
    }
  }

  // Decomposes composites, except those whose decoding record applies and those that depend on a source alone. An
  // attention from the text to a source is decomposed, too.
  void decompose() {
    std::vector<char> stays(f().node_count(), 0);
    for (const NodeId id : f().order) {
      const Node& n = f()[id];
      const size_t sequences = n.op->decoding != nullptr ? n.op->decoding->sequences : 0;
      const bool goes_on =
          sequences > 0 && (std::all_of(n.operands.begin(), n.operands.begin() + static_cast<std::ptrdiff_t>(sequences),
                                        [&](ValueId v) { return depends(v); }));
      stays[index_of(id)] = static_cast<char>(goes_on || of_source(n.results[0]));
    }
    decompose_nodes(n_.forward, [&](NodeId id) {
      return index_of(id) < stays.size() ? stays[index_of(id)] == 0 : f()[id].op->decoding == nullptr;
    });
  }

  // Checks the parts of inputs. The text must be read token by token. Parts of other inputs, such as tables of
  // positions, are gathered from the whole, which limits positions.
  void ask_inputs() {
    for (const ValueId v : f().inputs) {
      const auto found = n_.parts.find(v);
      if (found == n_.parts.end()) continue;
      for (const Part& part : found->second) {
        if (v == n_.text && part.roles != AxisRoles{AxisRole::rows, AxisRole::tokens})
          throw UserError(Location{}, fmt::format("input '{}' is not read token by token", f()[v].name));
        if (v != n_.text && !is_whole(part)) n_.limited = true;
      }
      if (of_source(v) && !std::ranges::any_of(found->second, is_whole)) found->second.push_back({v, {}});
    }
  }

  void ask(Part part, const Node* reader) {
    if (is_whole(part) && depends(part.value)) {
      HEDDLE_CHECK(reader != nullptr, "a result has tokens");
      refuse(*reader, "reads a whole text at once");
    }
    std::vector<Part>& list = n_.parts[part.value];
    if (std::ranges::find(list, part) == list.end()) list.push_back(std::move(part));
  }

  void ask_operands(NodeId id) {
    const Node& n = f()[id];
    for (size_t r = 0; r < n.results.size(); ++r) {
      const auto found = n_.parts.find(n.results[r]);
      if (found == n_.parts.end()) continue;
      try {
        for (size_t i = 0; i < found->second.size(); ++i) {  // a part may append the whole to the list
          const Part part = found->second[i];
          n_.ways[part] = ask_for(n, r, part);
        }
      } catch (const UserError& error) {  // the last fault found here is the first one of the model, and is reported
        fault_ = error;
      }
    }
  }

  Way ask_for(const Node& n, size_t result, const Part& part) {
    if (is_whole(part)) return ask_whole(n);
    if (n.op->traits.splat != nullptr) return Way::node;
    if (!depends(part.value)) return ask_position(n, result, part);
    if (n.op->decoding != nullptr && !reads_alone(n, result, part)) return ask_record(n, result, part, *n.op->decoding);
    if (is_scan(n)) return ask_turn(n, result, part);
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const auto roles = operand_roles(f(), n, result, i, part.roles, n_.sizes);
      if (!roles) refuse(n, "reads other tokens than its own, or other texts");
      require_rows(n, n.operands[i], *roles);
      const Part operand = part_of(n.operands[i], *roles);
      if (has_front(operand) && (depends(operand.value) || n.op->traits.spread == nullptr))
        refuse(n, "mixes tokens and positions in a way that is not known");
      ask(operand, &n);
    }
    return Way::node;
  }

  // Refuses a source with one entry per token: entries of tokens that follow are not known yet.
  [[noreturn]] void refuse_beside(const Node& n, const Part& operand) const {
    const std::string& name = f()[operand.value].name;
    refuse(n, fmt::format("reads '{}' of all tokens, and those that follow are not there yet", name),
           fmt::format("leave '{}' out of the model that generates: parameters stay the same", name));
  }

  // Whether each token of the result reads only its own token of the operands, as in a convolution of size 1.
  bool reads_alone(const Node& n, size_t result, const Part& part) const {
    for (size_t i = 0; i < n.operands.size(); ++i)
      if (!operand_roles(f(), n, result, i, part.roles, n_.sizes)) return false;
    return true;
  }

  void require_rows(const Node& n, ValueId operand, const AxisRoles& roles) const {
    if (of_source(operand) && !has_rows(roles)) refuse(n, "computes across texts, or in a way that is not known");
  }

  Way ask_whole(const Node& n) {
    if (of_source(n.results[0])) return Way::kept;
    for (const ValueId v : n.operands) ask({v, {}}, &n);
    return Way::whole;
  }

  // For a part that does not depend on the text. Operators that only change the shape are applied to the part. Any
  // other value is computed for all positions, and the current position is gathered from it.
  Way ask_position(const Node& n, size_t result, const Part& part) {
    std::vector<Part> operands;
    const bool looks_up = has_front(part) && n.op->traits.rows_along != nullptr && n.op->traits.rows_along(n) == 0;
    bool stays = std::holds_alternative<Elementwise>(n.op->kind) || n.op->traits.spread != nullptr ||
                 n.op->traits.reshapes || (n.op->traits.joined_along != nullptr && has_front(part)) || looks_up;
    for (size_t i = 0; stays && i < n.operands.size(); ++i) {
      const auto roles = operand_roles(f(), n, result, i, part.roles, n_.sizes);
      stays = roles.has_value();
      if (!stays) break;
      require_rows(n, n.operands[i], *roles);
      operands.push_back(part_of(n.operands[i], *roles));
      const bool front = has_front(operands.back()), whole = is_whole(operands.back());
      stays = n.op->traits.spread != nullptr || (looks_up && i == 0 ? whole : front == has_front(part) && !whole);
    }
    if (!stays) {
      n_.limited = true;
      ask({part.value, {}}, &n);
      return Way::gathered;
    }
    for (const Part& operand : operands) ask(operand, &n);
    return Way::node;
  }

  Way ask_record(const Node& n, size_t result, const Part& part, const Decoding& decoding) {
    const DecodeRefusal refusal = decoding.refusal(signature(f(), n));
    if (!refusal.reason.empty()) refuse(n, refusal.reason, refusal.help);
    AxisRoles roles(part.roles.size(), AxisRole::other);
    roles[0] = AxisRole::rows,
    roles[static_cast<size_t>(decoding.tokens_axis(signature(f(), n), 0))] = AxisRole::tokens;
    if (result != 0 || part.roles != roles) refuse(n, "has results that are read across tokens");
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const Part operand = record_part(f(), n, i, n_.sizes);
      require_rows(n, operand.value, operand.roles);
      if (of_source(operand.value) && has_tokens(operand.roles) && has_rows(operand.roles)) refuse_beside(n, operand);
      ask(operand, &n);
    }
    n_.limited |= decoding.bounded;
    return Way::record;
  }

  // A result of a scan over the tokens. The parts of all stacked results must agree; otherwise the scan is refused.
  Way ask_turn(const Node& n, size_t result, const Part& part) {
    if (is_reversed(n))
      refuse(n, "goes from the last token to the first", "leave \"reverse\" and \"bidirectional\" out");
    if (part.roles[0] != AxisRole::tokens) refuse(n, "does not take a token in each of its turns");
    const auto [at, is_new] = n_.scans.try_emplace(n.results[0], *m_.find_body(n.callee), n_.sizes.rows);
    ScanRows& rows = at->second;
    const size_t carries = inputs_with(rows.body(), Role::carry).size();
    HEDDLE_CHECK(result >= carries, "a carry's last value has no tokens");
    if (!rows.ask(result - carries, {part.roles.begin() + 1, part.roles.end()}))
      refuse(n, "computes across texts, or in a way that is not known");
    if (rows.reads_index()) refuse(n, "reads the number of its turn");
    const Values inputs = operand_inputs(rows.body());
    for (size_t i = 0; i < inputs.size(); ++i) {
      AxisRoles roles = rows.roles(inputs[i]);
      require_rows(n, n.operands[i], roles);
      if (rows.body()[inputs[i]].role != Role::fixed && std::ranges::count(roles, AxisRole::rows_others) > 0)
        refuse(n, "has texts and others in one axis");
      if (rows.body()[inputs[i]].role != Role::slice) {
        roles.clear();
      } else {
        roles.insert(roles.begin(), AxisRole::tokens);
        if (depends(n.operands[i]) && !has_rows(roles))
          refuse(n, "computes across texts, or in a way that is not known");
      }
      const Part operand = part_of(n.operands[i], roles);
      if (has_front(operand)) refuse(n, "takes slices that are the same for all texts");
      ask(operand, &n);
    }
    return Way::turn;
  }

  const Module& m_;
  Needs n_;
  static constexpr unsigned char kOnText = 1, kOnSource = 2;
  std::vector<unsigned char> dependent_;  // by ValueId index
  std::optional<UserError> fault_;
};

}  // namespace

Needs find_needs(const Module& m, Graph forward, size_t result, ValueId text) {
  return Finder(m, std::move(forward), result, text).run();
}

void refuse_node(const Graph& g, const Node& n, const std::string& reason, const std::string& help) {
  throw UserError(n.loc, fmt::format("'{}' {}: the next token cannot be computed alone", g[n.results[0]].name, reason),
                  help.empty()
                      ? "a model that generates has layers of single tokens, causal attention and convolutions, and "
                        "recurrent layers in one direction"
                      : help);
}

}  // namespace heddle::passes
