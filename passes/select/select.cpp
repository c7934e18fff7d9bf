#include "passes/select/select.h"

#include <algorithm>

#include "ir/kernel/cost.h"
#include "ir/op_def.h"
#include "passes/select/offer.h"

namespace heddle::passes {

using namespace ir;

namespace {

// Lets one node after another be taken by what takes the least time.
class Selector {
 public:
  Selector(KernelTable& kernels, Graph& g, const Options& options) : kernels_(kernels), g_(g), options_(options) {}

  // Whether a call takes the node's place; else a later pass has it, or the parts.
  SelectedComposite take(NodeId n) {
    std::vector<Offer> offers = offers_for(n);
    node_ = n, widest_ = nullptr;
    for (const Offer& offer : offers)
      if (offer.call && (widest_ == nullptr || offer.nodes.size() > widest_->nodes.size())) widest_ = &offer;
    std::vector<Candidate> candidates;
    candidates.reserve(offers.size());
    for (const Offer& offer : offers)
      candidates.push_back(
          {offer.name, offer.refusal, offer.detail, [this, &offer](double best) { return figure_of(offer, best); }});
    const Choice choice = choose(candidates);
    if (candidates.size() > 1 || std::holds_alternative<Contraction>(g_[n].op->kind))
      options_.note("select", g_, "%" + g_[g_[n].results[0]].name, choice.reason);
    if (!choice.taken) return {};
    Offer& taken = offers[*choice.taken];
    if (!taken.call) return {.called = false, .parts = taken.parts != nullptr ? *taken.parts : Decomposition{}};
    replace(taken);
    return {.called = true};
  }

 private:
  std::vector<Offer> offers_for(NodeId n) const {
    std::vector<Offer> offers;
    for (const OfferFunction offer : kOffers)
      for (Offer& one : offer({g_, n, options_})) offers.push_back(std::move(one));
    const auto asked = std::ranges::find_if(offers, &Offer::asked_for);  // the first of them
    for (Offer& other : offers)
      if (asked != offers.end() && &other != &*asked && other.refusal.empty())
        other.refusal = asked->name + " is asked for";
    return offers;
  }

  Graph kernel_of(const std::vector<NodeId>& nodes) const {
    return extract(g_, nodes, read_results(g_, nodes.back())).kernel;
  }

  // Of all nodes that any call takes, so that figures are of the same work: what a call leaves is a kernel of its own.
  Figure figure_of(const Offer& offer, double best) const {
    if (!offer.call) return offer.figure(widest_ != nullptr ? widest_->call->kernel : kernel_of({node_}), best);
    Figure figure = offer.figure(offer.call->kernel, best);
    std::vector<NodeId> rest;
    for (const NodeId n : widest_->nodes)
      if (std::ranges::find(offer.nodes, n) == offer.nodes.end()) rest.push_back(n);
    if (rest.empty()) return figure;
    figure.seconds += estimated_cost(kernel_of(rest), options_.target).seconds;
    return figure;
  }

  void replace(Offer& offer) {
    const std::vector<ValueId> results = read_results(g_, offer.nodes.back());
    const std::string kernel = kernels_.add(std::move(offer.call->kernel));
    replace_by_call(g_, {offer.nodes, offer.copied}, offer.call->operands, results, kernel);
  }

  KernelTable& kernels_;
  Graph& g_;
  const Options& options_;
  NodeId node_ = {};               // at hand
  const Offer* widest_ = nullptr;  // of its offers the call that takes most nodes
};

}  // namespace

std::vector<ValueId> read_results(const Graph& g, NodeId last) {
  std::vector<ValueId> results;
  for (const ValueId r : g[last].results)
    if (!g.unused(r)) results.push_back(r);
  return results;
}

SelectedComposite select_composite(KernelTable& kernels, Graph& g, NodeId composite, const Options& options) {
  SelectedComposite selected = Selector(kernels, g, options).take(composite);
  if (!selected.called && !selected.parts) selected.parts = g[composite].op->decomposition;
  return selected;
}

bool select(Module& m, const Options& options) {
  bool changed = false;
  KernelTable kernels(m);
  for (Graph* graph : m.all_graphs()) {
    Graph& g = *graph;
    bool taken = false;
    Selector selector(kernels, g, options);
    for (const NodeId n : std::vector<NodeId>(g.order))
      if (std::holds_alternative<Contraction>(g[n].op->kind)) taken |= selector.take(n).called;
    if (taken) sort_topologically(g);
    changed |= taken;
  }
  return changed;
}

}  // namespace heddle::passes
