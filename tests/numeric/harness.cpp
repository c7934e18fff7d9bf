#include "tests/numeric/harness.h"

#include <fmt/format.h>

#include <random>

namespace heddle::testing {
using namespace ir;

namespace {

DType operand_dtype(const Case& c, size_t i) {
  const Sample& s = c.get();
  if (c.dtype) return *c.dtype;
  if (i < s.dtypes.size()) return s.dtypes[i];
  return c.op->dtypes.empty() ? DType::f32 : c.op->dtypes.front();
}

bool broadcasts(const OpDef& op, const Sample& s) {
  return std::holds_alternative<Elementwise>(op.kind) && !s.shapes.empty() && s.shapes[0].size() == 2;
}

}  // namespace

std::string to_string(const Case& c) {
  const std::string dtype = c.dtype ? "_" + ir::to_string(*c.dtype) : "";
  return fmt::format("{}_{}{}{}", c.op->name, c.sample, c.broadcast ? "_broadcast" : "", dtype);
}

void PrintTo(const Case& c, std::ostream* stream) { *stream << to_string(c); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const OpDef* op : all_ops()) {
    if (!op->eval) continue;
    bool broadcast = false;
    for (size_t i = 0; i < op->samples.size(); ++i) {
      cases.push_back({op, i});
      if (broadcast || !broadcasts(*op, op->samples[i])) continue;
      broadcast = true;
      cases.push_back({op, i, true});
    }
  }
  return cases;
}

std::vector<Case> cases_where(bool (*wanted)(const Case&)) {
  std::vector<Case> cases;
  for (const Case& c : all_cases())
    if (wanted(c)) cases.push_back(c);
  return cases;
}

std::vector<Case> dtype_cases() {
  std::vector<Case> cases;
  for (const OpDef* op : all_ops()) {
    const bool generic = std::holds_alternative<Elementwise>(op->kind) || std::holds_alternative<Movement>(op->kind) ||
                         std::holds_alternative<Reduction>(op->kind);
    if (!generic || op->samples.empty() || !op->samples[0].dtypes.empty()) continue;
    const Attrs attrs = canonical_attrs(*op, op->samples[0].attrs);
    for (const DType dtype : op->dtypes.empty() ? all_dtypes() : op->dtypes) {
      std::vector<Type> operands;
      for (const Dims& dims : op->samples[0].shapes) operands.push_back({dtype, dims});
      try {
        infer_types(*op, operands, attrs);
        cases.push_back({op, 0, false, dtype});
      } catch (const InferError&) {  // attributes that fit the first dtype only: the limits of clamp
      }
    }
  }
  return cases;
}

bool is_differentiable(const OpDef& op) { return op.grad || op.decomposition; }

bool has_floating_operand(const Case& c) {
  for (size_t i = 0; i < c.get().shapes.size(); ++i)
    if (is_floating(operand_dtype(c, i))) return true;
  return false;
}

std::pair<Values, Values> append_case(Graph& g, const Case& c, const std::string& prefix) {
  Builder b(g);
  Values inputs, operands;
  for (size_t i = 0; i < c.get().shapes.size(); ++i) {
    const Dims& full = c.get().shapes[i];
    const bool smaller = c.broadcast && i + 1 == c.get().shapes.size();
    const Dims dims = smaller ? Dims(full.begin() + 1, full.end()) : full;
    inputs.push_back(g.add_input(fmt::format("{}x{}", prefix, i), {operand_dtype(c, i), dims}, Role::input));
    operands.push_back(b.broadcast_to(inputs.back(), full));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < c.op->results.size(); ++i) names.push_back(fmt::format("{}y{}", prefix, i));
  return {inputs, b.multi(c.op->name, operands, c.get().attrs, names)};
}

OneOp one_op(const Case& c) {
  OneOp one;
  one.module.graphs.emplace_back();
  one.graph().name = "case";
  std::tie(one.inputs, one.results) = append_case(one.graph(), c, "");
  one.graph().outputs = one.results;
  return one;
}

uint64_t hash_text(const std::string& text) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// The engine's sequence is fixed by the standard; the library's distributions are not, so none is used.
Tensor random_tensor(const Type& type, double low, double high, int64_t below, uint64_t seed) {
  std::mt19937_64 engine(seed);
  Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double unit = std::ldexp(static_cast<double>(engine() >> 11), -53);
    if (t.floating()) {
      t.real[static_cast<size_t>(i)] = round_to(type.dtype, low + (high - low) * unit);
    } else {
      const int64_t count = type.dtype == DType::boolean ? 2 : below;
      t.integer[static_cast<size_t>(i)] = static_cast<int64_t>(unit * static_cast<double>(count));
    }
  }
  return t;
}

NamedTensors random_inputs(const Case& c, uint64_t seed) {
  NamedTensors inputs;
  OneOp one = one_op(c);
  for (const ValueId v : one.inputs) {
    const Value& value = one.graph()[v];
    const uint64_t key = hash_text(to_string(c) + value.name) + seed;
    inputs[value.name] = random_tensor(value.type, c.get().low, c.get().high, c.get().below, key);
  }
  return inputs;
}

}  // namespace heddle::testing
