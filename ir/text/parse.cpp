#include "ir/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "ir/builder.h"
#include "ir/scalars.h"
#include "ir/storage.h"
#include "ir/text/lexer.h"

namespace heddle::ir {
namespace {

using Kind = Token::Kind;

constexpr int64_t kMaxDim = int64_t{1} << 40;
constexpr int64_t kMaxElements = int64_t{1} << 48;

struct Declaration {
  Token name;
  Type type;
  Layout layout;
  Token base;           // of `at %base + offset`; Kind::end: none
  int64_t offset = -1;  // -1: no place
};

class Parser {
 public:
  explicit Parser(const SourceFile& file) : tokens_(tokenize(file)) {}

  Module run() {
    while (peek().kind != Kind::end) {
      try {
        top_level();
      } catch (const UserError& error) {
        errors_.add(error);
        while (peek().kind != Kind::end && !starts_top_level(peek())) ++at_;
      }
    }
    errors_.throw_if_any();
    return std::move(module_);
  }

 private:
  // --- tokens ---
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view text) const {
    return (peek().kind == Kind::punctuation || peek().kind == Kind::word) && peek().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    take();
    return true;
  }
  static std::string shown(const Token& t) {
    if (t.kind == Kind::end) return "end of file";
    return fmt::format("'{}{}'", t.kind == Kind::value ? "%" : t.kind == Kind::symbol ? "@" : "", t.text);
  }
  [[noreturn]] void fail_expected(std::string_view what) const {
    throw UserError(peek().where, fmt::format("expected {}, got {}", what, shown(peek())));
  }
  Token expect(Kind kind, std::string_view what) {
    if (peek().kind != kind) fail_expected(what);
    return take();
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail_expected(fmt::format("'{}'", text));
  }
  static bool starts_top_level(const Token& t) {
    return t.kind == Kind::word && (t.text == "graph" || t.text == "kernel" || t.text == "group");
  }

  // --- pieces ---
  int64_t integer(std::string_view what) {
    const Token t = expect(Kind::number, what);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    if (error != std::errc() || end != t.text.data() + t.text.size())
      throw UserError(t.where, fmt::format("expected {}, got {}", what, shown(t)));
    return value;
  }

  template <class Item>
  void list(std::string_view open, std::string_view close, Item item) {
    expect(open);
    if (accept(close)) return;
    do {
      item();
    } while (accept(","));
    expect(close);
  }

  DType dtype() {
    const Token name = expect(Kind::word, "a type like f32[64,128]");
    if (const auto dtype = parse_dtype(name.text)) return *dtype;
    std::vector<std::string> names;
    for (const DType d : all_dtypes()) names.push_back(to_string(d));
    throw UserError(name.where, fmt::format("unknown element type '{}'", name.text), did_you_mean(name.text, names));
  }

  Type type() {
    Type t{dtype(), {}};
    int64_t elements = 1;
    list("[", "]", [&] {
      const Location where = peek().where;
      const int64_t d = integer("a dimension");
      if (d < 1 || d > kMaxDim || (elements > kMaxElements / d))
        throw UserError(where, fmt::format("dimension {} is out of range", d));
      elements *= d;
      t.dims.push_back(d);
    });
    return t;
  }

  Declaration declaration() {
    Declaration d{.name = expect(Kind::value, "a value like %x"), .type = {}, .layout = {}, .base = {}, .offset = -1};
    expect(":");
    d.type = type();
    if (is("layout")) d.layout = layout(d.type);
    if (!accept("at")) return d;
    if (peek().kind != Kind::value) {
      d.offset = integer("an offset");
      return d;
    }
    d.base = take();
    d.offset = accept("+") ? integer("an offset") : 0;
    return d;
  }

  Layout layout(const Type& type) {
    const Location where = take().where;
    Layout axes;
    list("[", "]", [&] { axes.push_back(integer("an axis")); });
    if (axes.empty() || !is_layout(axes, type.rank()))
      throw UserError(where,
                      fmt::format("layout {} is no permutation of the axes of {}", to_string(axes), to_string(type)));
    return axes;
  }

  Attr attr_value() {
    if (accept("true")) return true;
    if (accept("false")) return false;
    if (peek().kind == Kind::string) return take().text;
    if (is("[")) {
      std::vector<int64_t> items;
      list("[", "]", [&] { items.push_back(integer("an integer")); });
      return items;
    }
    if (accept("inf")) return std::numeric_limits<double>::infinity();
    if (accept("nan")) return std::numeric_limits<double>::quiet_NaN();
    if (is_scalar(peek())) return ScalarName(take().text.substr(1));
    // A bare word is a text, so that `form = rows` reads well.
    if (peek().kind == Kind::word) return take().text;
    const Token t = expect(Kind::number, "an attribute value");
    if (t.text == "-inf") return -std::numeric_limits<double>::infinity();
    const char* const end = t.text.data() + t.text.size();
    if (t.text.find_first_of(".eE") == std::string::npos) {
      int64_t value = 0;
      if (std::from_chars(t.text.data(), end, value).ec != std::errc())
        throw UserError(t.where, "integer does not fit in 64 bits");
      return value;
    }
    double value = 0;
    if (std::from_chars(t.text.data(), end, value).ptr != end)
      throw UserError(t.where, "expected a number, got " + shown(t));
    return value;
  }

  // `wheres` takes the places of the names.
  Attrs attrs(std::map<std::string, Location>* wheres = nullptr) {
    Attrs out;
    list("{", "}", [&] {
      const Token name = expect(Kind::word, "an attribute's name");
      if (wheres) wheres->emplace(name.text, name.where);
      expect("=");
      if (!out.emplace(name.text, attr_value()).second)
        throw UserError(name.where, fmt::format("attribute '{}' is given twice", name.text));
    });
    return out;
  }

  // --- top level ---
  void top_level() {
    if (accept("group")) return group();
    if (accept("graph")) return graph(false);
    if (accept("kernel")) return graph(true);
    fail_expected("'graph', 'kernel' or 'group'");
  }

  std::optional<Role> role() {
    for (const Role r : {Role::input, Role::param, Role::buffer, Role::state})
      if (accept(to_string(r))) return r;
    return std::nullopt;
  }

  void group() {
    StateGroup out;
    out.name = expect(Kind::symbol, "a name like @params").text;
    expect("{");
    while (!accept("}")) {
      const auto r = role();
      if (!r || *r == Role::input) fail_expected("'param', 'buffer' or 'state'");
      const Declaration d = declaration();
      out.members.push_back({d.name.text, d.type, *r, d.offset, d.layout});
    }
    module_.groups.push_back(std::move(out));
  }

  void graph(bool kernel) {
    Graph g;
    const Token name = expect(Kind::symbol, "a name like @f");
    g.name = name.text;
    if (module_.find_graph(g.name) != nullptr || module_.find_kernel(g.name) != nullptr)
      throw UserError(name.where, fmt::format("@{} is defined twice", g.name));
    lost_.clear();
    places_.clear();
    lost_kernels_.insert(g.name);  // until its end is reached
    list("(", ")", [&] { parameter(g, kernel); });
    if (kernel) g.form = KernelForm{};
    if (peek(1).kind == Kind::word && peek(2).text == "=" && is("{")) header(g, name.where);
    expect("{");
    while (!is("return")) statement(g);
    take();
    if (!is("}")) do
        g.outputs.push_back(value(g));
      while (accept(","));
    expect("}");
    set_places(g);
    lost_kernels_.erase(g.name);
    (kernel ? module_.kernels : module_.graphs).push_back(std::move(g));
  }

  void header(Graph& g, const Location& where) {
    std::map<std::string, Location> wheres;
    Attrs a = attrs(&wheres);
    if (const auto it = a.find("arena"); it != a.end() && !g.form) {
      const auto* bytes = std::get_if<int64_t>(&it->second);
      if (bytes == nullptr || *bytes < 0)
        throw UserError(wheres["arena"], fmt::format("arena is a number of bytes, got {}", to_string(it->second)));
      g.arena_bytes = *bytes;
      a.erase(it);
    }
    if (!g.form && !a.empty())
      throw UserError(wheres[a.begin()->first], fmt::format("a graph has no attribute '{}'", a.begin()->first),
                      did_you_mean(a.begin()->first, {"arena"}));
    try {
      if (g.form) g.form = form_from_attrs(a);
    } catch (const InferError& error) {
      throw UserError(where, fmt::format("kernel @{}: {}", g.name, error.what()));
    }
  }

  static bool is_scalar(const Token& t) { return t.kind == Kind::word && t.text.size() > 1 && t.text[0] == '$'; }

  void scalar(Graph& g, bool kernel) {
    const Token name = take();
    if (!kernel) throw UserError(name.where, fmt::format("a graph takes no scalar like {}", name.text));
    expect(":");
    const Scalar s{name.text.substr(1), dtype()};
    if (is_taken(g.scalars, s.name)) throw UserError(name.where, fmt::format("the name {} is taken", name.text));
    g.scalars.push_back(s);
  }

  static void require_no_layout(const Declaration& d) {
    if (!d.layout.empty())
      throw UserError(d.name.where, fmt::format("%{} is no state: only states have a layout", d.name.text));
  }

  void parameter(Graph& g, bool kernel) {
    if (is_scalar(peek())) return scalar(g, kernel);
    const auto r = role();
    if (!kernel && !r) fail_expected("'input', 'param', 'buffer' or 'state'");
    const Declaration d = declaration();
    if (g.find(d.name.text).valid()) throw UserError(d.name.where, fmt::format("%{} is defined twice", d.name.text));
    const Role as = kernel ? Role::none : *r;
    if (as == Role::none || as == Role::input) require_no_layout(d);
    places_.emplace_back(g.add_input(d.name.text, d.type, as, d.layout), d);
  }

  // --- statements ---
  // An error skips to the next line; what the line would have defined is remembered, so that its uses are not errors
  // too.
  void statement(Graph& g) {
    const int line = peek().line;
    const size_t begin = at_;
    try {
      if (accept("update")) return update(g);
      if (peek().kind != Kind::value) fail_expected("a value, 'update' or 'return'");
      node(g);
    } catch (const UserError& error) {
      errors_.add(error);
      for (size_t i = begin; tokens_[i].kind == Kind::value || tokens_[i].text != "="; ++i) {
        if (tokens_[i].kind == Kind::value) lost_.insert(tokens_[i].text);
        if (tokens_[i].line != line || tokens_[i].kind == Kind::end) break;
      }
      while (peek().kind != Kind::end && peek().line == line) ++at_;
      if (peek().kind == Kind::end) throw UserError(peek().where, fmt::format("@{} is not closed", g.name));
    }
  }

  ValueId value(const Graph& g) {
    const Token t = expect(Kind::value, "a value like %x");
    const ValueId v = g.find(t.text);
    if (v.valid()) return v;
    if (lost_.count(t.text)) errors_.throw_if_any();
    std::vector<std::string> names;
    for (size_t i = 0; i < g.value_count(); ++i) names.push_back(g[ValueId{static_cast<int32_t>(i)}].name);
    throw UserError(t.where, fmt::format("%{} is not defined", t.text), did_you_mean(t.text, names));
  }

  void update(Graph& g) {
    const Location where = peek().where;
    const ValueId state = value(g);
    if (!is_state(g[state]))
      throw UserError(where, fmt::format("%{} is not a param, a buffer or a state", g[state].name));
    expect("<-");
    const ValueId next = value(g);
    if (g[state].type != g[next].type)
      throw UserError(where, fmt::format("update of {} by {}", to_string(g[state].type), to_string(g[next].type)));
    g.updates.push_back({state, next});
  }

  void node(Graph& g) {
    std::vector<Declaration> results;
    do {
      results.push_back(declaration());
      require_no_layout(results.back());
    } while (accept(","));
    expect("=");
    const Token op_name = expect(Kind::word, "an operator");
    const OpDef* op = find_op(op_name.text);
    if (op == nullptr)
      throw UserError(op_name.where, fmt::format("unknown operator '{}'", op_name.text),
                      did_you_mean(op_name.text, op_names()));
    const bool call = std::holds_alternative<Call>(op->kind);
    const Token callee = call ? expect(Kind::symbol, "a kernel like @k") : Token{};
    std::vector<ValueId> operands;
    list("(", ")", [&] { operands.push_back(value(g)); });
    Attrs a = is("{") ? attrs() : Attrs{};
    try {
      a = call ? canonical_call_attrs(*op, kernel(callee), std::move(a)) : canonical_attrs(*op, std::move(a));
      if (call && !kernel(callee).scalars.empty())
        bind_scalars(kernel(callee), a);  // throws where a number has no place
      check_types(call ? kernel_types(g, callee, operands) : infer_types(*op, types(g, operands), a), results, *op);
      add(g, *op, operands, std::move(a), results, call ? callee.text : "", op_name.where);
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

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Module module_;
  Diagnostics errors_;
  std::set<std::string> lost_, lost_kernels_;
  std::vector<std::pair<ValueId, Declaration>> places_;
};

}  // namespace

Module parse(const SourceFile& file) { return Parser(file).run(); }

}  // namespace heddle::ir
