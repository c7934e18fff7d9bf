#include "passes/select/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "ir/check.h"
#include "ir/kernel/cost.h"
#include "ir/op_def.h"
#include "passes/select/offer.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Whether v is a vector broadcast along the last axis, with one reader.
bool is_vector(const Graph& g, ValueId v) {
  const Node* n = g.def(v);
  if (!n || !n->op->traits.spread || !g.only_use(v).valid()) return false;
  const Dims& operand = g[n->operands[0]].type.dims;
  const Dims& result = g[v].type.dims;
  return operand.size() == 1 && operand.back() == result.back() &&
         n->op->traits.spread(*n) == Dims{g[v].type.rank() - 1};
}

// The nodes that add a vector to y, or multiply y by it, if nothing else reads the values between; otherwise empty.
std::vector<NodeId> vector_after(const Graph& g, ValueId y, Arithmetic how) {
  const NodeId next = g.only_use(y);
  if (!next.valid() || g[next].op->traits.arithmetic != how) return {};
  const ValueId other = g[next].operands[g[next].operands[0] == y ? 1 : 0];
  if (!is_vector(g, other)) return {};
  return {g[other].def, next};
}

std::vector<NodeId> activation_after(const Graph& g, ValueId y, const Activation& step) {
  const NodeId next = g.only_use(y);
  if (!next.valid() || g[next].operands.size() != 1 || !step.takes(*g[next].op)) return {};
  return {next};
}

// The node with its epilogue, in all lengths: first with all steps that the graph has, then with one step less each
// time.
std::vector<std::vector<NodeId>> with_epilogue(const Graph& g, NodeId n, const Library& library) {
  std::vector<std::vector<NodeId>> all{{n}};
  if (g[n].results.size() != 1) return all;
  ValueId y = g[n].results[0];
  for (const EpilogueStep& step : library.epilogue(g, g[n])) {
    const auto* activation = std::get_if<Activation>(&step);
    if (activation != nullptr && activation->behind_bias && all.size() == 1) continue;
    const Arithmetic how = std::holds_alternative<Scale>(step) ? Arithmetic::product : Arithmetic::sum;
    const std::vector<NodeId> nodes =
        activation != nullptr ? activation_after(g, y, *activation) : vector_after(g, y, how);
    if (nodes.empty()) continue;
    std::vector<NodeId> members = all.front();
    members.insert(members.end(), nodes.begin(), nodes.end());
    y = g[members.back()].results[0];
    all.insert(all.begin(), std::move(members));
  }
  return all;
}

// The nodes that compute operands and that the call can include.
std::vector<NodeId> prologue(const Graph& g, const Node& n, const Library& library) {
  std::vector<NodeId> nodes;
  if (library.prologue == nullptr) return nodes;
  for (const ValueId v : n.operands)
    if (const Node* operand = g.def(v); operand != nullptr && library.prologue(g, *operand))
      if (std::ranges::count(nodes, g[v].def) == 0) nodes.push_back(g[v].def);
  return nodes;
}

// Sorts the arguments: first those of the head, in the order of its operands, then those of the epilogue. A node of the
// prologue stands before the head, and so would its argument.
void sort_arguments(Extract& call) {
  const Graph& kernel = call.kernel;
  const Node& head = head_of(kernel);
  const auto place = [&](size_t argument) {
    const ValueId input = kernel.inputs[argument];
    const auto reads = [&](ValueId v) {
      return v == input || (kernel.def(v) != nullptr && kernel.def(v)->operands[0] == input);
    };
    return std::ranges::find_if(head.operands, reads) - head.operands.begin();
  };
  std::vector<size_t> order(kernel.inputs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, place);
  Values inputs, operands;
  for (const size_t i : order) inputs.push_back(kernel.inputs[i]), operands.push_back(call.operands[i]);
  call.kernel.inputs = std::move(inputs);
  call.operands = std::move(operands);
}

// Offers a call of these nodes: the node and its epilogue steps.
Offer offer_with(const AvailableLibrary& available, const Asked& asked, const std::vector<NodeId>& members) {
  const Library& library = *available.rules;
  const Graph& g = asked.graph;
  const Target& target = asked.options.target;
  Offer offer{.name = library.name};
  offer.nodes = prologue(g, g[asked.node], library);
  offer.copied = {offer.nodes.begin(), offer.nodes.end()};
  std::ranges::copy(members, std::back_inserter(offer.nodes));
  Extract call = extract(g, offer.nodes, read_results(g, offer.nodes.back()), Slots::separate);
  sort_arguments(call);
  call.kernel.name = kernel_name(call.kernel);
  const LibraryPlan plan = library.plan(call.kernel, target);
  KernelSchedule& schedule = call.kernel.schedule.emplace();
  schedule.how = schedules::LibraryCall{.contraction = std::holds_alternative<Contraction>(g[asked.node].op->kind),
                                        .impl = library.name,
                                        .batch_split = plan.slices,
                                        .precision = plan.precision};
  const LibraryAnswer answer = available.ask(call.kernel);
  if (offer.refusal = answer.refusal; !offer.refusal.empty()) return offer;
  schedule.workspace = answer.workspace;
  offer.detail = fmt::format("in {} slices, {} products, {} bytes of scratch", plan.slices, to_string(plan.precision),
                             answer.workspace);
  offer.call = std::move(call);
  offer.asked_for = library.asked_for;
  offer.figure = [&library, &target](const Graph& kernel, double) {
    return library.figure != nullptr ? library.figure(kernel, target) : Figure{kernel_cost(kernel, target).seconds};
  };
  return offer;
}

Offer offer_of(const AvailableLibrary& available, const Asked& asked) {
  const Library& library = *available.rules;
  const Graph& g = asked.graph;
  Offer offer{.name = library.name, .refusal = library.refusal(g, g[asked.node], asked.options.target)};
  if (!offer.refusal.empty()) return offer;
  std::string without;
  for (const std::vector<NodeId>& members : with_epilogue(g, asked.node, library)) {
    offer = offer_with(available, asked, members);
    if (offer.refusal.empty()) {
      offer.detail += without;
      return offer;
    }
    without = fmt::format("; not with {}: {}", g[members.back()].op->name, offer.refusal);
  }
  return offer;
}

}  // namespace

const Node& head_of(const Graph& kernel) {
  const auto leads = [&](NodeId n) {
    const Kind& kind = kernel[n].op->kind;
    return std::holds_alternative<Contraction>(kind) || std::holds_alternative<Composite>(kind);
  };
  const auto head = std::find_if(kernel.order.begin(), kernel.order.end(), leads);
  HEDDLE_CHECK(head != kernel.order.end(), "@" + kernel.name + " holds no contraction and no composite");
  return kernel[*head];
}

std::vector<Offer> offers_of_libraries(const Asked& asked) {
  std::vector<Offer> offers;
  for (const AvailableLibrary& library : asked.options.libraries) {
    const auto concerns = library.rules->concerns;
    if (concerns == nullptr || concerns(asked.graph[asked.node])) offers.push_back(offer_of(library, asked));
  }
  return offers;
}

}  // namespace heddle::passes
