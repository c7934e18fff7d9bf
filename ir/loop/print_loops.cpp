#include <fmt/format.h>

#include <array>

#include "ir/check.h"
#include "ir/loop/loops.h"

namespace heddle::ir::loop {
namespace {

constexpr std::array<const char*, 16> kAxes = {
    "points", "span", "rows",        "columns",      "tiles",      "down",       "along",     "products",
    "steps",  "sums", "one of team", "one of block", "one of all", "last block", "last part", "last columns"};

class Printer {
 public:
  Printer(const Graph& k, const KernelPlan& plan) : k_(k), plan_(plan) {}

  std::string print(const Statements& all) {
    for (const Statement& s : all) std::visit([&](const auto& what) { write(what); }, s.what);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += std::string(indent_, ' ') + text + "\n"; }
  std::string name(ValueId v) const { return "%" + k_[v].name; }
  std::string result(NodeId n) const { return name(k_[n].results[0]); }
  std::string sum(size_t partials) const { return result(plan_.partials[partials].reduction); }
  std::string element(ValueId v, const IndexMap& at) const {
    static const std::vector<std::string> names = {"row", "column", "matrix", "k"};
    return fmt::format("{}[{}]", name(v), to_string(linear_offset(at, k_[v].type.dims), names));
  }

  void write(const Nest& nest) {
    std::string head = kAxes[static_cast<size_t>(nest.axis)];
    if (!nest.extents.empty()) head += " " + to_string(nest.extents);
    if (nest.axis == Axis::columns) head += fmt::format(" in pass {}", nest.pass);
    if (nest.axis == Axis::points && nest.first > 0) head += fmt::format(" from column {}", nest.first);
    for (const NodeId sum : nest.runs.sums) head += fmt::format(", runs of {} turns: {}", nest.runs.turns, result(sum));
    line(head + " {");
    indent_ += 2;
    for (const Statement& s : nest.body) std::visit([&](const auto& what) { write(what); }, s.what);
    indent_ -= 2;
    line("}");
  }
  void write(const Clear& s) { line("clear " + result(s.reduction)); }
  void write(const Keep& s) { line("keep " + name(plan_.kept[s.kept].value)); }
  void write(const Single& s) { line("single " + name(s.value)); }
  void write(const Accumulate& s) {
    const Node& n = k_[s.reduction];
    std::string elements;
    for (size_t i = 0; i < n.operands.size(); ++i)
      elements += (i > 0 ? ", " : "") + element(n.operands[i], s.element.operands[i]);
    line(fmt::format("add {} to {}", elements, result(s.reduction)));
  }
  void write(const Combine& s) { line("combine " + result(s.reduction)); }
  void write(const Put& s) { line("put " + sum(s.partials)); }
  void write(const AddBlocks& s) { line("add blocks of " + sum(s.partials)); }
  void write(const Take& s) { line("take " + sum(s.partials)); }
  void write(const Store& s) { line("store " + element(s.value, s.at)); }
  void write(const Stage& s) { line("stage " + element(s.staged.value, s.staged.at)); }
  void write(const Ahead& s) { line("ask for " + name(s.value)); }
  void write(const TurnTiles&) { line("turn tiles"); }
  void write(const Unstage& s) { line("unstage " + element(s.staged.value, s.staged.at)); }
  void write(const Fill& s) { line(s.left ? "fill left" : "fill right"); }
  void write(const Multiply&) { line("multiply"); }
  void write(const CallPrimitive& s) { line("call " + k_[s.node].op->name); }

  const Graph& k_;
  const KernelPlan& plan_;
  std::string text_;
  size_t indent_ = 2;
};

}  // namespace

std::string print(const Graph& k, const KernelPlan& plan, const Statements& loops) {
  return fmt::format("loops @{} {{\n{}}}\n", k.name, Printer(k, plan).print(loops));
}

std::string print_loops(const Module& m) {
  std::string text =
      "// An element is %x[offset], in row-major order, as its index map computes it from the loops around it.\n";
  for (const Graph& k : m.kernels)
    if (k.schedule && !calls_library(k)) {
      const KernelPlan plan = plan_kernel(k);
      HEDDLE_CHECK(plan.ok(), "a kernel that cannot be executed has no loops: " + plan.reason);
      text += print(k, plan, loops_of(k, plan));
    }
  return text;
}

}  // namespace heddle::ir::loop
