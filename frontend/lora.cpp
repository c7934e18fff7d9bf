#include "frontend/lora.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

constexpr std::string_view kMade = ".parametrizations.";  // in paths of what a weight is made of

// The weight that is computed from a parameter: "fc.parametrizations.weight.original0" -> "fc.weight".
std::string weight_of(const std::string& path) {
  const size_t at = path.find(kMade);
  if (at == std::string::npos) return path;
  const size_t name = at + kMade.size();
  return path.substr(0, at + 1) + path.substr(name, path.find('.', name) - name);
}

bool is_made(const std::string& path) { return path.find(kMade) != std::string::npos; }

// How a glob matches a weight: not at all, by the weight's path, or by the path of a layer or block around it.
enum class Means { nothing, weight, around };

Means meaning(const Named& pattern, const std::string& path) {
  const std::string weight = weight_of(path);
  for (size_t dot = weight.find('.'); dot != std::string::npos; dot = weight.find('.', dot + 1))
    if (glob(pattern.text, weight.substr(0, dot))) return Means::around;
  return glob(pattern.text, weight) || glob(pattern.text, path) ? Means::weight : Means::nothing;
}

bool are_meant(const std::vector<Named>& patterns, const std::string& path) {
  return std::ranges::any_of(patterns, [&](const Named& p) { return meaning(p, path) != Means::nothing; });
}

bool is_matrix(const ir::Type& type) { return type.rank() == 2; }

bool has_room(const Lora& lora, const ir::Type& type) { return lora.rank <= std::ranges::min(type.dims); }

std::string parent_of(const std::string& path, std::string_view ending) {
  return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

Initializer uniform(double limit) {
  return {.def = find_initializer("uniform"), .values = {{"low", -limit}, {"high", limit}}, .words = {}};
}

}  // namespace

bool trains_itself(const Lora& lora, const std::string& path) { return are_meant(lora.train, path); }

bool adapts(const Lora& lora, const ParameterSpec& weight, const std::string& path) {
  if (!is_matrix(weight.type) || !weight.layout.empty() || is_made(path) || !has_room(lora, weight.type)) return false;
  return are_meant(lora.match, path) && !trains_itself(lora, path);
}

bool is_table(const std::string& layer) {
  return layer == "embedding" || layer == "learned_positions" || layer == "relative_positions";
}

std::string beside_attention(const std::string& path) {
  const std::string parent = parent_of(path, ".out_proj.weight");
  return parent == path ? "" : parent + ".in_proj_weight";
}

AdapterPaths adapter_paths(const std::string& weight, bool lookup, bool attention) {
  std::string stem = parent_of(parent_of(weight, ".in_proj_weight"), ".weight");
  if (attention) stem = parent_of(weight, ".out_proj.weight") + ".base_layer.out_proj";
  if (lookup) return {weight, stem + ".lora_embedding_A", stem + ".lora_embedding_B", true};
  return {weight, stem + ".lora_A.weight", stem + ".lora_B.weight", false};
}

// torch.nn.init.kaiming_uniform_ with a = sqrt(5): the limit is sqrt(6 / (1 + 5) / in).
AdapterSpecs adapter_specs(const Lora& lora, const AdapterPaths& paths, const Dims& weight) {
  const int64_t out = weight[0], in = weight[1];
  const auto type = [](int64_t rows, int64_t columns) { return ir::Type{ir::DType::f32, {rows, columns}}; };
  if (paths.lookup)
    return {.a = {paths.a, type(lora.rank, out), {1, 0}},
            .b = {paths.b, type(in, lora.rank), {1, 0}},
            .of_a = make_initializer("zeros"),
            .of_b = make_initializer("normal")};
  return {.a = {paths.a, type(lora.rank, in)},
          .b = {paths.b, type(out, lora.rank)},
          .of_a = uniform(1 / std::sqrt(static_cast<double>(in))),
          .of_b = make_initializer("zeros")};
}

namespace {

ValueId scaled(ir::Builder& b, ValueId v, const Adapted& adapted, const std::string& name) {
  if (adapted.scale == 1) return v;
  b.prefix = name + ".scale";
  return b("mul", {v, b.like(adapted.scale, v)}, {}, name + ".scaled");
}

class LayerAdapter {
 public:
  LayerAdapter(Instance& e, const Lora& lora, bool training, size_t first, ir::Values& results)
      : e_(e), g_(e.graph), b_(e.graph), drops_(training ? lora.dropout : 0), at_(first), results_(results) {}

  void run() {
    for (; at_ < g_.order.size(); ++at_) {
      const ir::NodeId id = g_.order[at_];
      for (size_t i = 0; i < g_[id].operands.size(); ++i)
        if (const auto found = e_.adapted.find(g_[id].operands[i]); found != e_.adapted.end())
          adapt(id, i, Adapted(found->second));
    }
    b_.insert_at = ir::Builder::kEnd;
    for (ValueId& v : results_)
      if (const auto found = e_.adapted.find(v); found != e_.adapted.end() && g_.def(v) == nullptr)
        v = whole(Adapted(found->second));
  }

 private:
  void adapt(ir::NodeId id, size_t operand, const Adapted& adapted) {
    const ir::Node& n = g_[id];
    b_.loc = n.loc;
    const std::string_view op = n.op->name;
    if (op == "matmul" && operand == 1 && !e_.adapted.contains(n.operands[0])) return product(id, adapted);
    if (op == "gather" && operand == 0 && ir::signature(g_, n).integer("axis") == 0) return lookup(id, adapted);
    if (op == "slice" && keeps_columns(n, adapted)) return rows_of(id, adapted);
    b_.insert_at = at_;
    g_.set_operand(id, operand, whole(adapted));
    at_ = b_.insert_at;
  }

  // Adds (x down^T) up^T to x W^T, or (x up) down to x W.
  void product(ir::NodeId id, const Adapted& adapted) {
    const bool turned = flag(id, "transpose_b");
    const std::string name = begin(id, adapted, 1);
    const ValueId x = g_[id].operands[0];
    const ValueId thin = b_("matmul", {drops_ > 0 ? dropped(x, name) : x, turned ? adapted.down : adapted.up},
                            {{"transpose_a", flag(id, "transpose_a")}, {"transpose_b", turned}}, name + ".thin");
    const ValueId change = b_("matmul", {scaled(b_, thin, adapted, name), turned ? adapted.up : adapted.down},
                              {{"transpose_b", turned}}, name + ".change");
    end(id, change, name);
  }

  // Adds looked-up rows of `up`, multiplied by `down`, to the rows of a table.
  void lookup(ir::NodeId id, const Adapted& adapted) {
    const std::string name = begin(id, adapted, 0);
    const Dims dims = g_[g_[id].results[0]].type.dims;
    const int64_t units = dims.back(), rows = ir::product(dims) / units, rank = b_.type(adapted.up).dims[1];
    b_.prefix = name + ".rows";
    const ValueId found = b_("gather", {adapted.up, g_[id].operands[1]}, {}, name + ".found");
    const ValueId thin = b_.reshape(found, {rows, rank});
    const ValueId change = b_("matmul", {scaled(b_, thin, adapted, name), adapted.down}, {}, name + ".change");
    b_.prefix = name + ".change";
    end(id, b_.reshape(change, dims), name);
  }

  // For a slice of a weight's rows: the same slice of `up` adapts it.
  void rows_of(ir::NodeId id, const Adapted& adapted) {
    const std::string name = begin(id, adapted, 0);
    ir::Attrs attrs = g_[id].attrs;
    std::get<Dims>(attrs.at("limits"))[1] = b_.type(adapted.up).dims[1];
    const ValueId up = b_("slice", {adapted.up}, attrs, name + ".up");
    at_ = last();
    const ValueId part = g_[id].results[0];
    e_.adapted[part] = {part, up, adapted.down, adapted.scale, adapted.path};
  }

  ValueId dropped(ValueId x, const std::string& name) {
    return b_("dropout", {x, e_.counter("seed"), e_.counter("step")},
              {{"rate", drops_}, {"stream", stream_of(name + ".lora_dropout")}}, name + ".dropped");
  }

  // Makes the node read the weight without its adapter, and lets the builder add nodes behind it.
  std::string begin(ir::NodeId id, const Adapted& adapted, size_t operand) {
    g_.set_operand(id, operand, adapted.weight);
    b_.insert_at = at_ + 1 < g_.order.size() ? at_ + 1 : ir::Builder::kEnd;
    return g_[g_[id].results[0]].name;
  }

  void end(ir::NodeId id, ValueId change, const std::string& name) {
    const ValueId before = g_[id].results[0];
    const ValueId sum = b_("add", {before, change}, {}, name + ".adapted");
    g_.replace_uses(before, sum);
    g_.set_operand(g_[sum].def, 0, before);
    std::ranges::replace(results_, before, sum);
    at_ = last();
  }

  // The index in the order of the last new node.
  size_t last() const { return std::min(b_.insert_at, g_.order.size()) - 1; }

  ValueId whole(const Adapted& adapted) {
    const ValueId v = whole_weight(b_, adapted);
    e_.adapted[v] = adapted;
    return v;
  }

  bool flag(ir::NodeId id, const char* name) const { return ir::signature(g_, g_[id]).flag(name); }

  bool keeps_columns(const ir::Node& n, const Adapted& adapted) const {
    return g_[n.results[0]].type.dims[1] == g_[adapted.weight].type.dims[1];
  }

  Instance& e_;
  ir::Graph& g_;
  ir::Builder b_;
  double drops_;
  size_t at_;
  ir::Values& results_;
};

}  // namespace

ValueId whole_weight(ir::Builder& b, const Adapted& adapted) {
  const ValueId up = scaled(b, adapted.up, adapted, adapted.path);
  const ValueId change = b("matmul", {up, adapted.down}, {}, adapted.path + ".change");
  return b("add", {adapted.weight, change}, {}, adapted.path + ".adapted");
}

void adapt_layer(Instance& e, const Lora& lora, bool training, size_t first, ir::Values& results) {
  if (!e.adapted.empty()) LayerAdapter(e, lora, training, first, results).run();
}

namespace {

class Check {
 public:
  Check(const Lora& lora, const Instance& e, Diagnostics& errors) : lora_(lora), e_(e), errors_(errors) {}

  void run() {
    for (const Named& pattern : lora_.match) look_at(pattern);
    for (const Named& pattern : lora_.train) look_for_parameters(pattern);
  }

 private:
  bool is_layer(const Named& pattern) const {  // it may read another's weights
    return std::ranges::any_of(e_.nodes, [&](const InstanceNode& n) { return glob(pattern.text, n.path); });
  }

  void refuse_unknown(const Named& pattern) {
    errors_.error(pattern.where, fmt::format("{} matches no layer and no weight", quote(pattern.text)),
                  suggest_defined(pattern.text, paths()));
  }

  void look_for_parameters(const Named& pattern) {
    const bool found = std::ranges::any_of(e_.parameters, [&](const Parameter& p) {
      return p.role == ir::Role::param && !p.adapter && meaning(pattern, p.path) != Means::nothing;
    });
    if (found) return;
    if (!is_layer(pattern)) return refuse_unknown(pattern);
    errors_.error(pattern.where, fmt::format("{} holds no parameter that could be trained", quote(pattern.text)),
                  "name layers that have some, or leave it out");
  }

  void look_at(const Named& pattern) {
    bool matrices = false, adapted = false, told = false, known = is_layer(pattern);
    for (const Parameter& p : e_.parameters) {
      if (p.role != ir::Role::param || p.adapter) continue;
      const Means means = meaning(pattern, p.path);
      if (means == Means::nothing) continue;
      known = true;
      matrices = matrices || is_matrix(p.type);
      if (means == Means::around && !is_matrix(p.type)) continue;
      if (trains_itself(lora_, p.path)) continue;
      adapted = true;
      told = fault(pattern, p) || told;
    }
    if (!known)
      refuse_unknown(pattern);
    else if (matrices && !adapted)
      errors_.error(pattern.where,
                    fmt::format("{} holds no matrix but those that 'train' of 'lora' takes", quote(pattern.text)),
                    R"(take it out of "match" or of "train")");
    else if (!matrices && !told)
      errors_.error(pattern.where, fmt::format("{} holds no matrix that 'lora' could adapt", quote(pattern.text)),
                    "match dense layers, projections of attentions, recurrent layers or tables");
  }

  // One message for each parameter.
  bool fault(const Named& pattern, const Parameter& p) {
    if (is_made(p.path)) {
      const std::string weight = weight_of(p.path);
      if (told_.insert(weight).second)
        errors_.error(pattern.where,
                      fmt::format("lora adapts a weight that is a parameter, and '{}' is made of others", weight),
                      "leave \"weight_norm\" or \"spectral_norm\" out of the layer, or match other layers", from(p));
      return true;
    }
    const std::string shape = fmt::format("'{}' is {}", p.path, ir::to_string(p.type));
    if (!is_matrix(p.type)) {
      if (told_.insert(p.path).second)
        errors_.error(pattern.where, fmt::format("{}, and lora adapts matrices", shape),
                      "match a layer by its name, of which the matrices are taken, or other weights", from(p));
      return true;
    }
    if (has_room(lora_, p.type)) return false;
    const int64_t most = std::ranges::min(p.type.dims);
    if (told_.insert(p.path).second)
      errors_.error(lora_.rank_where, fmt::format("the rank {} is larger than that of {}", lora_.rank, matrix(p)),
                    fmt::format("write {} or less, or match other weights", most), from(p));
    return true;
  }

  static std::string matrix(const Parameter& p) {
    return fmt::format("'{}', a matrix {}", p.path, ir::to_string(p.type.dims));
  }

  static std::vector<Diagnostic> from(const Parameter& p) {
    return {{Severity::note, p.where, "the parameter comes from here", {}, {}}};
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const InstanceNode& n : e_.nodes) all.push_back(n.path);
    for (const Parameter& p : e_.parameters)
      if (p.role == ir::Role::param && !p.adapter) all.push_back(p.path);
    return all;
  }

  const Lora& lora_;
  const Instance& e_;
  Diagnostics& errors_;
  std::set<std::string> told_;
};

}  // namespace

void check_lora(const Lora& lora, const Instance& e, Diagnostics& errors) { Check(lora, e, errors).run(); }

}  // namespace heddle::frontend
