#include "tools/driver/memory_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/op_def.h"
#include "ir/storage/storage.h"

namespace heddle::driver {
namespace {

using namespace ir;

using Names = std::set<std::string, std::less<>>;

// The longest path that the name begins with: "h.0.fc" of "h.0.fc.add"; empty where there is none.
std::string owner_of(std::string_view name, const Names& paths) {
  while (!paths.contains(name)) {
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    name = name.substr(0, dot);
  }
  return std::string(name);
}

int64_t sum(const std::vector<MemoryPart>& parts) {
  return std::accumulate(parts.begin(), parts.end(), int64_t{0},
                         [](int64_t total, const MemoryPart& part) { return total + part.bytes; });
}

std::vector<MemoryPart> state_parts(const codegen::Program& program) {
  Names parameters;
  for (const codegen::Buffer& b : program.states)
    if (b.role == codegen::BufferRole::param) parameters.insert(b.name);
  std::vector<MemoryPart> parts = {{"parameters"}, {"buffers"}, {"optimizer"}, {"counters and totals"}};
  for (const codegen::Buffer& b : program.states) {
    const bool of_parameter = b.role == codegen::BufferRole::state && !owner_of(b.name, parameters).empty();
    const size_t part = b.role == codegen::BufferRole::param ? 0 : b.role == codegen::BufferRole::buffer ? 1 : 3;
    parts[of_parameter ? 2 : part].bytes += b.bytes;
  }
  parts.back().bytes += program.state_bytes - sum(parts);  // what reads the data, and gaps
  return parts;
}

// The values of a graph, and of the bodies that run where it takes most, by what they are.
class Arena {
 public:
  Arena(const Compiled& compiled, const std::vector<std::string>& nodes)
      : m_(compiled.module), nodes_(nodes.begin(), nodes.end()) {
    for (const frontend::PlannedInput& input : compiled.plan.inputs) inputs_.insert(input.name);
    for (const codegen::Buffer& b : compiled.program.states)
      if (b.role == codegen::BufferRole::param) parameters_.insert(b.name);
    for (const StateGroup& group : m_.groups) parameters_.insert(group.name);
  }

  void add(const Graph& g) {
    const std::vector<ArenaItem> items = arena_items(m_, g);
    const int64_t step = fullest_step(g, items);
    int64_t live = 0;
    for (const ArenaItem& item : items) {
      int64_t bytes = 0;
      for (const Interval& part : live_parts({item}))
        if (step >= part.begin && step < part.end) bytes += part.bytes;
      if (bytes == 0) continue;
      live += bytes;
      if (item.root.valid())
        add_value(g[item.root], bytes);
      else
        add_call(g[item.call], bytes);
    }
    parts_["gaps"] += g.arena_bytes - live;
    if (live > 0) name_peak(g, step);
  }

  std::string peak;
  std::vector<MemoryPart> parts() const {
    std::vector<MemoryPart> list;
    for (const char* name : {"activations", "computed again", "gradients", "gradients of results", "rows",
                             "of parameters", "others", "scratch", "gaps"})
      if (const auto found = parts_.find(name); found != parts_.end() && found->second > 0)
        list.push_back({name, found->second});
    return list;
  }
  std::vector<MemoryPart> layers() const {
    std::vector<MemoryPart> list;
    for (const auto& [path, bytes] : layers_) list.push_back({path, bytes});
    std::ranges::stable_sort(list, std::ranges::greater(), &MemoryPart::bytes);
    return list;
  }

 private:
  static int64_t fullest_step(const Graph& g, const std::vector<ArenaItem>& items) {
    std::vector<int64_t> change(g.order.size() + 2, 0);
    for (const Interval& part : live_parts(items)) {
      change[static_cast<size_t>(part.begin)] += part.bytes;
      change[static_cast<size_t>(part.end)] -= part.bytes;
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    return std::ranges::max_element(change) - change.begin();
  }

  // Of the innermost body.
  void name_peak(const Graph& g, int64_t step) {
    if (!peak.empty() || step >= std::ssize(g.order)) return;
    const Node& n = g[g.order[static_cast<size_t>(step)]];
    if (!n.results.empty()) peak = g[n.results[0]].name;
  }

  // By the names that the frontend and differentiate give.
  std::string part_of(const std::string& name) const {
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (has(".grad"))
      return parameters_.contains(std::string_view(name).substr(0, name.find(".grad"))) ? "gradients"
                                                                                        : "gradients of results";
    if (has(".vjp")) return "gradients of results";
    if (has(".again")) return "computed again";
    if (!owner_of(name, inputs_).empty()) return "rows";
    if (!owner_of(name, parameters_).empty()) return "of parameters";
    return owner_of(name, nodes_).empty() ? "others" : "activations";
  }

  void add_value(const Value& v, int64_t bytes) {
    const std::string part = part_of(v.name);
    parts_[part] += bytes;
    if (part == "activations") layers_[owner_of(v.name, nodes_)] += bytes;
  }

  void add_call(const Node& n, int64_t bytes) {
    const Graph* body = std::holds_alternative<Scan>(n.op->kind) ? m_.find_body(n.callee) : nullptr;
    if (body == nullptr) {
      parts_["scratch"] += bytes;
      return;
    }
    add(*body);
    parts_["gaps"] += bytes - std::max<int64_t>(body->arena_bytes, 0);
  }

  const Module& m_;
  Names nodes_, parameters_, inputs_;
  std::map<std::string, int64_t> parts_, layers_;
};

}  // namespace

MemoryParts memory_parts(const Compiled& compiled, const std::vector<std::string>& nodes) {
  MemoryParts made;
  made.state = state_parts(compiled.program);
  const Graph* largest = nullptr;
  for (const Graph& g : compiled.module.graphs)
    if (largest == nullptr || g.arena_bytes > largest->arena_bytes) largest = &g;
  if (largest == nullptr) return made;
  Arena arena(compiled, nodes);
  arena.add(*largest);
  made.entry = largest->name;
  made.peak = arena.peak;
  made.arena = arena.parts();
  made.layers = arena.layers();
  return made;
}

}  // namespace heddle::driver
