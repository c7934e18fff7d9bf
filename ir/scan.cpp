#include "ir/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace heddle::ir {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 48;  // of a stacked result, as of every type that a text may write

void check_operand(const Value& input, const Type& operand, int64_t count) {
  const Type expected = input.role == Role::slice ? stacked(input.type, count) : input.type;
  if (operand == expected) return;
  throw InferError(fmt::format("{} %{} takes {}{}, got {}", to_string(input.role), input.name, to_string(expected),
                               input.role == Role::slice ? fmt::format(", a row for each of {} turns", count) : "",
                               to_string(operand)));
}

int64_t count_of(const Attrs& attrs) {
  const auto found = attrs.find("count");
  const auto* count = found == attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  if (count == nullptr) throw InferError("attribute 'count' is missing");
  return *count;
}

}  // namespace

bool is_scan(const Node& n) { return std::holds_alternative<Scan>(n.op->kind); }
int64_t turns(const Node& scan) { return std::get<int64_t>(scan.attrs.at("count")); }
bool is_reversed(const Node& scan) {
  const auto found = scan.attrs.find("reverse");
  return found != scan.attrs.end() && found->second == Attr(true);
}

Attrs scan_attrs(int64_t count, bool reverse) {
  Attrs attrs{{"count", count}};
  if (reverse) attrs["reverse"] = true;
  return attrs;
}

std::vector<ValueId> inputs_with(const Graph& body, Role role) {
  std::vector<ValueId> list;
  for (const ValueId v : body.inputs)
    if (body[v].role == role) list.push_back(v);
  return list;
}

std::vector<ValueId> operand_inputs(const Graph& body) {
  std::vector<ValueId> list;
  for (const ValueId v : body.inputs)
    if (body[v].role != Role::index) list.push_back(v);
  return list;
}

size_t number_in(const std::vector<ValueId>& list, ValueId v) {
  return static_cast<size_t>(std::ranges::find(list, v) - list.begin());
}

ValueId next_of(const Graph& body, ValueId carry) {
  for (const Update& u : body.updates)
    if (u.state == carry) return u.next;
  return {};
}

Type stacked(const Type& row, int64_t count) {
  Type all{row.dtype, {count}};
  all.dims.insert(all.dims.end(), row.dims.begin(), row.dims.end());
  return all;
}

std::vector<std::string> body_problems(const Graph& body) {
  std::vector<std::string> problems;
  const auto problem = [&](std::string text) { problems.push_back(std::move(text)); };
  int indices = 0;
  for (const ValueId v : body.inputs) {
    const Value& in = body[v];
    switch (in.role) {
      case Role::fixed:
      case Role::slice: break;
      case Role::carry:
        if (!next_of(body, v).valid())
          problem(fmt::format("carry %{} has no update: what is it in the next turn?", in.name));
        break;
      case Role::index:
        if (in.type.rank() != 0 || (in.type.dtype != DType::i32 && in.type.dtype != DType::i64))
          problem(fmt::format("index %{} is i32[] or i64[], not {}", in.name, to_string(in.type)));
        if (++indices > 1) problem(fmt::format("index %{} is a second one", in.name));
        break;
      case Role::none:
      case Role::input:
      case Role::param:
      case Role::buffer:
      case Role::state:
      case Role::cursor:
      case Role::ring:
        problem(fmt::format("%{} is {}, and a body takes fixed, carry, slice and index", in.name, to_string(in.role)));
    }
  }
  return problems;
}

namespace {

// Visits only bodies that the graph reaches, because a module may have many bodies of other graphs.
class Turns {
 public:
  explicit Turns(const Module& m) : m_(m) {}

  // A body scans only bodies before it in the list; `above` is their number.
  int64_t in(const Graph& g, size_t above) {
    int64_t sum = 0;
    for (const NodeId id : g.order) {
      if (!is_scan(g[id])) continue;
      const Graph* body = m_.find_body(g[id].callee);
      const auto number = body == nullptr ? above : static_cast<size_t>(body - m_.bodies.data());
      if (number < above) sum += turns(g[id]) * std::max<int64_t>(1, of_body(number));
    }
    return sum;
  }

 private:
  int64_t of_body(size_t number) {
    const auto known = known_.find(number);
    return known != known_.end() ? known->second : known_[number] = in(m_.bodies[number], number);
  }

  const Module& m_;
  std::map<size_t, int64_t> known_;
};

}  // namespace

int64_t all_turns(const Module& m, const Graph& g) {
  size_t above = 0;
  while (above < m.bodies.size() && &m.bodies[above] != &g) ++above;
  return Turns(m).in(g, above);
}

std::vector<Type> scan_types(const Module& m, const Graph& body, const std::vector<Type>& operands,
                             const Attrs& attrs) {
  const int64_t count = count_of(attrs);
  const auto fail = [&](const std::string& text) { throw InferError(fmt::format("scan @{}: {}", body.name, text)); };
  if (count < 1) fail(fmt::format("count is how many turns, at least 1, got {}", count));
  if (count > kMostTurns) fail(fmt::format("count {} is too large, at most {}", count, kMostTurns));
  if (const int64_t inside = all_turns(m, body); inside > 0 && count > kMostTurns / inside)
    fail(fmt::format("{} turns around {} inside are more than {}", count, inside, kMostTurns));
  const std::vector<ValueId> inputs = operand_inputs(body);
  if (operands.size() != inputs.size())
    fail(fmt::format("expected {} operands, got {}", inputs.size(), operands.size()));
  std::vector<Type> results;
  try {
    for (size_t i = 0; i < inputs.size(); ++i) check_operand(body[inputs[i]], operands[i], count);
  } catch (const InferError& error) {
    fail(error.what());
  }
  for (const ValueId v : inputs_with(body, Role::carry)) results.push_back(body[v].type);
  for (const ValueId v : body.outputs) {
    if (body[v].type.elements() > kMostElements / count)
      fail(fmt::format("{} rows of {} are too many elements", count, to_string(body[v].type)));
    results.push_back(stacked(body[v].type, count));
  }
  if (results.empty()) fail("the body has neither carries nor outputs");
  return results;
}

bool starts_carry(const Module& m, const Node& scan, size_t operand, size_t result) {
  const Graph* body = m.find_body(scan.callee);
  if (body == nullptr) return false;
  const std::vector<ValueId> inputs = operand_inputs(*body), carries = inputs_with(*body, Role::carry);
  return operand < inputs.size() && result < carries.size() && inputs[operand] == carries[result];
}

NodeId add_scan(Graph& g, const Graph& body, const Values& operands, const Attrs& attrs,
                const std::vector<std::string>& names, const Location& loc) {
  std::vector<Type> types;
  const int64_t count = count_of(attrs);
  for (const ValueId v : inputs_with(body, Role::carry)) types.push_back(body[v].type);
  for (const ValueId v : body.outputs) types.push_back(stacked(body[v].type, count));
  const NodeId n = g.add_node(op_def("scan"), operands, attrs, names, types, loc);
  g[n].callee = body.name;
  return n;
}

}  // namespace heddle::ir
