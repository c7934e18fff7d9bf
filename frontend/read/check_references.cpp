// Names: every reference is to an input, a parameter or an earlier node; blocks exist and do not contain themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontend/keys/fields.h"
#include "frontend/layer_def.h"
#include "frontend/limits.h"
#include "frontend/read/read_parts.h"
#include "frontend/scan_use.h"
#include "frontend/training/train_step.h"

namespace heddle::frontend {
namespace {

// The names of one list of nodes, in order of definition.
class Names {
 public:
  explicit Names(Diagnostics& errors) : errors_(errors) {}

  // An empty name stands for one that could not be read.
  void define(const std::string& name, const Location& where) {
    if (name.empty()) {
      ++missing_;
      return;
    }
    const auto [it, fresh] = places_.emplace(name, where);
    if (!fresh)
      found_.push_back({Severity::error,
                        where,
                        fmt::format("the name '{}' is taken", name),
                        {{Severity::note, it->second, "first used here", {}, {}}},
                        "give one of them another name"});
  }

  // Whether `out` names as many results as the node has. A name that is unknown later may be missing there.
  void check_results(const NodeDef& node, const LayerDef* def) {
    const bool several = def != nullptr && def->results, known = def != nullptr || node.block;
    if (!several && (!known || node.out.size() < 2)) return;
    const std::optional<size_t> count = several ? def->results(node.settings) : std::optional<size_t>(1);
    const size_t named = node.out.size();
    if (named == 0 || (count && *count != named)) {
      const UserError wrong = wrong_results(node, count);
      found_.insert(found_.end(), wrong.diagnostics().begin(), wrong.diagnostics().end());
      if (count && *count > named) missing_ += *count - named;
    }
    if (!several || named == 0) return;
    std::vector<std::string> given;
    for (const Named& result : node.out) given.push_back(result.text);
    several_ = fmt::format("{} has several results, and its 'out' names {}", node.op, fmt::join(given, ", "));
  }

  // Names that later nodes define, for the message about order.
  void announce(const std::string& name, const Location& where) {
    if (!name.empty()) later_.emplace(name, where);
  }

  // A node with several results, or whose `out` gives its result another name, is no value itself. Its name leads the
  // paths of its parameters.
  void define_no_value(const NodeDef& node) {
    define(node.name, node.name_where);
    no_values_.emplace(node.name, &node);
  }

  // A name with a dot is a parameter's; it exists once the graph is built.
  void use(const Reference& reference) {
    if (reference.literal || reference.name.find('.') != std::string::npos) return;
    if (places_.count(reference.name) != 0) return;
    if (const auto it = later_.find(reference.name); it != later_.end()) {
      unknown(reference, fmt::format("'{}' comes later: a node reads only earlier nodes", reference.name), {},
              {{Severity::note, it->second, "defined here", {}, {}}});
      return;
    }
    std::string help = suggest_defined(reference.name, values());
    if (!help.starts_with("did you mean") && is_missing(reference.name)) return;
    if (!several_.empty() && !help.starts_with("did you mean")) help += (help.empty() ? "" : "; ") + several_;
    unknown(reference, fmt::format("there is no {}", quote(reference.name)), help);
  }

  // What a loss, a metric or an output reads. (Of nodes, each instance says which of its names are values.)
  void use_value(const Reference& reference) {
    const auto it = no_values_.find(reference.name);
    if (it == no_values_.end()) return use(reference);
    const UserError wrong = no_value(reference, *it->second);
    unknown(reference, wrong.diagnostics().front().message, wrong.diagnostics().front().help);
  }

  // The output of a model or of a block: the result of a node of this list; no parameter, and nothing inside a block.
  void use_result(const Reference& reference) {
    if (reference.name.find('.') == std::string::npos) return use_value(reference);
    std::string help = R"(to put out a parameter, compute with it: {"op": "mul", "in": ["fc.weight", 1]})";
    if (std::string near = suggest(reference.name, values()); near.starts_with("did you mean")) help = std::move(near);
    unknown(reference, fmt::format("{} is no node here: an output is the result of one", quote(reference.name)), help);
  }

  // Reports what was found, in the order in which it was found.
  void report() {
    if (!found_.empty()) errors_.add(UserError(std::exchange(found_, {})));
  }

 private:
  std::vector<std::string> values() const {
    std::vector<std::string> known;
    for (const auto& [name, where] : places_)
      if (!no_values_.contains(name)) known.push_back(name);
    return known;
  }

  // The first use is the error: where the name is defined wrongly, all of them are one fault.
  void unknown(const Reference& reference, std::string message, std::string help, std::vector<Diagnostic> notes = {}) {
    constexpr size_t kMostNotes = 4;
    const auto [it, fresh] = unknown_.emplace(reference.name, found_.size());
    if (fresh) {
      found_.push_back({Severity::error, reference.where, std::move(message), std::move(notes), std::move(help)});
    } else if (std::vector<Diagnostic>& more = found_[it->second].notes; more.size() < kMostNotes) {
      more.push_back({Severity::note, reference.where, "used here, too", {}, {}});
    }
  }

  // Whether the name is that of a result which was reported as not named: that is one fault, not two.
  bool is_missing(const std::string& name) {
    if (taken_for_.contains(name)) return true;
    return missing_ > taken_for_.size() && taken_for_.insert(name).second;
  }

  Diagnostics& errors_;
  std::vector<Diagnostic> found_;
  std::map<std::string, size_t, std::less<>> unknown_;  // the error of each
  std::map<std::string, Location, std::less<>> places_, later_;
  std::map<std::string, const NodeDef*, std::less<>> no_values_;
  std::string several_;
  size_t missing_ = 0;                            // results that nodes have, but their `out` does not name
  std::set<std::string, std::less<>> taken_for_;  // unknown names that stand for these
};

std::vector<Named> results_of(const NodeDef& node) {
  if (!node.out.empty()) return node.out;
  // A name that could not be read has a place.
  return node.name_where.valid() ? std::vector<Named>{{node.name, node.name_where}} : std::vector<Named>{};
}

void check_nodes(const std::vector<NodeDef>& nodes, Names& names) {
  for (const NodeDef& node : nodes) {
    for (const Named& result : results_of(node)) names.announce(result.text, result.where);
  }
  for (const NodeDef& node : nodes) {
    for (const Reference& reference : node.in) names.use(reference);
    if (!node.out.empty() && !node.name.empty()) names.define_no_value(node);
    for (const Named& result : results_of(node)) names.define(result.text, result.where);
    const LayerDef* def = node.block ? nullptr : find_layer(node.op);
    names.check_results(node, def);
  }
}

// The totals of a metric are results called accuracy.sum and accuracy.count; a block's nodes must not take these names.
void check_metric_names(const Model& model, Diagnostics& errors) {
  std::vector<Metric> metrics = plan_losses(model);
  for (const Metric& metric : plan_metrics(model)) metrics.push_back(metric);
  for (const NodeDef& node : model.nodes) {
    const bool taken =
        std::any_of(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == node.name; });
    if (node.block && taken) errors.error(node.name_where, fmt::format("'{}' is the name of a metric", node.name));
  }
}

void check_block_uses(const std::vector<NodeDef>& nodes, const Model& model, Diagnostics& errors) {
  std::vector<std::string> known;
  for (const auto& [name, block] : model.blocks) known.push_back(name);
  for (const NodeDef& node : nodes) {
    const std::optional<Named> name = block_of(node);
    if (!name) continue;
    const auto it = model.blocks.find(name->text);
    if (it == model.blocks.end()) {
      errors.error(name->where, fmt::format("there is no block {}", quote(name->text)),
                   suggest_defined(name->text, known));
    } else if (node.block && node.in_given && !it->second.inputs.empty() &&
               node.in.size() != it->second.inputs.size()) {
      errors.error(node.op_where,
                   fmt::format("block '{}' has {} inputs, got {}", node.op, it->second.inputs.size(), node.in.size()),
                   {}, {{Severity::note, it->second.where, "the block is here", {}, {}}});
    }
  }
}

// Depth-first over blocks; reports each use that closes a cycle.
class Recursion {
 public:
  Recursion(const Model& model, Diagnostics& errors) : model_(model), errors_(errors) {}

  void visit(const Block& block, size_t depth) {
    if (depth > kMaxBlockDepth) {
      errors_.error(block.where, fmt::format("blocks are nested deeper than {}", kMaxBlockDepth));
      return;
    }
    open_.insert(block.name);
    for (const NodeDef& node : block.nodes) {
      const std::optional<Named> name = block_of(node);
      const auto it = name ? model_.blocks.find(name->text) : model_.blocks.end();
      if (it == model_.blocks.end()) continue;
      if (open_.count(name->text) != 0) {
        errors_.error(name->where, fmt::format("block '{}' contains itself", name->text), {},
                      {{Severity::note, it->second.where, "the block is here", {}, {}}});
      } else if (done_.count(name->text) == 0) {
        visit(it->second, depth + 1);
      }
    }
    open_.erase(block.name);
    done_.insert(block.name);
  }
  bool done(const std::string& name) const { return done_.count(name) != 0; }

 private:
  const Model& model_;
  Diagnostics& errors_;
  std::set<std::string, std::less<>> open_, done_;
};

void check_block(const Block& block, const Model& model, Diagnostics& errors) {
  if (block.nodes.empty() || block.inputs.empty()) return;  // they could not be read
  Names names(errors);
  for (const Named& input : block.inputs) names.define(input.text, input.where);
  check_nodes(block.nodes, names);
  check_block_uses(block.nodes, model, errors);
  Reference output;
  output.name = block.output.text;
  output.where = block.output.where;
  if (output.where.valid()) names.use_result(output);
  names.report();
}

}  // namespace

void check_references(const Model& model, Diagnostics& errors) {
  if (model.nodes.empty()) return;  // they could not be read
  Names names(errors);
  for (const InputDef& input : model.inputs) names.define(input.name, input.where);
  check_nodes(model.nodes, names);
  check_block_uses(model.nodes, model, errors);
  for (const OutputDef& output : model.outputs) names.use_result(output.value);
  const auto use_inputs = [&](const Part& part) {
    for (const Reference& reference : part.in)
      if (!reference.left_out()) names.use_value(reference);
  };
  for (const Part& loss : model.train.losses) {
    use_inputs(loss);
    if (loss.weights) names.use_value(*loss.weights);
  }
  for (const Part& metric : model.train.metrics) {
    use_inputs(metric);
  }
  names.report();
  check_metric_names(model, errors);
  Recursion recursion(model, errors);
  for (const auto& [name, block] : model.blocks) {
    check_block(block, model, errors);
    if (!recursion.done(name)) recursion.visit(block, 1);
  }
}

}  // namespace heddle::frontend
