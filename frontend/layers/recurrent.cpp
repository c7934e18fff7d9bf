// Recurrent layers: cells of torch.nn.RNN, GRU and LSTM, run over a sequence by scans.
//
//   {"name": "r", "op": "lstm", "in": "x", "units": 64, "out": ["all", "last", "cell"]}, x: [N,T,8]
//     -> gates = x weight_ih_l0^T + bias_ih_l0 + bias_hh_l0 of all steps, one product [T*N,8] x [8,256]
//        scan over gates: h weight_hh_l0^T is added, and the cell makes the next h and c
//
// Formulas, names, shapes and the order of gates are those of PyTorch's documentation, so its files load by name.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/layer_context.h"
#include "ir/scan.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

enum class Kind { rnn, gru, lstm };

int64_t gates_of(Kind kind) { return kind == Kind::rnn ? 1 : kind == Kind::gru ? 3 : 4; }

// Keras starts the bias of the forget gate, the second of four, with 1: what a cell holds is kept at first.
const InitializerDef& forget_gate_ones() {
  static const InitializerDef def = {.name = "zeros with a forget gate of ones",
                                     .doc = "of an LSTM's bias",
                                     .build = [](ir::Builder& b, const ir::Type& type, const Initializer&,
                                                 const std::function<ValueId(std::string_view)>&) {
                                       const auto part = [&](double value, int64_t quarters) {
                                         return b.constant(value, {type.dtype, {type.dims[0] / 4 * quarters}});
                                       };
                                       return b("concat", {part(0, 1), part(1, 1), part(0, 2)}, {{"axis", int64_t{0}}});
                                     }};
  return def;
}

struct Weights {
  ValueId hh, hr;        // hr: only with a projection
  ValueId hh_bias;       // what is left of it for the turn
  ValueId hh_candidate;  // of a gru with "reset": "before": hh holds the two gates alone
};

struct State {
  ValueId h, c;
};

class Recurrent {
 public:
  Recurrent(LayerContext& c, Kind kind) : c_(c), kind_(kind) {
    c.require_f32(0);
    c.require_rank(0, 3, 3, "a sequence [N, T, features]");
    const Dims dims = c.dims(c.in[0]);
    rows_ = dims[0];
    steps_ = dims[1];
    units_ = c.settings.integer("units");
    if (kind == Kind::lstm && c.settings.json("projection") != nullptr) projection_ = c.settings.integer("projection");
    if (projection_ >= units_)
      c.fail_setting("projection",
                     fmt::format("'projection' is {}, not below 'units', which is {}", projection_, units_),
                     "leave it out: the state then has as many numbers as there are units");
    shown_ = projection_ > 0 ? projection_ : units_;
    layers_ = c.settings.integer("layers");
    directions_ = c.settings.flag("bidirectional") ? 2 : 1;
    dropout_ = c.settings.real("dropout");
    if (dropout_ > 0 && layers_ == 1)
      c.fail_setting("dropout", "'dropout' is between layers, and there is one layer",
                     "put {\"op\": \"dropout\", \"rate\": " + fmt::format("{}", dropout_) + "} behind it");
    read_bias();
    keras_ = c.settings.text("init") == "keras";
    stateful_ = c.settings.flag("stateful");
    if (stateful_ && directions_ == 2)
      c.fail_setting("stateful", "'stateful' goes on from the last step, and one direction begins there",
                     "leave out \"bidirectional\", or \"stateful\"");
    if (steps_ > ir::kMostTurns)
      c.fail(fmt::format("the sequence has {} steps, at most {} are run", steps_, ir::kMostTurns));
    check_optional();
  }

  ir::Values build() {
    ValueId x = c_.emit("transpose", {c_.in[0]}, {{"perm", Dims{1, 0, 2}}}, "steps");
    ir::Values last_h, last_c;
    for (int64_t layer = 0; layer < layers_; ++layer) {
      if (layer > 0 && dropout_ > 0 && c_.training) x = drop(x, layer - 1);
      ir::Values sequences;
      for (int64_t direction = 0; direction < directions_; ++direction) {
        const auto [sequence, state] = run(x, layer, direction);
        sequences.push_back(sequence);
        last_h.push_back(state.h);
        last_c.push_back(state.c);
      }
      x = joined(sequences, 2);
    }
    ir::Values results{c_.emit("transpose", {x}, {{"perm", Dims{1, 0, 2}}}, "sequence"), top(last_h)};
    if (kind_ == Kind::lstm) results.push_back(top(last_c));
    if (c_.settings.flag("states")) {
      results.push_back(all(last_h, shown_));
      if (kind_ == Kind::lstm) results.push_back(all(last_c, units_));
    }
    return results;
  }

 private:
  // true, false, or "single": one vector as Keras has it.
  void read_bias() {
    const Json* given = c_.settings.json("bias");
    if (given == nullptr) return;
    if (given->kind == Json::Kind::flag) {
      biases_ = given->flag ? 2 : 0;
    } else if (given->kind == Json::Kind::text && given->text == "single") {
      biases_ = 1;
    } else {
      c_.fail_setting("bias", "'bias': expected true, false or \"single\"",
                      "true is PyTorch's two vectors, \"single\" is one vector");
    }
  }

  ValueId optional(size_t port) const { return port < c_.in.size() ? c_.in[port] : ValueId{}; }
  size_t size_port() const { return kind_ == Kind::lstm ? 3 : 2; }

  void check_optional() {
    check_start(1, "h0", shown_);
    if (kind_ == Kind::lstm) check_start(2, "c0", units_);
    const ValueId size = optional(size_port());
    if (!size.valid()) return;
    const ir::Type& type = c_.type(size);
    if (type.dims != Dims{rows_})
      c_.fail(fmt::format("'size' is the length of each row, expected {}, found {}", c_.shape_text({rows_}),
                          c_.shape_text(type.dims)),
              {}, size_port());
    if (type.dtype != ir::DType::i32 && type.dtype != ir::DType::i64)
      c_.fail(fmt::format("'size' is i32 or i64, found {}", ir::to_string(type.dtype)),
              "insert {\"op\": \"cast\", \"dtype\": \"i32\"}", size_port());
  }

  void check_start(size_t port, const char* name, int64_t width) {
    const ValueId start = optional(port);
    if (!start.valid()) return;
    c_.require_f32(port);
    const Dims whole{layers_ * directions_, rows_, width}, one{rows_, width};
    const Dims& found = c_.dims(start);
    if (found == whole || (layers_ * directions_ == 1 && found == one)) return;
    const std::string expected =
        layers_ * directions_ == 1
            ? c_.shape_text(one)
            : fmt::format("[{},{},{}], layers * directions first", whole[0],
                          c_.graph.batch_name.empty() ? std::to_string(rows_) : c_.graph.batch_name, width);
    c_.fail(
        fmt::format("'{}' is what the state starts as, expected {}, found {}", name, expected, c_.shape_text(found)),
        {}, port);
  }

  // [N, width] of one layer and direction.
  ValueId start(size_t port, const char* name, int64_t at, int64_t width) {
    ValueId given = optional(port);
    const Dims dims{rows_, width};
    if (stateful_) {
      if (given.valid())
        c_.fail(fmt::format("'{}' is where the state starts, and a stateful one goes on where it stopped", name),
                "leave out one of them", port);
      given = c_.graph.keep(fmt::format("{}.{}_l{}", c_.path, std::string_view(name).substr(0, 1), at),
                            {ir::DType::f32, dims}, c_.node.op_where);
      if (given.valid()) return given;
    }
    if (!given.valid()) return c_.constant(0, {ir::DType::f32, dims});
    if (c_.dims(given) == dims) return given;
    return c_.reshape(c_.slice(given, 0, at, at + 1, name), dims, name);
  }

  ValueId drop(ValueId x, int64_t layer) {
    const std::string name = fmt::format("drop_l{}", layer);
    return c_.emit("dropout", {x, c_.graph.counter("seed"), c_.graph.counter("step")},
                   {{"rate", dropout_}, {"stream", c_.stream("." + name)}}, name);
  }

  ValueId parameter(const std::string& name, const Dims& dims, const char* keras) {
    const double limit = 1 / std::sqrt(static_cast<double>(units_));
    Initializer init{.def = find_initializer("uniform"), .values = {{"low", -limit}, {"high", limit}}, .words = {}};
    if (keras_) init = make_initializer(keras);
    if (keras_ && kind_ == Kind::lstm && name.starts_with("bias_ih"))
      init = {.def = &forget_gate_ones(), .values = {}, .words = {}};
    return c_.parameter(name, dims, "", init, /*weight=*/false);
  }

  struct Run {
    ValueId sequence;
    State last;
  };

  // One direction of one layer; x: [T, N, features].
  Run run(ValueId x, int64_t layer, int64_t direction) {
    const std::string suffix = fmt::format("l{}{}", layer, direction == 0 ? "" : "_reverse");
    const int64_t width = gates_of(kind_) * units_, features = c_.dims(x).back();
    const ValueId ih = parameter("weight_ih_" + suffix, {width, features}, "glorot_uniform");
    Weights w;
    w.hh = parameter("weight_hh_" + suffix, {width, shown_}, "orthogonal");
    ValueId bias, second;
    if (biases_ > 0) bias = parameter("bias_ih_" + suffix, {width}, "zeros");
    if (biases_ > 1) second = parameter("bias_hh_" + suffix, {width}, "zeros");
    if (projection_ > 0) w.hr = parameter("weight_hr_" + suffix, {projection_, units_}, "glorot_uniform");

    const bool after = kind_ == Kind::gru && c_.settings.text("reset") == "after";
    if (second.valid() && !after) bias = c_.emit("add", {bias, second}, {}, "bias");
    if (second.valid() && after) w.hh_bias = second;
    if (kind_ == Kind::gru && !after) {
      w.hh_candidate = c_.slice(w.hh, 0, 2 * units_, 3 * units_, "candidate");
      w.hh = c_.slice(w.hh, 0, 0, 2 * units_, "gates");
    }
    const Dims rows{steps_ * rows_, width};
    ValueId gates = product(c_.reshape(x, {steps_ * rows_, features}, "rows"), ih);
    if (bias.valid()) gates = c_.emit("add", {gates, c_.broadcast(bias, rows)});
    gates = c_.reshape(gates, {steps_, rows_, width}, "gates");

    LoopSpec loop;
    loop.path = c_.path + "." + suffix;
    loop.count = steps_;
    loop.reverse = direction == 1;
    loop.sequences = {gates};
    const int64_t at = layer * directions_ + direction;
    loop.starts = {start(1, "h0", at, shown_)};
    if (kind_ == Kind::lstm) loop.starts.push_back(start(2, "c0", at, units_));

    loop.first = c_.b.graph.order.size();
    const State before{stand_in(loop.path + ".h", {rows_, shown_}),
                       kind_ == Kind::lstm ? stand_in(loop.path + ".c", {rows_, units_}) : ValueId{}};
    const ValueId x_gates = stand_in(loop.path + ".gates", {rows_, width});
    State next = kind_ == Kind::rnn   ? rnn(x_gates, before, w)
                 : kind_ == Kind::gru ? gru(x_gates, before, w)
                                      : lstm(x_gates, before, w);
    ValueId shown = next.h;
    if (const ValueId size = optional(size_port()); size.valid()) {
      loop.turn.index = c_.b.graph.add_input(loop.path + ".t", {c_.type(size).dtype, {}}, ir::Role::input);
      const ValueId inside = c_.emit("lt", {c_.broadcast(loop.turn.index, {rows_}), size}, {}, "inside");
      shown = kept(inside, next.h, c_.constant(0, c_.type(next.h)));
      next.h = kept(inside, next.h, before.h);
      if (before.c.valid()) next.c = kept(inside, next.c, before.c);
    }
    loop.turn.carries = {{before.h, next.h}};
    if (before.c.valid()) loop.turn.carries.push_back({before.c, next.c});
    loop.turn.slices = {x_gates};
    loop.turn.stacked = {shown};
    const ir::Values made = c_.graph.loop(loop);
    if (stateful_ && c_.training)
      for (size_t i = 0; i < loop.starts.size(); ++i) c_.graph.update(loop.starts[i], made[i]);
    return {made.back(), {made[0], before.c.valid() ? made[1] : ValueId{}}};
  }

  ValueId stand_in(const std::string& name, const Dims& dims) {
    return c_.b.graph.add_input(name, {ir::DType::f32, dims}, ir::Role::input);
  }

  ValueId kept(ValueId inside, ValueId yes, ValueId no) {
    const Dims dims = c_.dims(yes);
    const ValueId all = c_.broadcast(c_.reshape(inside, {rows_, 1}, "inside"), dims);
    return c_.emit("select", {all, yes, no}, {}, "kept");
  }

  ValueId product(ValueId x, ValueId weight) { return c_.emit("matmul", {x, weight}, {{"transpose_b", true}}, "mm"); }
  ValueId add(ValueId a, ValueId b) { return c_.emit("add", {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return c_.emit("mul", {a, b}); }
  ValueId sigmoid(ValueId v) { return c_.emit("sigmoid", {v}); }
  ValueId tanh(ValueId v) { return c_.emit("tanh", {v}); }
  ValueId gate(ValueId gates, int64_t i, const char* name) {
    return c_.slice(gates, 1, i * units_, (i + 1) * units_, name);
  }

  State rnn(ValueId x, const State& s, const Weights& w) {
    return {c_.emit(c_.settings.text("activation"), {add(x, product(s.h, w.hh))}), {}};
  }

  // h' = (1 - z) n + z h, written n + z (h - n).
  State gru(ValueId x, const State& s, const Weights& w) {
    ValueId p = product(s.h, w.hh);
    if (w.hh_bias.valid()) p = add(p, c_.broadcast(w.hh_bias, c_.dims(p)));
    const ValueId r = sigmoid(add(gate(x, 0, "x_r"), gate(p, 0, "h_r")));
    const ValueId z = sigmoid(add(gate(x, 1, "x_z"), gate(p, 1, "h_z")));
    const ValueId of_h = w.hh_candidate.valid() ? product(mul(r, s.h), w.hh_candidate) : mul(r, gate(p, 2, "h_n"));
    const ValueId n = tanh(add(gate(x, 2, "x_n"), of_h));
    return {add(n, mul(z, c_.emit("sub", {s.h, n}))), {}};
  }

  // Each gate adds its own columns: a sum of all columns would be read at four places, in a kernel of its own.
  State lstm(ValueId x, const State& s, const Weights& w) {
    const ValueId p = product(s.h, w.hh);
    const auto of = [&](int64_t i, const char* name) { return add(gate(x, i, name), gate(p, i, name)); };
    const ValueId i = sigmoid(of(0, "i")), f = sigmoid(of(1, "f"));
    const ValueId g = tanh(of(2, "g")), o = sigmoid(of(3, "o"));
    const ValueId c = add(mul(f, s.c), mul(i, g));
    const ValueId h = mul(o, tanh(c));
    return {w.hr.valid() ? product(h, w.hr) : h, c};
  }

  ValueId joined(const ir::Values& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : c_.emit("concat", parts, {{"axis", axis}}, "both");
  }

  // The top layer's, [N, directions * width].
  ValueId top(const ir::Values& states) { return joined({states.end() - directions_, states.end()}, 1); }

  // [layers * directions, N, width]
  ValueId all(const ir::Values& states, int64_t width) {
    ir::Values rows;
    for (const ValueId v : states) rows.push_back(c_.reshape(v, {1, rows_, width}, "state"));
    return joined(rows, 0);
  }

  LayerContext& c_;
  Kind kind_;
  int64_t rows_ = 0, steps_ = 0, units_ = 0, projection_ = 0, layers_ = 1, directions_ = 1;
  int64_t shown_ = 0;  // numbers of h in each row
  int biases_ = 2;
  double dropout_ = 0;
  bool keras_ = false, stateful_ = false;
};

bool is_true(const std::vector<Json>& settings, const char* key) {
  return std::ranges::any_of(settings,
                             [&](const Json& s) { return s.key == key && s.kind == Json::Kind::flag && s.flag; });
}

LayerDef layer(Kind kind, const std::string& name, const std::string& doc, std::vector<Key> own) {
  std::vector<Key> settings = {
      {.name = "units", .doc = "numbers of a layer's state", .required = true, .range = ir::between(1, 0x1p40)},
      {.name = "layers",
       .doc = "how many, each on what the one below gives",
       .fallback = int64_t{1},
       .range = ir::between(1, 64)},
      {.name = "bidirectional",
       .type = KeyType::flag,
       .doc = "also from the last step to the first",
       .fallback = false},
      {.name = "dropout",
       .type = KeyType::real,
       .doc = "share of zeros between layers",
       .fallback = 0.0,
       .range = ir::kShare},
      {.name = "bias",
       .type = KeyType::any,
       .doc = "two vectors, with \"single\" one, with false none: true",
       .hint = "true, false or \"single\""},
      {.name = "init",
       .type = KeyType::text,
       .doc = "how parameters start: as in pytorch or keras",
       .fallback = "pytorch",
       .words = {"pytorch", "keras"}},
      {.name = "stateful",
       .type = KeyType::flag,
       .doc = "in training row n goes on where row n of the batch before stopped; its gradient ends there",
       .fallback = false},
      {.name = "states", .type = KeyType::flag, .doc = "also give the states of all layers", .fallback = false}};
  settings.insert(settings.end(), own.begin(), own.end());
  const std::string rows = kind == Kind::rnn ? "" : std::to_string(gates_of(kind)) + " * ";
  std::string parameters = fmt::format(
      "weight_ih_l0 [{0}units, in], weight_hh_l0 [{0}units, units], bias_ih_l0, bias_hh_l0 [{0}units]", rows);
  if (kind == Kind::lstm) parameters += ", weight_hr_l0 [projection, units]";
  const size_t states = kind == Kind::lstm ? 2 : 1;
  return {.name = name,
          .doc = doc,
          .optional = kind == Kind::lstm ? std::vector<std::string>{"h0", "c0", "size"}
                                         : std::vector<std::string>{"h0", "size"},
          .settings = settings,
          .results = [states](const std::vector<Json>& given) -> std::optional<size_t> {
            return (1 + states) + (is_true(given, "states") ? states : 0);
          },
          .parameters = parameters,
          .build = [kind](LayerContext& c) { return Recurrent(c, kind).build(); }};
}

const RegisterLayer rnn(layer(Kind::rnn, "rnn",
                              "h = tanh(x weight_ih^T + h weight_hh^T + biases), step by step; `out` names the "
                              "sequence and the last state",
                              {{.name = "activation",
                                .type = KeyType::text,
                                .doc = "tanh or relu",
                                .fallback = "tanh",
                                .words = {"tanh", "relu"}}}));
const RegisterLayer gru(
    layer(Kind::gru, "gru", "gated recurrent units, step by step; `out` names the sequence and the last state",
          {{.name = "reset",
            .type = KeyType::text,
            .doc = "what the reset gate multiplies: the product of the state (after) or the state (before)",
            .fallback = "after",
            .words = {"after", "before"}}}));
const RegisterLayer lstm(
    layer(Kind::lstm, "lstm",
          "long short-term memory, step by step; `out` names the sequence, the last state and the last cell",
          {{.name = "projection", .doc = "numbers of h, made of the units by weight_hr", .range = ir::at_least(1)}}));

}  // namespace
}  // namespace heddle::frontend
