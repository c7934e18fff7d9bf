#include "frontend/instantiate/instantiate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/instantiate/block_scope.h"
#include "frontend/instantiate/gradient_rows.h"
#include "frontend/instantiate/mixed.h"
#include "frontend/instantiate/product_weights.h"
#include "frontend/instantiate/run_loop.h"
#include "frontend/instantiate/take_body.h"
#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"
#include "frontend/keys/read_key.h"
#include "frontend/layer_context.h"
#include "frontend/limits.h"
#include "frontend/lora.h"
#include "frontend/quantize.h"
#include "frontend/read/read_parts.h"
#include "frontend/scan_use.h"
#include "frontend/training/index_checks.h"
#include "frontend/training/prune.h"
#include "ir/check.h"
#include "ir/scan.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// A node whose parameters are copies, and the rule for them. The rule's source is a path; for a frame, a prefix of
// paths.
struct CopyUse {
  const NodeDef* node = nullptr;
  CopyOf rule;
};

// The context of one list of nodes: the names of results, and the scope of expressions.
struct Frame {
  const Scope* scope = nullptr;
  std::string prefix;               // of paths of nodes: "h.0."
  std::string owner;                // of paths of parameters: `prefix`, or that of their first use
  const NodeDef* sharer = nullptr;  // the node that shares the parameters of an earlier use; nullptr: they are new
  std::optional<CopyUse> copy;      // set if new parameters are copies
  std::map<std::string, ValueId> values;
  std::map<std::string, const NodeDef*> several;  // by node name: nodes whose results are named by `out`
  std::set<std::string> paths;                    // used paths of nodes, for naming unnamed nodes
  std::map<std::string, int> unnamed;             // by op: the number of names tried
  ValueId previous;                               // the last node's first result
  bool has_previous = false;
};

// The node that is being built, and the owner of its parameters.
struct ParameterUse {
  std::string path, owner;
  const NodeDef* sharer = nullptr;
  std::optional<CopyUse> copy = {};
  size_t entry = 0;  // its index in Instance::nodes
};

class Instantiation {
 public:
  Instantiation(const Model& model, const InstanceOptions& options, Diagnostics& errors)
      : model_(model), options_(options), errors_(errors), builder_(out_.graph) {
    out_.batch = options.batch, out_.length = model.length;
    out_.training = options.training;
    out_.batch_name = model.batch_dimension;
    services_.parameter = [this](const ParameterSpec& spec, const Initializer& init, const Location& where) {
      return adapted_parameter(spec, init, where);
    };
    services_.update = [this](ValueId buffer, ValueId next) { update(buffer, next); };
    services_.keep = [this](const std::string& path, const ir::Type& type, const Location& where) {
      out_.kept.push_back({path, type, where});
      return options_.training ? out_.graph.add_input(path, type, ir::Role::state) : ValueId{};
    };
    services_.sparse = [this](ValueId v, const Location& where) {
      if (!own(v).copy) own(v).sparse = where;
    };
    services_.zero_row = [this](ValueId v, int64_t row) { own(v).zero_row = row; };
    services_.refuse = [this](const Diagnostic& reason) { out_.refusals.push_back(reason); };
    services_.counter = [this](const std::string& name) { return out_.counter(name); };
    services_.origin = [this](ValueId v) { return out_.origin(v); };
    services_.loop = [this](const LoopSpec& loop) { return run_loop(out_, loop, builder_.title, builder_.loc); };
    services_.default_init = model.train.init ? &*model.train.init : nullptr;
    services_.batch = options.batch;
    services_.batch_name = model.batch_dimension;
  }

  Instance run() {
    const Scope scope = model_scope(model_, options_.batch);
    Frame frame{.scope = &scope,
                .prefix = {},
                .owner = {},
                .sharer = nullptr,
                .copy = {},
                .values = {},
                .several = {},
                .paths = {},
                .unnamed = {},
                .previous = {},
                .has_previous = false};
    for (const InputDef& input : model_.inputs) add_input(input, frame);
    for (const NodeDef& node : model_.nodes) frame.paths.insert(node.name);
    if (model_.inputs.size() == 1) {
      frame.previous = frame.values.begin()->second;
      frame.has_previous = true;
    }
    if (model_.train.quantize) quantizes_ = quantizes_now(out_, *model_.train.quantize);
    instantiate(model_.nodes, frame);
    if (model_.train.lora && errors_.empty()) check_lora(*model_.train.lora, out_, errors_);
    if (model_.train.quantize && errors_.empty()) check_quantize(*model_.train.quantize, out_, errors_);
    if (model_.train.prune && errors_.empty()) {
      note_outputs(out_);
      check_prune(model_.train, out_, errors_);
    }
    out_.values = std::move(frame.values);
    return std::move(out_);
  }

 private:
  void add_input(const InputDef& input, Frame& frame) {
    ValueId v;
    guarded(errors_,
            [&] { v = out_.graph.add_input(input.name, input_type(model_, input, options_.batch), ir::Role::input); });
    frame.values[input.name] = v;
    if (v.valid()) note_origin(v, fmt::format("input '{}'", input.name), input.where);
  }

  void note_origin(ValueId v, std::string what, const Location& where) {
    out_.made_by.emplace(v, std::move(what));
    out_.places.emplace(v, where);
  }

  void instantiate(const std::vector<NodeDef>& nodes, Frame& frame) {
    for (const NodeDef& node : nodes) {
      if (++count_ > kMaxNodes) throw UserError(node.where, fmt::format("the model has more than {} nodes", kMaxNodes));
      ir::Values results(std::max<size_t>(1, node.out.size()));
      const int in_f32 = computes_in_f32(node) ? 1 : 0;
      in_f32_ += in_f32;
      guarded(errors_, [&] {
        results = node.block      ? instantiate_block(node, frame)
                  : is_scan(node) ? instantiate_scan(node, frame)
                                  : instantiate_layer(node, frame);
      });
      in_f32_ -= in_f32;
      bind(node, results, frame);
    }
  }

  void bind(const NodeDef& node, const ir::Values& results, Frame& frame) {
    if (!results.at(0).valid()) failed_.insert(frame.prefix + node.name);
    if (!node.out.empty()) {
      frame.several[node.name] = &node;
      for (size_t i = 0; i < node.out.size(); ++i) frame.values[node.out[i].text] = results.at(i);
    } else if (!node.name.empty()) {
      frame.values[node.name] = results.at(0);
    }
    frame.previous = results.at(0);
    frame.has_previous = true;
  }

  // The value of a reference. Invalid, without an error, if it refers to a faulty node. Throws UserError if it is
  // unknown.
  ValueId resolve(const Reference& reference, const Frame& frame) {
    if (const auto it = frame.values.find(reference.name); it != frame.values.end()) return it->second;
    for (const std::string& path : {frame.owner + reference.name, reference.name}) {
      for (const Parameter& p : out_.parameters) {
        if (p.path == path) return out_.adapted.contains(p.value) ? p.value : out_.logical(p.value);
      }
    }
    if (is_of_failed(frame.prefix + reference.name) || is_of_failed(reference.name)) return {};
    if (const auto it = frame.several.find(reference.name); it != frame.several.end())
      throw no_value(reference, *it->second);
    throw out_.no_parameter(reference);
  }

  // Whether the path is that of a faulty node, or of a block with one inside.
  bool has_failed(const std::string& path) const {
    const auto inside = failed_.lower_bound(path + ".");
    return failed_.contains(path) || (inside != failed_.end() && inside->starts_with(path + "."));
  }

  // Whether the path is that of a faulty node, or of a parameter that a faulty node has not made.
  bool is_of_failed(const std::string& path) const {
    for (size_t end = path.find('.'); end != std::string::npos; end = path.find('.', end + 1))
      if (failed_.contains(path.substr(0, end))) return true;
    return failed_.contains(path);
  }

  // The node's inputs in the order of `ports`; nullopt if one is faulty.
  std::optional<ir::Values> inputs(const NodeDef& node, const std::vector<std::string>& ports, const Frame& frame,
                                   std::vector<Reference>& references) {
    references = node.in;
    if (!node.in_given) {
      if (ports.empty()) return ir::Values{};
      if (!frame.has_previous) {
        std::vector<std::string> known;
        for (const auto& [name, value] : frame.values) known.push_back(name);
        throw UserError(node.op_where,
                        fmt::format("{}: 'in' is missing, and there is no node before it", title_of(node)),
                        suggest_defined("", known));
      }
      return frame.previous.valid() ? std::optional(ir::Values{frame.previous}) : std::nullopt;
    }
    if (!node.in.empty() && !node.in.front().port.empty()) references = by_port(node, ports);
    ir::Values values;
    for (const Reference& reference : references) {
      const bool absent = reference.literal || reference.name.empty();
      values.push_back(absent ? ValueId{} : resolve(reference, frame));
      if (!absent && !values.back().valid()) return std::nullopt;
    }
    return values;
  }

  static std::vector<Reference> by_port(const NodeDef& node, const std::vector<std::string>& ports) {
    std::vector<Reference> sorted(ports.size());
    for (const Reference& reference : node.in) {
      const auto at = std::find(ports.begin(), ports.end(), reference.port);
      if (at == ports.end()) {
        throw UserError(reference.where, fmt::format("{} has no input {}", title_of(node), quote(reference.port)),
                        suggest(reference.port, ports));
      }
      sorted[static_cast<size_t>(at - ports.begin())] = reference;
    }
    return sorted;
  }

  void check_inputs(const NodeDef& node, const LayerDef& def, const std::vector<Reference>& references,
                    size_t count) const {
    const size_t ports = def.inputs.size();
    if (def.variadic ? count < ports : count != ports) {
      throw UserError(node.op_where, fmt::format("{} takes {}{} input{}, got {}", title_of(node),
                                                 def.variadic ? "at least " : "", ports, ports == 1 ? "" : "s", count));
    }
    for (const Reference& reference : references) {
      if (reference.literal && !def.literals) {
        throw UserError(reference.where, fmt::format("{} does not take a number as input", title_of(node)));
      }
    }
    for (size_t i = 0; i < ports && i < references.size(); ++i) {
      if (!references[i].literal && references[i].name.empty()) {
        throw UserError(node.op_where, fmt::format("{} needs the input '{}'", title_of(node), def.inputs[i]));
      }
    }
  }

  std::string path_of(const NodeDef& node, Frame& frame) const {
    if (!node.name.empty()) return frame.prefix + node.name;
    int& tried = frame.unnamed[node.op];
    std::string path;
    do {
      path = tried == 0 ? node.op : fmt::format("{}.{}", node.op, tried);
      ++tried;
    } while (!frame.paths.insert(path).second);
    return frame.prefix + path;
  }

  ir::Values instantiate_layer(const NodeDef& node, Frame& frame) {
    const LayerDef& def = *find_layer(node.op);
    const std::string path = path_of(node, frame);
    std::vector<Reference> references;
    const size_t results = std::max<size_t>(1, node.out.size());
    std::vector<std::string> ports = def.inputs;
    ports.insert(ports.end(), def.optional.begin(), def.optional.end());
    std::optional<ir::Values> in = inputs(node, ports, frame, references);
    if (!in || shares_faulty(node, frame)) return ir::Values(results);
    // Without names none of those is there that may be left out.
    const bool by_name = !node.in.empty() && !node.in.front().port.empty();
    check_inputs(node, def, references, by_name ? def.inputs.size() : in->size());
    if (!def.optional.empty()) in->resize(ports.size());
    if (in_f32_ > 0)
      for (ValueId& v : *in)
        if (v.valid()) v = fixed_in_f32(out_, model_, v);
    NodeDef resolved = node;
    resolved.in = references;
    const Settings settings(node.settings, def.settings, *frame.scope, title_of(node), node.op_where);
    builder_.loc = node.op_where;
    builder_.prefix = path + ".value";
    builder_.title = title_of(node);
    const size_t before = out_.graph.value_count();
    LayerContext context{builder_, resolved,       settings,      services_,
                         path,     std::move(*in), model_.layout, options_.training};
    const size_t entry = begin_entry(node, path);
    add_parameters_read(out_.nodes[entry], references, frame);
    use_ = {path, owner_of(node, frame, path), sharer_of(node, frame), copy_of(node, frame, path), entry};
    if (node.share) require_parameters(node, frame.owner + node.share->text);
    const size_t first = out_.graph.order.size(), first_body = out_.bodies.size();
    ir::Values made = build(def, context);
    if (model_.train.lora) adapt_layer(out_, *model_.train.lora, options_.training, first, made);
    if (is_mixed(model_) && in_f32_ == 0) mark_layer(first, first_body);
    if (model_.train.quantize) quantize(first, made);
    require_own_rows(out_, resolved, title_of(node), first);
    if (!node.out.empty() && made.size() != node.out.size()) throw wrong_results(node, made.size());
    name_results(node, path, before, made, frame);
    end_entry(entry, made);
    return made;
  }

  // Quantizes the products of a layer. The ranges of inputs pass from one use of a weight to the next, like running
  // statistics.
  void quantize(size_t first, ir::Values& made) {
    const RangeStates ranges{[this](const std::string& path, const Location& where) {
                               const auto known = by_path_.find(path);
                               if (known != by_path_.end()) return current(out_.parameters[known->second].value);
                               const ParameterSpec spec{path, {ir::DType::f32, {}}, {}, ir::Role::buffer};
                               return new_parameter(spec, make_initializer("zeros"), where, "range");
                             },
                             [this](ValueId now, ValueId next) { update(now, next); }};
    quantize_layer(out_, model_, quantizes_, first, made, ranges);
  }

  void mark_layer(size_t first, size_t first_body) {
    mark_products(out_.graph, first, model_.train.precision);
    for (size_t i = first_body; i < out_.bodies.size(); ++i) mark_products(out_.bodies[i], 0, model_.train.precision);
  }

  size_t begin_entry(const NodeDef& node, const std::string& path) {
    const auto begin = static_cast<int64_t>(out_.graph.node_count());
    out_.nodes.push_back({.path = path,
                          .op = node.op,
                          .block = node.block,
                          .depth = depth_,
                          .results = {},
                          .begin = begin,
                          .end = begin,
                          .parameters = {}});
    return out_.nodes.size() - 1;
  }

  void end_entry(size_t entry, const ir::Values& results) {
    out_.nodes[entry].results = results;
    out_.nodes[entry].end = static_cast<int64_t>(out_.graph.node_count());
  }

  // Notes the parameters of other nodes that the node reads: references that are no values.
  void add_parameters_read(InstanceNode& entry, const std::vector<Reference>& references, const Frame& frame) const {
    for (const Reference& r : references) {
      if (r.literal || r.name.empty() || frame.values.count(r.name) > 0) continue;
      const std::string inner = frame.owner + r.name;
      const bool here = std::any_of(out_.parameters.begin(), out_.parameters.end(),
                                    [&](const Parameter& p) { return p.path == inner; });
      entry.parameters.push_back(here ? inner : r.name);
    }
  }

  // Shape rules of the IR know the operator; the note says where the operand comes from.
  ir::Values build(const LayerDef& def, LayerContext& context) const {
    try {
      ir::Values made = def.build(context);
      for (const ValueId v : made) check_size(builder_.type(v).dims, context.node.op_where, context.settings.title());
      return made;
    } catch (const UserError& error) {
      std::vector<Diagnostic> list = error.diagnostics();
      for (Diagnostic& d : list) {
        if (d.notes.empty() && d.where == context.node.op_where) add_origins(d, context);
      }
      throw UserError(std::move(list));
    }
  }

  void add_origins(Diagnostic& d, const LayerContext& context) const {
    std::set<ValueId> told;
    for (const ValueId v : context.in) {
      if (v.valid() && told.insert(v).second) d.notes.push_back(out_.origin(v));
    }
  }

  void name_results(const NodeDef& node, const std::string& path, size_t before, const ir::Values& made,
                    const Frame& frame) {
    for (size_t i = 0; i < made.size(); ++i) {
      const bool fresh = static_cast<size_t>(made[i].index) >= before;
      if (!fresh || out_.graph.def(made[i]) == nullptr) continue;
      out_.graph.rename(made[i], node.out.empty() ? path : frame.prefix + node.out[i].text);
      note_origin(made[i], title_of(node), node.op_where);
    }
  }

  int64_t repeats(const NodeDef& node, const Frame& frame) const {
    if (!node.repeat) return 1;
    const int64_t repeat = evaluate_integer(*node.repeat, *frame.scope, fmt::format("{}: 'repeat'", title_of(node)));
    if (repeat < 1 || repeat > kMaxRepeat) {
      throw UserError(node.repeat->where,
                      fmt::format("{}: 'repeat' must be between 1 and {}, is {}", title_of(node), kMaxRepeat, repeat));
    }
    return repeat;
  }

  ir::Values instantiate_block(const NodeDef& node, Frame& frame) {
    const Block& block = model_.blocks.find(node.op)->second;
    std::vector<std::string> ports;
    for (const Named& input : block.inputs) ports.push_back(input.text);
    std::vector<Reference> references;
    std::optional<ir::Values> in = inputs(node, ports, frame, references);
    if (!in || shares_faulty(node, frame)) return ir::Values(1);
    if (in->size() != ports.size() || std::any_of(in->begin(), in->end(), [](ValueId v) { return !v.valid(); })) {
      throw UserError(node.op_where, fmt::format("block '{}' needs its {} inputs as values", node.op, ports.size()));
    }
    const int64_t repeat = repeats(node, frame);
    const auto scope_of = [&](int64_t turn) {
      const Scope around = node.repeat ? turn_scope(*frame.scope, turn) : *frame.scope;
      return block_scope(model_, options_.batch, node, block, around);
    };
    Scope scope = scope_of(0);
    if (node.repeat) out_.repeats.push_back({node.repeat->where, repeat});
    const std::string path = path_of(node, frame), owner = owner_of(node, frame, path);
    if (node.share) require_parameters(node, frame.owner + node.share->text);
    const std::optional<CopyUse> copy = copy_of(node, frame, path);
    ValueId chained = in->front();
    const size_t entry = begin_entry(node, path);
    ++depth_;
    for (int64_t i = 0; i < repeat; ++i) {
      if (i > 0 && reads_index(node)) scope = scope_of(i);
      const bool again = node.shares_repeats && i > 0;
      if (again && has_failed(path)) {
        chained = {};
        break;
      }
      if (again && i == 1) require_parameters(node, owner);
      const NodeDef* sharer = sharer_of(node, frame);
      const std::string turn = node.repeat ? fmt::format(".{}.", node.shares_repeats ? 0 : i) : ".";
      Frame inner{.scope = &scope,
                  .prefix = node.repeat ? fmt::format("{}.{}.", path, i) : path + ".",
                  .owner = owner + turn,
                  .sharer = sharer == nullptr && again ? &node : sharer,
                  .copy = inside(copy, turn),
                  .values = {},
                  .several = {},
                  .paths = {},
                  .unnamed = {},
                  .previous = chained,
                  .has_previous = ports.size() == 1};
      out_.blocks.push_back({inner.prefix.substr(0, inner.prefix.size() - 1), node.recompute.has_value()});
      for (const NodeDef& n : block.nodes) inner.paths.insert(n.name);
      for (size_t k = 0; k < ports.size(); ++k) inner.values[ports[k]] = k == 0 ? chained : (*in)[k];
      instantiate(block.nodes, inner);
      chained = inner.values.at(block.output.text);
      if (!chained.valid()) break;
    }
    --depth_;
    end_entry(entry, {chained});
    return {chained};
  }

  // --- scans ---

  // One turn is built into the graph, of inputs that stand for what each turn gets, and taken out of it again.
  ir::Values instantiate_scan(const NodeDef& node, Frame& frame) {
    const Named name = block_of(node).value();
    const Block& block = model_.blocks.find(name.text)->second;
    const ScanUse use = scan_use(node, block);
    std::vector<std::string> ports;
    for (const Named& input : block.inputs) ports.push_back(input.text);
    std::vector<Reference> references;
    const size_t results = use.carries.size() + use.stacked.size();
    if (!inputs(node, ports, frame, references) || shares_faulty(node, frame)) return ir::Values(results);
    std::map<std::string, ValueId> given;  // by input of the block
    for (const Reference& r : references)
      if (!r.name.empty()) given[r.port] = out_.logical(resolve(r, frame));
    NodeDef inner_use = node;
    inner_use.op = block.name;
    const Scope scope = scan_scope(inner_use, block, *frame.scope);
    const Settings settings(node.settings, find_layer(node.op)->settings, *frame.scope, title_of(node), node.op_where);
    const std::string path = path_of(node, frame), owner = owner_of(node, frame, path);
    if (node.share) require_parameters(node, frame.owner + node.share->text);
    builder_.loc = node.op_where;
    builder_.title = title_of(node);
    builder_.prefix = path + ".value";
    const int64_t count = count_of(node, use, given, settings);
    const size_t entry = begin_entry(node, path);
    ir::Values operands;
    const ir::Values starts = starts_of(node, use, given, path, *frame.scope);
    operands.insert(operands.end(), starts.begin(), starts.end());
    for (const Named& slice : use.slices)
      operands.push_back(steps_first(given.at(slice.text), path + "." + slice.text));
    const size_t first = out_.graph.order.size(), updates = out_.updates.size(), parameters = out_.parameters.size();
    const size_t states = out_.kept.size(), uses = out_.uses.size();
    Frame inner{.scope = &scope,
                .prefix = path + ".",
                .owner = owner + ".",
                .sharer = sharer_of(node, frame),
                .copy = inside(copy_of(node, frame, path), "."),
                .values = given,
                .several = {},
                .paths = {},
                .unnamed = {},
                .previous = {},
                .has_previous = block.inputs.size() == 1};
    std::optional<Turn> turn = build_turn(block, use, given, starts, path, inner);
    if (!turn) return ir::Values(results);
    require_no_sparse(node, parameters);
    if (out_.kept.size() > states)
      throw UserError(
          out_.kept.back().where,
          fmt::format("{}: a scan runs '{}' many times in a batch, so it cannot pass a state to the next one",
                      title_of(node), out_.kept.back().path),
          "leave \"stateful\" out");
    check_turn(node, use, *turn, first);
    const ir::Values kept = carry_updates(*turn, updates);
    out_.uses.resize(uses);
    use_.entry = entry;
    for (size_t i = 0; i < kept.size(); ++i)
      operands.insert(operands.begin() + std::ssize(starts) + static_cast<std::ptrdiff_t>(i), current(kept[i]));
    TakenBody taken = take_body(out_.graph, first, *turn, count, out_.body_name(path));
    operands.insert(operands.end(), taken.fixed.begin(), taken.fixed.end());
    ir::Values made = add_scan(node, use, kept, taken.body, operands, {count, settings.flag("reverse")}, path);
    out_.bodies.push_back(std::move(taken.body));
    end_entry(entry, made);
    return made;
  }

  // The scope of a scan's block. If `with` is faulty, the block is built without it, so that its other faults are
  // found, too.
  Scope scan_scope(NodeDef use, const Block& block, const Scope& around) {
    try {
      return block_scope(model_, options_.batch, use, block, around);
    } catch (const UserError& error) {
      if (use.with.empty()) throw;
      errors_.add(error);
      use.with.clear();
      return block_scope(model_, options_.batch, use, block, around);
    }
  }

  int64_t count_of(const NodeDef& node, const ScanUse& use, const std::map<std::string, ValueId>& given,
                   const Settings& settings) {
    std::optional<int64_t> count;
    for (const Named& slice : use.slices) {
      const ValueId v = given.at(slice.text);
      const ir::Dims& dims = builder_.type(v).dims;
      const auto fail = [&](const std::string& text, const char* help) {
        throw UserError(slice.where, fmt::format("{}: {}", title_of(node), text), help, {out_.origin(v)});
      };
      if (dims.size() < 2)
        fail(fmt::format("expected a sequence [N, steps, ...] for '{}', found {}", slice.text, out_.shape_text(dims)),
             "give values that are the same in all steps in 'in' only");
      if (count && *count != dims[1])
        fail(fmt::format("'{}' has {} steps, the slices before it have {}", slice.text, dims[1], *count),
             "sequences that are sliced have one length");
      count = dims[1];
    }
    if (count && settings.json("count") != nullptr)
      settings.fail("count", "'count' follows from what is sliced", "leave it out");
    if (!count && settings.json("count") == nullptr)
      throw UserError(node.op_where, fmt::format("{} slices nothing: 'count' says how many steps", title_of(node)),
                      "for example \"count\": 10");
    if (!count) {
      count = settings.integer("count");
      out_.repeats.push_back({settings.where("count"), *count, "count"});
    }
    if (*count < 1 || *count > ir::kMostTurns)
      throw UserError(
          settings.where("count"),
          fmt::format("{}: the number of steps is between 1 and {}, is {}", title_of(node), ir::kMostTurns, *count),
          "for example \"count\": 10");
    return *count;
  }

  ir::Values starts_of(const NodeDef& node, const ScanUse& use, const std::map<std::string, ValueId>& given,
                       const std::string& path, const Scope& scope) {
    ir::Values starts;
    for (const ScanCarry& carry : use.carries) {
      if (carry.start) {
        starts.push_back(given.at(carry.input.text));
        continue;
      }
      ir::Dims dims;
      for (const Json& size : carry.shape->items) {
        const std::string what = fmt::format("{}: 'carry': '{}'", title_of(node), carry.input.text);
        dims.push_back(evaluate_integer(size, scope, what));
        check_size(dims, size.where, what);
      }
      if (dims.size() > kMaxRank)
        throw UserError(carry.shape->where, fmt::format("{}: more than {} dimensions", title_of(node), kMaxRank));
      builder_.prefix = fmt::format("{}.{}.zeros", path, carry.input.text);
      starts.push_back(builder_.constant(0, {ir::DType::f32, dims}));
    }
    return starts;
  }

  // [N, steps, ...] <-> [steps, N, ...]
  ValueId steps_first(ValueId v, const std::string& name) {
    ir::Dims perm;
    for (int64_t axis = 0; axis < builder_.type(v).rank(); ++axis) perm.push_back(axis);
    std::swap(perm[0], perm[1]);
    return builder_("transpose", {v}, {{"perm", perm}}, name + ".steps");
  }

  std::optional<Turn> build_turn(const Block& block, const ScanUse& use, const std::map<std::string, ValueId>& given,
                                 const ir::Values& starts, const std::string& path, Frame& inner) {
    Turn turn;
    const auto stand_in = [&](const Named& name, ir::Type type) {
      const ValueId v = out_.graph.add_input(path + "." + name.text, std::move(type), ir::Role::input);
      note_origin(v, fmt::format("'{}' of a step", name.text), name.where);
      return inner.values[name.text] = v;
    };
    for (size_t i = 0; i < use.carries.size(); ++i)
      turn.carries.push_back({stand_in(use.carries[i].input, builder_.type(starts[i])), {}});
    for (const Named& slice : use.slices) {
      ir::Type row = builder_.type(given.at(slice.text));
      row.dims.erase(row.dims.begin() + 1);
      turn.slices.push_back(stand_in(slice, row));
    }
    if (use.index) turn.index = stand_in(*use.index, {ir::DType::i32, {}});
    inner.previous = inner.values.at(block.inputs.front().text);
    for (const NodeDef& n : block.nodes) inner.paths.insert(n.name);
    const size_t around = std::exchange(first_update_, out_.updates.size());
    ++depth_;
    instantiate(block.nodes, inner);
    --depth_;
    first_update_ = around;
    for (size_t i = 0; i < use.carries.size(); ++i) turn.carries[i].next = inner.values.at(use.carries[i].next.text);
    for (const Named& name : use.stacked) turn.stacked.push_back(inner.values.at(name.text));
    const auto is_faulty = [](ValueId v) { return !v.valid(); };
    const bool faulty = std::ranges::any_of(turn.carries, is_faulty, &Turn::Carry::next) ||
                        std::ranges::any_of(turn.stacked, is_faulty);
    return faulty ? std::nullopt : std::optional(std::move(turn));
  }

  // Makes buffers that a turn updates, such as running statistics, carries of the scan. Their last values become the
  // updates of the step. Returns the buffers.
  ir::Values carry_updates(Turn& turn, size_t before) {
    ir::Values kept;
    ir::Updates around;
    for (size_t i = 0; i < out_.updates.size(); ++i) {
      const ir::Update& u = out_.updates[i];
      if (i < before) {
        around.push_back(u);
        continue;
      }
      turn.carries.push_back({u.state, u.next, true});
      kept.push_back(u.state);
    }
    out_.updates = std::move(around);
    return kept;
  }

  void require_no_sparse(const NodeDef& node, size_t parameters) const {
    for (size_t i = parameters; i < out_.parameters.size(); ++i)
      if (out_.parameters[i].sparse)
        throw UserError(*out_.parameters[i].sparse,
                        fmt::format("{}: '{}' is renewed by rows, which lookups of the whole step tell", title_of(node),
                                    out_.parameters[i].path),
                        "look up in front of the scan, or leave \"sparse\" out");
  }

  void check_turn(const NodeDef& node, const ScanUse& use, const Turn& turn, size_t first) const {
    const ir::Graph& g = out_.graph;
    for (size_t i = 0; i < use.carries.size(); ++i) {
      const ir::Type &from = g[turn.carries[i].input].type, &to = g[turn.carries[i].next].type;
      if (from == to) continue;
      throw UserError(use.carries[i].next.where,
                      fmt::format("{}: the carry '{}' is {}, and becomes {}", title_of(node), use.carries[i].input.text,
                                  type_text(from), type_text(to)),
                      "a carry keeps its type and shape", {out_.origin(turn.carries[i].next)});
    }
    for (size_t k = 0; k < use.stacked.size(); ++k)
      if (g[turn.stacked[k]].type.rank() == 0)
        throw UserError(use.stacked[k].where,
                        fmt::format("{}: '{}' is one number, and steps are stacked along axis 1", title_of(node),
                                    use.stacked[k].text),
                        "keep the batch: reduce over all axes but 0");
    for (size_t i = first; i < g.order.size(); ++i)
      if (const ir::Node& n = g[g.order[i]]; n.op->places && !is_never_outside(g, g.order[i]))
        throw UserError(
            n.loc,
            fmt::format("{}: block '{}' reads by computed indices, which a scan cannot check", title_of(node),
                        block_of(node)->text),
            "look up in front of the scan, and slice what was found; what a clamp keeps inside is looked up in it");
  }

  std::string type_text(const ir::Type& type) const { return to_string(type.dtype) + out_.shape_text(type.dims); }

  ir::Values add_scan(const NodeDef& node, const ScanUse& use, const ir::Values& kept, const ir::Graph& body,
                      const ir::Values& operands, const ScanTurns& turns, const std::string& path) {
    std::vector<std::string> names;
    for (const ScanCarry& carry : use.carries) names.push_back(path + "." + carry.input.text + ".last");
    for (const ValueId v : kept) names.push_back(out_.graph[v].name + ".last");
    for (const Named& name : use.stacked) names.push_back(path + "." + name.text + ".steps");
    const size_t before = out_.graph.value_count();
    ir::Values made = append_scan(out_, body, operands, turns, names, title_of(node), node.op_where);
    const auto last = made.begin() + std::ssize(use.carries);
    for (size_t i = 0; i < kept.size(); ++i) update(kept[i], last[static_cast<std::ptrdiff_t>(i)]);
    made.erase(last, last + std::ssize(kept));
    for (size_t i = use.carries.size(); i < made.size(); ++i) {
      const ValueId stacked = made[i];
      made[i] = steps_first(stacked, path);
      check_size(builder_.type(made[i]).dims, node.op_where, title_of(node));
    }
    name_scan_results(node, made, before);
    return made;
  }

  void name_scan_results(const NodeDef& node, const ir::Values& made, size_t before) {
    for (size_t i = 0; i < made.size(); ++i) {
      if (static_cast<size_t>(made[i].index) < before) continue;
      if (i < node.out.size()) out_.graph.rename(made[i], node.out[i].text);
      note_origin(made[i], title_of(node), node.op_where);
    }
  }

  Parameter& own(ValueId v) {
    return *std::find_if(out_.parameters.begin(), out_.parameters.end(),
                         [&](const Parameter& p) { return p.value == v; });
  }

  // --- parameters ---

  // The path under which the node's parameters are stored: that of the node, or that of their first use.
  static std::string owner_of(const NodeDef& node, const Frame& frame, const std::string& path) {
    return frame.owner + (node.share && !node.copies() ? node.share->text : path.substr(frame.prefix.size()));
  }

  // The sharing node that errors refer to. If sharing nodes are nested, it is the outer one.
  static const NodeDef* sharer_of(const NodeDef& node, const Frame& frame) {
    return frame.sharer == nullptr && node.share && !node.copies() ? &node : frame.sharer;
  }

  // The copy rule of a node that copies or is inside of one. A node that shares parameters makes no copies.
  static std::optional<CopyUse> copy_of(const NodeDef& node, const Frame& frame, const std::string& path) {
    if (sharer_of(node, frame) != nullptr) return {};
    if (!node.copies()) return inside(frame.copy, path.substr(frame.prefix.size()));
    if (frame.copy) throw copied_copy(*frame.copy->node, node);
    CopyOf rule{.source = frame.owner + node.share->text, .node = path, .average = {}, .every = 1};
    const auto read = [&](const std::optional<Json>& given, auto by) {
      return by(*given, *ir::find_key(node_keys(), given->key), *frame.scope,
                fmt::format("{}: '{}'", title_of(node), given->key));
    };
    if (node.average) rule.average = read(node.average, read_real);
    if (node.copy) rule.every = read(node.copy, read_integer);
    return CopyUse{&node, std::move(rule)};
  }

  static std::optional<CopyUse> inside(std::optional<CopyUse> copy, const std::string& path) {
    if (copy) copy->rule.source += path;
    return copy;
  }

  static UserError copied_copy(const NodeDef& around, const NodeDef& node) {
    const Json& given = around.average ? *around.average : *around.copy;
    return {given.key_where,
            fmt::format("{}: '{}': the parameters of '{}' inside of it are copies themselves", title_of(around),
                        given.key, node.name),
            "copy a block that has no copies inside",
            {{Severity::note, (node.average ? *node.average : *node.copy).where, "copies are made here", {}, {}}}};
  }

  bool shares_faulty(const NodeDef& node, const Frame& frame) const {
    return node.share && has_failed(frame.prefix + node.share->text);
  }

  static Location share_where(const NodeDef& sharer) {
    return sharer.share ? sharer.share->where : *sharer.shares_repeats;
  }

  void require_parameters(const NodeDef& sharer, const std::string& owner) const {
    const auto inside = by_path_.lower_bound(owner + ".");
    if (by_path_.contains(owner) || (inside != by_path_.end() && inside->first.starts_with(owner + "."))) return;
    throw UserError(
        share_where(sharer),
        fmt::format("{}: 'share': {}{} has no parameters", title_of(sharer), sharer.block ? "block " : "", sharer.op),
        "leave \"share\" out");
  }

  // The value of a state after the uses so far; in a turn of a scan, after those of the turn.
  ValueId current(ValueId state) const {
    if (out_.updates.has_state(state))
      for (size_t i = out_.updates.size(); i-- > first_update_;)
        if (out_.updates[i].state == state) return out_.updates[i].next;
    return state;
  }

  // Sets the next value of a state. `buffer` is the state, or its value after an earlier use.
  void update(ValueId buffer, ValueId next) {
    if (copies_.contains(buffer)) return;  // a copy follows its source
    out_.uses.push_back({buffer, next, use_.entry});
    if (out_.updates.has_state(buffer) || out_.updates.has_next(buffer))
      for (size_t i = first_update_; i < out_.updates.size(); ++i)
        if (out_.updates[i].state == buffer || out_.updates[i].next == buffer) return out_.updates.set_next(i, next);
    out_.updates.push_back({buffer, next});
  }

  // The existing parameter at `path` that `sharer` shares. Throws UserError if this use needs another one than `p`
  // describes.
  const Parameter& first_use(const NodeDef& sharer, const std::string& path, const ParameterSpec& p) const {
    const auto at = by_path_.find(path);
    const auto fault = [&](const std::string& text, std::vector<Diagnostic> notes) {
      return UserError(share_where(sharer), fmt::format("{}: 'share': {}", title_of(sharer), text),
                       "what shares parameters reads values of the same shape", std::move(notes));
    };
    if (at == by_path_.end()) throw fault(fmt::format("the first use has no parameter '{}'", path), {});
    const Parameter& first = out_.parameters[at->second];
    if (first.type != p.type || first.layout != p.layout)
      throw fault(
          fmt::format("parameter '{}' is {}, and this use needs {}", path, to_string(first.type), to_string(p.type)),
          {{Severity::note, first.where, "the first use is here", {}, {}}});
    return first;
  }

  ValueId shared_parameter(const ParameterSpec& p) {
    const std::string path = use_.owner + p.path.substr(use_.path.size());
    const Parameter& first = first_use(*use_.sharer, path, p);
    out_.nodes[use_.entry].parameters.push_back(path);
    return current(first.value);
  }

  // A buffer under the path of this node.
  ValueId copied_parameter(ParameterSpec p, const Initializer& init, const Location& where) {
    CopyOf rule = use_.copy->rule;
    rule.source += p.path.substr(use_.path.size());
    first_use(*use_.copy->node, rule.source, p);
    p.role = ir::Role::buffer;
    const ValueId v = new_parameter(p, init, where, "copy");
    out_.parameters.back().copy = std::move(rule);
    copies_.insert(v);
    return v;
  }

  ValueId new_parameter(const ParameterSpec& p, const Initializer& init, const Location& where, const char* what) {
    check_size(p.type.dims, where, fmt::format("parameter '{}'", p.path));
    const ValueId v = out_.graph.add_input(p.path, memory_type(p.type, p.layout), p.role, p.layout);
    by_path_.emplace(p.path, out_.parameters.size());
    out_.parameters.push_back({p.path, p.type, p.layout, v, init, where, p.role});
    note_origin(v, fmt::format("{} '{}'", what, p.path), where);
    return v;
  }

  ValueId parameter(const ParameterSpec& p, const Initializer& init, const Location& where) {
    if (use_.sharer != nullptr) return shared_parameter(p);
    if (use_.copy) return copied_parameter(p, init, where);
    return new_parameter(p, init, where, p.role == ir::Role::param ? "parameter" : "buffer");
  }

  // Adds a parameter and, if train.lora matches it, its adapter.
  ValueId adapted_parameter(const ParameterSpec& p, const Initializer& init, const Location& where) {
    const ValueId v = parameter(p, init, where);
    if (!model_.train.lora || p.role != ir::Role::param || use_.sharer != nullptr) return v;
    const Lora& lora = *model_.train.lora;
    const std::string rest = p.path.substr(use_.path.size());
    if (!adapts(lora, p, use_.copy ? use_.copy->rule.source + rest : p.path)) return v;
    const AdapterPaths paths =
        adapter_paths(p.path, is_table(out_.nodes[use_.entry].op), by_path_.contains(beside_attention(p.path)));
    const AdapterSpecs specs = adapter_specs(lora, paths, p.type.dims);
    const ValueId a = parameter(specs.a, specs.of_a, where);
    out_.parameters.back().adapter = true;
    const ValueId b = parameter(specs.b, specs.of_b, where);
    out_.parameters.back().adapter = true;
    out_.adapters.push_back(paths);
    out_.adapted[v] = {v, paths.lookup ? a : b, paths.lookup ? b : a, lora.scale(), p.path};
    return v;
  }

  const Model& model_;
  const InstanceOptions& options_;
  Diagnostics& errors_;
  Instance out_;
  ir::Builder builder_;
  GraphServices services_;
  std::set<std::string, std::less<>> failed_;           // paths of nodes without a result
  std::map<std::string, size_t, std::less<>> by_path_;  // of the parameters
  std::set<ValueId> copies_;                            // what no layer renews
  ParameterUse use_;
  ValueId quantizes_;        // whether train.quantize has begun; invalid: always
  size_t first_update_ = 0;  // of the turn that is being built; 0 outside of scans
  int64_t count_ = 0;
  int depth_ = 0;   // blocks around the node
  int in_f32_ = 0;  // nodes that say so, around the node and itself
};

}  // namespace

Instance instantiate_model(const Model& model, const InstanceOptions& options, Diagnostics& errors) {
  return Instantiation(model, options, errors).run();
}

}  // namespace heddle::frontend
