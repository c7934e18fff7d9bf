// Offers: the ways to execute a contraction or a composite, as candidates for select. kOffers lists the functions that
// make them.
//
//   %y = matmul(%x, %w), then + bias, relu
//     libraries   ->  {onednn: takes all four nodes in a call}
//     later       ->  {generated text: fuse makes a kernel of them}
//   %p = softmax(%x)
//     libraries   ->  {onednn: refuses}
//     later       ->  {decomposed}
//   %y, %lse = attention(%q, %k, %v)
//     forms       ->  {in blocks: one operator that decompose puts in its place}
//     later       ->  {decomposed}
//
// To add a way to execute something, such as another library, add a file with a function that offers it.
#pragma once
#include <set>

#include "ir/op_def.h"
#include "passes/choose.h"
#include "passes/outline.h"
#include "passes/pass.h"

namespace heddle::passes {

using Decomposition = std::function<ir::Values(ir::Builder&, const ir::Node&)>;

// A candidate, and what select does with the node if it takes the candidate.
struct Offer {
  std::string name = {}, refusal = {}, detail = {};  // as in Candidate
  // The nodes that the call includes, among them the one asked about. `call` is the kernel of the call with its
  // schedule. Without `call`, select leaves the nodes to a later pass.
  std::vector<ir::NodeId> nodes = {};
  std::set<ir::NodeId> copied = {};  // those of `nodes` that may have other readers, too
  std::optional<Extract> call = {};
  bool asked_for = false;  // taken without a comparison of times (Library::asked_for)
  // For a composite: the decomposition to use; nullptr: the one in its definition.
  const Decomposition* parts = nullptr;
  // The time of `kernel` when it runs in this way. Without `call`, `kernel` is the widest call of the other offers, or
  // the node alone. `best` as in Candidate.
  std::function<Figure(const ir::Graph& kernel, double best)> figure = {};
};

// Names of candidates that are not libraries.
inline const std::string kGeneratedText = "generated text", kDecomposed = "decomposed";

struct Asked {
  const ir::Graph& graph;
  ir::NodeId node;
  const Options& options;
};
using OfferFunction = std::vector<Offer> (*)(const Asked&);

std::vector<Offer> offers_of_libraries(const Asked& asked);  // one per library of the options, in their order
std::vector<Offer> offers_of_forms(const Asked& asked);      // other forms of a composite (OpDef::forms)
std::vector<Offer> offers_of_later(const Asked& asked);      // generated text by fuse, or operators by decompose

// All offers, in order of preference for equal times.
inline constexpr OfferFunction kOffers[] = {offers_of_libraries, offers_of_forms, offers_of_later};

// The results of the node `last` that have readers.
std::vector<ir::ValueId> read_results(const ir::Graph& g, ir::NodeId last);

}  // namespace heddle::passes
