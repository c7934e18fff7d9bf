// Offers: who has candidates for a contraction or a composite. Each is a file here, listed in
// `offers`.
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
// A new way to execute something, such as a kernel of its own for attention or another library, is
// a file that offers it.
#pragma once
#include <set>

#include "ir/op_def.h"
#include "passes/choose.h"
#include "passes/outline.h"
#include "passes/pass.h"

namespace heddle::passes {

using Decomposition = std::function<ir::Values(ir::Builder&, const ir::Node&)>;

// What select would do with a node where it takes a candidate.
struct Offer {
  std::string name = {}, refusal = {}, detail = {};  // as a candidate's
  // The nodes that it takes, among them the one that is asked about, and the kernel, with
  // its schedule, that a call of them would run. Without a kernel nothing is done now: a later pass has
  // them.
  std::vector<ir::NodeId> nodes = {};
  std::set<ir::NodeId> copied = {};  // those of `nodes` that others may read, too
  std::optional<Extract> call = {};
  bool asked_for = false;  // by name: no other is compared with it
  // Of a composite that is decomposed: into what. The definition's where there is none.
  const Decomposition* parts = nullptr;
  // How long a kernel of just these nodes takes, in this way. Where nothing is called, `kernel` is
  // another offer's call.
  std::function<Figure(const ir::Graph& kernel, double best)> figure = {};
};

// Names of what no library executes.
inline const std::string kGeneratedText = "generated text", kDecomposed = "decomposed";

struct Asked {
  const ir::Graph& graph;
  ir::NodeId node;
  const Options& options;
};
using OfferFunction = std::vector<Offer> (*)(const Asked&);

std::vector<Offer> offers_of_libraries(const Asked& asked);  // each of the options', in their order
std::vector<Offer> offers_of_forms(const Asked& asked);      // other forms of a composite (OpDef::forms)
std::vector<Offer> offers_of_later(const Asked& asked);      // fuse's text, or decompose's parts

// All of them, in order of preference where figures are equal.
inline constexpr OfferFunction kOffers[] = {offers_of_libraries, offers_of_forms, offers_of_later};

// The results of the nodes that the rest of the graph reads.
std::vector<ir::ValueId> read_results(const ir::Graph& g, ir::NodeId last);

}  // namespace heddle::passes
