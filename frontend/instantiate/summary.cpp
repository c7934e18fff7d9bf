#include "frontend/instantiate/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/build_graph.h"
#include "frontend/instantiate/instantiate.h"
#include "frontend/training/parameter_patterns.h"
#include "frontend/training/prune.h"
#include "frontend/training/stored_parameters.h"
#include "ir/builder.h"
#include "ir/kernel/cost.h"
#include "ir/scan.h"

namespace heddle::frontend {
namespace {

// Of the graph's nodes from `begin` to `end`. What a composite stands for is written behind all
// other nodes of the graph and counted instead of it.
double flops_of(ir::Graph& g, int64_t begin, int64_t end, const std::vector<ir::Graph>& bodies) {
  double flops = 0;
  for (int64_t i = begin; i < end; ++i) {
    const ir::Node& node = g[ir::NodeId{static_cast<int32_t>(i)}];
    if (node.erased) continue;
    if (ir::is_scan(node)) {
      ir::Graph body = *std::ranges::find(bodies, node.callee, &ir::Graph::name);
      flops +=
          static_cast<double>(ir::turns(node)) * flops_of(body, 0, static_cast<int64_t>(body.node_count()), bodies);
      continue;
    }
    if (!std::holds_alternative<ir::Composite>(node.op->kind) || !node.op->decomposition) {
      flops += ir::node_flops(g, node);
      continue;
    }
    const auto first = static_cast<int64_t>(g.node_count());
    ir::Builder b(g);
    b.loc = node.loc;
    b.prefix = g[node.results[0]].name + ".counted";
    node.op->decomposition(b, node);
    flops += flops_of(g, first, static_cast<int64_t>(g.node_count()), bodies);
  }
  return flops;
}

// The states that a step of training renews; nothing where the model trains nothing: then all of
// its parameters could be.
std::set<std::string> trained_in(const Model& model, const Instance& e) {
  std::set<std::string> names;
  BuildOptions options = default_build_options(model);
  if (options.train == 0) {
    for (const Parameter& p : e.parameters)
      if (p.role == ir::Role::param) names.insert(p.path);
    return names;
  }
  options.eval = options.predict = 0;
  // Any: only who is renewed counts. It leaves room for every warm-up.
  if (!options.total_steps) options.total_steps = int64_t{1} << 53;
  const ir::Module m = build_module(model, options);
  const ir::Graph& g = *m.find_graph({ir::Phase::train});
  for (const ir::Update& u : g.updates)
    if (g[u.state].role == ir::Role::param) names.insert(g[u.state].name);
  return names;
}

// The innermost node whose path begins the parameter's.
size_t owner_of(const std::string& path, const std::map<std::string, size_t>& nodes) {
  for (std::string head = path;;) {
    if (const auto found = nodes.find(head); found != nodes.end()) return found->second;
    const size_t dot = head.rfind('.');
    if (dot == std::string::npos) return nodes.size();
    head.resize(dot);
  }
}

void add_parameters(const Model& model, const Instance& e, ModelSummary& out) {
  const std::set<std::string> trained = trained_in(model, e);
  std::map<std::string, size_t> by_path;
  std::map<std::string, std::vector<std::string>> readers;
  for (size_t i = 0; i < out.nodes.size(); ++i) {
    if (!out.nodes[i].block) by_path.emplace(out.nodes[i].path, i);
    for (const std::string& name : e.nodes[i].parameters) readers[name].push_back(out.nodes[i].path);
  }
  for (const Parameter& p : e.parameters) {
    const size_t owner = owner_of(p.path, by_path);
    if (owner < out.nodes.size()) out.nodes[owner].parameters.push_back(std::ssize(out.parameters));
    out.parameters.push_back({.path = p.path,
                              .shape = ir::to_string(p.type.dims),
                              .elements = p.type.elements(),
                              .bytes = is_stored(model.train, p) ? stored_type(p).bytes() : p.type.bytes(),
                              .trained = trained.count(p.path) > 0,
                              .buffer = p.role == ir::Role::buffer,
                              .readers = readers[p.path]});
  }
}

void add_phases(const Train& train, ModelSummary& out) {
  size_t loss = 0;
  for (const TrainPhase& phase : train.phases) {
    SummaryPhase& made = out.phases.emplace_back();
    made.name = phase.name, made.optimizer = phase.optimizer->op, made.every = phase.every;
    for (const size_t end = loss + phase.losses; loss < end; ++loss) made.losses.push_back(train.losses[loss].op);
    for (const Named& glob : phase.parameters) made.match.push_back(glob.text);
    for (size_t i = 0; i < out.parameters.size(); ++i)
      if (out.parameters[i].trained && matches(phase.parameters, out.parameters[i].path))
        made.parameters.push_back(static_cast<int64_t>(i));
  }
}

void add_pruned(const Train& train, const Instance& e, ModelSummary& out) {
  if (!train.prune) return;
  const Prune& prune = *train.prune;
  SummaryPruned& made = out.pruned.emplace();
  made.amount = prune.two_of_four ? "2:4" : fmt::format("{}", prune.amount);
  made.begin = prune.begin, made.end = prune.end;
  for (const Parameter* p : pruned_parameters(train, e.parameters))
    made.parameters.push_back(std::ranges::find(out.parameters, p->path, &SummaryParameter::path) -
                              out.parameters.begin());
}

void add_quantized(const Train& train, const Instance& e, ModelSummary& out) {
  if (!train.quantize) return;
  SummaryQuantized& made = out.quantized.emplace();
  made.start = train.quantize->start;
  made.observer = train.quantize->moving ? "moving_average" : "minmax";
  for (const QuantizedWeight& weight : e.quantized)
    made.parameters.push_back(std::ranges::find(out.parameters, weight.path, &SummaryParameter::path) -
                              out.parameters.begin());
}

}  // namespace

ModelSummary summarize(ModelInstances& instances) {
  const Model& model = instances.model();
  const auto size = model.train.sizes.find(model.batch_dimension);
  ModelSummary out;
  out.batch_name = model.batch_dimension;
  out.batch = size == model.train.sizes.end() ? 1 : size->second;
  Diagnostics errors;
  const Instance& e = instances.at({.batch = out.batch, .training = true}, errors);
  errors.throw_if_any();
  for (const InstanceNode& n : e.nodes) {
    SummaryNode node{.path = n.path,
                     .op = n.op,
                     .block = n.block,
                     .depth = n.depth,
                     .shapes = {},
                     .parameters = {},
                     .result_bytes = 0,
                     .flops = 0};
    for (const ir::ValueId v : n.results) {
      node.shapes.push_back(e.shape_text(ir::logical_dims(e.graph[v].type.dims, e.graph[v].layout)));
      if (!n.block && n.end > n.begin) node.result_bytes += e.graph[v].type.bytes();
    }
    out.nodes.push_back(std::move(node));
  }
  add_parameters(model, e, out);
  add_phases(model.train, out);
  add_pruned(model.train, e, out);
  add_quantized(model.train, e, out);
  ir::Graph counted = e.graph;  // what composites decompose into is added to it
  for (size_t i = 0; i < e.nodes.size(); ++i)
    if (!e.nodes[i].block) out.nodes[i].flops = flops_of(counted, e.nodes[i].begin, e.nodes[i].end, e.bodies);
  return out;
}

}  // namespace heddle::frontend
