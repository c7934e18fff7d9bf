#include "passes/select/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/kernel/cost.h"
#include "ir/op_def.h"
#include "passes/select/offer.h"

namespace heddle::passes {

using namespace ir;

namespace {

// Gives each node of a graph to its fastest candidate.
class Selector {
 public:
  Selector(KernelTable& kernels, Graph& g, const Options& options) : kernels_(kernels), g_(g), options_(options) {}

  // Replaces the node by a call if the fastest candidate is one. Otherwise a later pass handles the node; for a
  // composite, `parts` says how to decompose it.
  SelectedComposite take(NodeId n) {
    std::vector<Offer> offers = offers_for(n);
    node_ = n, widest_ = nullptr;
    for (const Offer& offer : offers)
      if (offer.call && (widest_ == nullptr || offer.nodes.size() > widest_->nodes.size())) widest_ = &offer;
    std::optional<Decision> decision = decision_on(offers);
    if (!decision || !follow_choice(offers, decision->body)) prefer_asked(offers);
    std::vector<Candidate> candidates;
    candidates.reserve(offers.size());
    for (const Offer& offer : offers)
      candidates.push_back(
          {offer.name, offer.refusal, offer.detail, [this, &offer](double best) { return figure_of(offer, best); }});
    const Choice choice = choose(candidates);
    if (candidates.size() > 1 || std::holds_alternative<Contraction>(g_[n].op->kind))
      options_.note("select", g_, "%" + g_[g_[n].results[0]].name, choice.reason);
    if (decision && choice.taken && options_.decided) {
      decision->taken = offers[*choice.taken].name;
      options_.decided(*decision);
    }
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
    return offers;
  }

  static void prefer_asked(std::vector<Offer>& offers) {
    const auto asked = std::ranges::find_if(offers, &Offer::asked_for);  // the first of them
    for (Offer& other : offers)
      if (asked != offers.end() && &other != &*asked && other.refusal.empty())
        other.refusal = asked->name + " is asked for";
  }

  // The decision to report or to look up, if the options have measured choices or a receiver of decisions.
  std::optional<Decision> decision_on(const std::vector<Offer>& offers) const {
    if (options_.choices.empty() && !options_.decided) return std::nullopt;
    Decision decision;
    for (const Offer& offer : offers)
      if (offer.refusal.empty()) decision.candidates.push_back(offer.name);
    if (decision.candidates.empty()) return std::nullopt;
    decision.kernel = widest_ != nullptr ? widest_->call->kernel : kernel_of({node_});
    decision.body = choice_body(decision.kernel);
    return decision;
  }

  // If a measured choice exists for this body, refuses all other candidates, with their measured times as the reason.
  // Returns whether there is one.
  bool follow_choice(std::vector<Offer>& offers, const std::string& body) const {
    const auto found = options_.choices.find(body);
    if (found == options_.choices.end()) return false;
    const MeasuredChoice& choice = found->second;
    const auto measured = [&](const std::string& name) {
      const auto seconds = choice.seconds.find(name);
      return seconds == choice.seconds.end() ? std::string()
                                             : to_string(Figure{seconds->second, FigureSource::measured});
    };
    const auto chosen = std::ranges::find(offers, choice.chosen, &Offer::name);
    if (chosen == offers.end() || !chosen->refusal.empty()) refuse_choice(choice, body, chosen, offers.end());
    for (Offer& other : offers)
      if (&other != &*chosen && other.refusal.empty())
        other.refusal = measured(other.name).empty() ? "not chosen by measurements" : measured(other.name);
    const std::string time = measured(chosen->name);
    if (!time.empty()) chosen->detail += (chosen->detail.empty() ? "" : ", ") + time;
    return true;
  }

  [[noreturn]] static void refuse_choice(const MeasuredChoice& choice, const std::string& body,
                                         std::vector<Offer>::iterator chosen, std::vector<Offer>::iterator end) {
    const std::string why = chosen == end ? "it is no candidate here" : chosen->refusal;
    throw UserError(ExitCode::failed,
                    fmt::format("{}'{}' cannot execute {}: {}", choice.origin, choice.chosen, body, why),
                    "measure again: heddle tune MODEL -o TABLE");
  }

  Graph kernel_of(const std::vector<NodeId>& nodes) const {
    return extract(g_, nodes, read_results(g_, nodes.back())).kernel;
  }

  // The time for the nodes of the widest call, so that all candidates are compared on the same work. Nodes that a
  // narrower call leaves out are estimated as one further kernel.
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
  NodeId node_ = {};               // the current node
  const Offer* widest_ = nullptr;  // its offer whose call includes the most nodes
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
