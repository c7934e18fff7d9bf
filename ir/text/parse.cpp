#include "ir/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/builder.h"
#include "ir/scalars.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"
#include "ir/text/token_reader.h"

namespace heddle::ir {
namespace {

using Kind = Token::Kind;

class Parser {
 public:
  explicit Parser(const SourceFile& file) : in_(file) {}

  Module run() {
    while (!in_.at_end()) {
      try {
        top_level();
      } catch (const UserError& error) {
        errors_.add(error);
        while (!in_.at_end() && !starts_top_level(in_.peek())) in_.take();
      }
    }
    errors_.throw_if_any();
    return std::move(module_);
  }

 private:
  // --- top level ---
  static bool starts_top_level(const Token& t) {
    return t.kind == Kind::word && (t.text == "graph" || t.text == "kernel" || t.text == "body" || t.text == "group");
  }

  void top_level() {
    if (in_.accept("group")) return group();
    if (in_.accept("graph")) return graph(What::graph);
    if (in_.accept("kernel")) return graph(What::kernel);
    if (in_.accept("body")) return graph(What::body);
    in_.fail_expected("'graph', 'kernel', 'body' or 'group'");
  }

  std::optional<Role> role(std::initializer_list<Role> roles) {
    for (const Role r : roles)
      if (in_.accept(to_string(r))) return r;
    return std::nullopt;
  }
  std::optional<Role> role() {
    return role({Role::input, Role::param, Role::buffer, Role::state, Role::cursor, Role::ring});
  }

  void group() {
    StateGroup out;
    out.name = in_.expect(Kind::symbol, "a name like @params").text;
    in_.expect("{");
    while (!in_.accept("}")) {
      const auto r = role({Role::param, Role::buffer, Role::state});
      if (!r) in_.fail_expected("'param', 'buffer' or 'state'");
      const Declaration d = in_.declaration();
      out.members.push_back({d.name.text, d.type, *r, d.offset, d.layout});
    }
    module_.groups.push_back(std::move(out));
  }

  enum class What { graph, kernel, body };

  void graph(What what) {
    const bool kernel = what == What::kernel;
    Graph g;
    g.body = what == What::body;
    const Token name = in_.expect(Kind::symbol, "a name like @f");
    g.name = name.text;
    if (module_.find_graph(g.name) != nullptr || module_.find_kernel(g.name) != nullptr ||
        module_.find_body(g.name) != nullptr)
      throw UserError(name.where, fmt::format("@{} is defined twice", g.name));
    lost_.clear();
    faulty_ = false;
    places_.clear();
    lost_kernels_.insert(g.name);  // until its end is reached
    in_.list("(", ")", [&] { parameter(g, kernel); });
    if (kernel) g.schedule = KernelSchedule{};
    if (in_.peek(1).kind == Kind::word && in_.peek(2).text == "=" && in_.is("{")) header(g, name.where);
    in_.expect("{");
    while (!in_.is("return")) statement(g);
    in_.take();
    if (!in_.is("}")) do
        g.outputs.push_back(value(g));
      while (in_.accept(","));
    in_.expect("}");
    set_places(g);
    if (g.body && !faulty_)
      for (const std::string& problem : body_problems(g))
        throw UserError(name.where, fmt::format("body @{}: {}", g.name, problem));
    lost_kernels_.erase(g.name);
    (kernel ? module_.kernels : g.body ? module_.bodies : module_.graphs).push_back(std::move(g));
  }

  void header(Graph& g, const Location& where) {
    std::map<std::string, Location> wheres;
    Attrs a = in_.attrs(&wheres);
    if (const auto it = a.find("arena"); it != a.end() && !g.schedule) {
      const auto* bytes = std::get_if<int64_t>(&it->second);
      if (bytes == nullptr || *bytes < 0)
        throw UserError(wheres["arena"], fmt::format("arena is a number of bytes, got {}", to_string(it->second)));
      g.arena_bytes = *bytes;
      a.erase(it);
    }
    if (!g.schedule && !a.empty())
      throw UserError(wheres[a.begin()->first], fmt::format("a graph has no attribute '{}'", a.begin()->first),
                      did_you_mean(a.begin()->first, {"arena"}));
    try {
      if (g.schedule) g.schedule = schedule_from_attrs(a);
    } catch (const InferError& error) {
      throw UserError(where, fmt::format("kernel @{}: {}", g.name, error.what()));
    }
  }

  void scalar(Graph& g, bool kernel) {
    const Token name = in_.take();
    if (!kernel) throw UserError(name.where, fmt::format("a graph takes no scalar like {}", name.text));
    in_.expect(":");
    const Scalar s{name.text.substr(1), in_.dtype()};
    if (is_taken(g.scalars, s.name)) throw UserError(name.where, fmt::format("the name {} is taken", name.text));
    g.scalars.push_back(s);
  }

  static void require_no_layout(const Declaration& d) {
    if (!d.layout.empty())
      throw UserError(d.name.where, fmt::format("%{} is no state: only states have a layout", d.name.text));
  }

  void parameter(Graph& g, bool kernel) {
    if (in_.is_scalar()) return scalar(g, kernel);
    const auto r = g.body ? role({Role::fixed, Role::carry, Role::slice, Role::index}) : role();
    if (!kernel && !r)
      in_.fail_expected(g.body ? "'fixed', 'carry', 'slice' or 'index'"
                               : "'input', 'param', 'buffer', 'state', 'cursor' or 'ring'");
    const Declaration d = in_.declaration();
    if (g.find(d.name.text).valid()) throw UserError(d.name.where, fmt::format("%{} is defined twice", d.name.text));
    const Role as = kernel ? Role::none : *r;
    if (as == Role::none || as == Role::input || as == Role::cursor || as == Role::ring || g.body) require_no_layout(d);
    places_.emplace_back(g.add_input(d.name.text, d.type, as, d.layout), d);
  }

  // --- statements ---
  // After an error, parsing continues at the next line. The values that the line would have defined are recorded, so
  // that their uses are not reported as errors too.
  void statement(Graph& g) {
    const int line = in_.peek().line;
    const size_t begin = in_.position();
    try {
      if (in_.accept("update")) return update(g);
      if (in_.peek().kind != Kind::value) in_.fail_expected("a value, 'update' or 'return'");
      node(g);
    } catch (const UserError& error) {
      errors_.add(error);
      faulty_ = true;
      for (size_t i = begin;; ++i) {
        const Token& t = in_.token(i);
        if (t.kind != Kind::value && t.text == "=") break;
        if (t.kind == Kind::value) lost_.insert(t.text);
        if (t.line != line || t.kind == Kind::end) break;
      }
      while (!in_.at_end() && in_.peek().line == line) in_.take();
      if (in_.at_end()) throw UserError(in_.peek().where, fmt::format("@{} is not closed", g.name));
    }
  }

  ValueId value(const Graph& g) {
    const Token t = in_.expect(Kind::value, "a value like %x");
    const ValueId v = g.find(t.text);
    if (v.valid()) return v;
    if (lost_.count(t.text)) errors_.throw_if_any();
    std::vector<std::string> names;
    for (size_t i = 0; i < g.value_count(); ++i) names.push_back(g[ValueId{static_cast<int32_t>(i)}].name);
    throw UserError(t.where, fmt::format("%{} is not defined", t.text), did_you_mean(t.text, names));
  }

  void update(Graph& g) {
    const Location where = in_.peek().where;
    const ValueId state = value(g);
    if (!is_state(g[state]))
      throw UserError(where,
                      fmt::format("%{} is not {}", g[state].name, g.body ? "a carry" : "a param, a buffer or a state"));
    if (g.updates.has_state(state)) throw UserError(where, fmt::format("%{} is updated twice", g[state].name));
    in_.expect("<-");
    const ValueId next = value(g);
    if (g[state].type != g[next].type)
      throw UserError(where, fmt::format("update of {} by {}", to_string(g[state].type), to_string(g[next].type)));
    g.updates.push_back({state, next});
  }

  void node(Graph& g) {
    std::vector<Declaration> results;
    do {
      results.push_back(in_.declaration());
      require_no_layout(results.back());
    } while (in_.accept(","));
    in_.expect("=");
    const Token op_name = in_.expect(Kind::word, "an operator");
    const OpDef* op = find_op(op_name.text);
    if (op == nullptr)
      throw UserError(op_name.where, fmt::format("unknown operator '{}'", op_name.text),
                      did_you_mean(op_name.text, op_names()));
    const bool call = std::holds_alternative<Call>(op->kind), scan = std::holds_alternative<Scan>(op->kind);
    const Token callee = call   ? in_.expect(Kind::symbol, "a kernel like @k")
                         : scan ? in_.expect(Kind::symbol, "a body like @cell")
                                : Token{};
    std::vector<ValueId> operands;
    in_.list("(", ")", [&] { operands.push_back(value(g)); });
    Attrs a = in_.is("{") ? in_.attrs() : Attrs{};
    try {
      a = call ? canonical_call_attrs(*op, kernel(callee), std::move(a)) : canonical_attrs(*op, std::move(a));
      if (call && !kernel(callee).scalars.empty())
        bind_scalars(kernel(callee), a);  // throws where a number has no place
      check_types(call   ? kernel_types(g, callee, operands)
                  : scan ? scan_types(module_, body(callee), types(g, operands), a)
                         : infer_types(*op, types(g, operands), a),
                  results, *op);
      add(g, *op, operands, std::move(a), results, callee.text, op_name.where);
    } catch (const InferError& error) {
      throw UserError(op_name.where, error.what());
    }
  }

  static std::vector<Type> types(const Graph& g, const std::vector<ValueId>& values) {
    std::vector<Type> out;
    out.reserve(values.size());
    for (const ValueId v : values) out.push_back(g[v].type);
    return out;
  }

  const Graph& kernel(const Token& callee) {
    const Graph* k = module_.find_kernel(callee.text);
    if (k == nullptr && lost_kernels_.contains(callee.text)) errors_.throw_if_any();
    if (k == nullptr) throw UserError(callee.where, fmt::format("no kernel @{} above", callee.text));
    return *k;
  }

  const Graph& body(const Token& callee) {
    const Graph* b = module_.find_body(callee.text);
    if (b == nullptr && lost_kernels_.contains(callee.text)) errors_.throw_if_any();
    if (b == nullptr) throw UserError(callee.where, fmt::format("no body @{} above", callee.text));
    return *b;
  }

  std::vector<Type> kernel_types(const Graph& g, const Token& callee, const std::vector<ValueId>& operands) {
    const Graph& k = kernel(callee);
    if (types(k, k.inputs) != types(g, operands))
      throw InferError(fmt::format("operands do not fit kernel @{}", callee.text));
    return types(k, k.outputs);
  }

  static void check_types(const std::vector<Type>& inferred, const std::vector<Declaration>& written, const OpDef& op) {
    if (inferred.size() != written.size())
      throw UserError(written[0].name.where,
                      fmt::format("{} has {} results, {} are named", op.name, inferred.size(), written.size()));
    for (size_t i = 0; i < inferred.size(); ++i)
      if (inferred[i] != written[i].type)
        throw UserError(written[i].name.where,
                        fmt::format("%{} is written as {}, but {} gives {}", written[i].name.text,
                                    to_string(written[i].type), op.name, to_string(inferred[i])));
  }

  void add(Graph& g, const OpDef& op, const std::vector<ValueId>& operands, Attrs a,
           const std::vector<Declaration>& results, const std::string& callee, const Location& where) {
    std::vector<std::string> names;
    std::vector<Type> result_types;
    for (const Declaration& d : results) {
      if (g.find(d.name.text).valid()) throw UserError(d.name.where, fmt::format("%{} is defined twice", d.name.text));
      names.push_back(d.name.text);
      result_types.push_back(d.type);
    }
    const NodeId n = g.add_node(op, operands, std::move(a), names, result_types, where);
    g[n].callee = callee;
    if (callee.empty()) check_scalars(g, g[n]);
    for (size_t i = 0; i < results.size(); ++i) places_.emplace_back(g[n].results[i], results[i]);
  }

  // Places may name values that are defined later (an operand inside its concat), so they are set at the end.
  void set_places(Graph& g) {
    for (const auto& [v, d] : places_) {
      if (d.offset < 0) continue;
      g[v].place.offset = d.offset;
      if (d.base.kind != Kind::value) continue;
      g[v].place.base = g.find(d.base.text);
      if (!g[v].place.base.valid()) throw UserError(d.base.where, fmt::format("%{} is not defined", d.base.text));
    }
  }

  TokenReader in_;
  Module module_;
  Diagnostics errors_;
  bool faulty_ = false;                        // a line of the graph that is being read
  std::set<std::string> lost_, lost_kernels_;  // what faulty lines, kernels and bodies would have defined
  std::vector<std::pair<ValueId, Declaration>> places_;
};

}  // namespace

Module parse(const SourceFile& file) { return Parser(file).run(); }

}  // namespace heddle::ir
