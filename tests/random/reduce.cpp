#include "tests/random/reduce.h"

#include <chrono>

#include "tests/random/campaign.h"
#include "tests/random/rebuild.h"

namespace heddle::testing {
using namespace ir;
namespace {

using Clock = std::chrono::steady_clock;

// The first words of a crash tell one from another.
std::string kind_of(const Fault& f) { return f.stage == "crash" ? f.text.substr(0, 60) : f.stage; }

class Reducer {
 public:
  Reducer(Module m, const Fault& fault, double seconds)
      : best_(std::move(m)),
        kind_(kind_of(fault)),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  Module run() {
    for (bool smaller = true; smaller && Clock::now() < end_;) {
      smaller = leave_out_graphs();
      smaller |= leave_out_results();
      smaller |= leave_out_nodes();
      smaller |= shrink_sizes();
      smaller |= make_plain();
    }
    return std::move(best_);
  }

 private:
  // Takes the edited module where it still fails alike.
  bool take(const Edit& edit) {
    if (Clock::now() >= end_) return false;
    std::optional<Module> candidate = rebuild(best_, edit);
    if (!candidate || structurally_equal(*candidate, best_)) return false;
    for (const Fault& f : check_alone(*candidate))
      if (kind_of(f) == kind_) {
        best_ = std::move(*candidate);
        return true;
      }
    return false;
  }

  bool leave_out_graphs() {
    bool any = false;
    for (int i = static_cast<int>(best_.graphs.size()); i-- > 0 && best_.graphs.size() > 1;)
      any |= take({.graph = i, .leave_out = true});
    return any;
  }

  // Halves first, then single ones.
  bool leave_out_results() {
    bool any = false;
    for (int g = 0; g < static_cast<int>(best_.graphs.size()); ++g) {
      const auto count = [&] {
        return best_.graphs[static_cast<size_t>(g)].outputs.size() +
               best_.graphs[static_cast<size_t>(g)].updates.size();
      };
      for (size_t length = count() / 2; length > 0; length /= 2)
        for (size_t begin = 0; begin < count();)
          if (!take(without(g, begin, length)))
            begin += length;
          else
            any = true;
    }
    return any;
  }

  Edit without(int g, size_t begin, size_t length) const {
    const Graph& graph = best_.graphs[static_cast<size_t>(g)];
    Edit edit{.graph = g};
    for (size_t i = begin; i < begin + length; ++i)
      if (i < graph.outputs.size())
        edit.outputs.insert(i);
      else
        edit.updates.insert(i - graph.outputs.size());
    return edit;
  }

  // A node gives way to an operand of its type, or to an input.
  bool leave_out_nodes() {
    bool any = false;
    for (int g = 0; g < static_cast<int>(best_.graphs.size() + best_.bodies.size()); ++g)
      for (size_t i = 0; i < nodes(g);)
        if (leave_out_node(g, i))
          any = true;
        else
          ++i;
    return any;
  }

  bool leave_out_node(int g, size_t position) {
    const Graph& all = graph(g);
    const Node n = all[all.order[position]];
    Edit cut{.graph = g};
    cut.cut.insert(n.results.begin(), n.results.end());
    if (!all.body && take(cut)) return true;
    std::vector<ValueId> others = n.operands;
    if (all.body) others.insert(others.end(), all.inputs.begin(), all.inputs.end());
    for (const ValueId v : others)
      if (all[v].type == all[n.results[0]].type && take({.graph = g, .replace = {{n.results[0], v}}})) return true;
    return false;
  }

  size_t nodes(int g) const {  // a body that nobody scans any more is gone
    return static_cast<size_t>(g) < best_.graphs.size() + best_.bodies.size() ? graph(g).order.size() : 0;
  }
  // Of a module's graphs, then its bodies.
  const Graph& graph(int g) const {
    const auto i = static_cast<size_t>(g);
    return i < best_.graphs.size() ? best_.graphs[i] : best_.bodies[i - best_.graphs.size()];
  }

  std::set<int64_t> sizes() const {
    std::set<int64_t> found;
    for (const Graph& g : best_.graphs)
      for (size_t v = 0; v < g.value_count(); ++v)
        for (const int64_t d : g[ValueId{static_cast<int32_t>(v)}].type.dims)
          if (d > 1) found.insert(d);
    return found;
  }

  bool shrink_sizes() {
    bool any = false;
    for (const int64_t size : sizes())
      for (const int64_t to : {int64_t{1}, int64_t{2}, size / 2, size - 1})
        if (to > 0 && to < size && take({.sizes = {{size, to}}})) {
          any = true;
          break;
        }
    return any;
  }

  bool make_plain() {
    const bool plain = take({.plain = true});
    return take({.stateless = true}) || plain;
  }

  Module best_;
  std::string kind_;
  Clock::time_point end_;
};

}  // namespace

Module reduce(Module m, const Fault& fault, double seconds) { return Reducer(std::move(m), fault, seconds).run(); }

}  // namespace heddle::testing
