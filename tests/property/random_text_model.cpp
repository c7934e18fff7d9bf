#include "tests/property/random_text_model.h"

#include <fmt/format.h>

#include <random>
#include <utility>
#include <vector>

namespace heddle::testing {
namespace {

class Drawer {
 public:
  explicit Drawer(uint32_t seed) : random_(seed), documents_(seed % 5 == 4) {
    rows_ = 2 + below(2), tokens_ = 2 + below(6), width_ = pick<int64_t>({4, 6, 8, 12}), vocabulary_ = 3 + below(7);
  }

  RandomTextModel draw() {
    std::string x = node("embedding", "text", fmt::format(R"("vocab": {}, "units": {})", vocabulary_, width_));
    const std::string table = x + ".weight";
    if (chance(60)) x = positions(x);
    for (int64_t layers = 1 + below(3); layers > 0; --layers) x = layer(x, true);
    if (chance(30)) x = norm(x);
    const std::string logits = chance(25) ? node_of_list("matmul", {x, table}, R"("transpose_b": true)")
                                          : node("dense", x, fmt::format(R"("units": {})", vocabulary_));
    return {fmt::format(R"({{"format": "heddle-model/1", "name": "m", "blocks": {{{4}}},
  "inputs": {{"text": {{"shape": ["N", {0}], "dtype": "i32"}}, "next": {{"shape": ["N", {0}], "dtype": "i32"}}}},
  "nodes": [{1}],
  "outputs": {{"logits": "{2}"}},
  "train": {{"batch": {{"N": {3}}}, "steps": 1, "loss": {{"op": "cross_entropy", "in": ["{2}", "next"]}}, "optimizer": "sgd"}}}})",
                        tokens_, nodes_, logits, rows_, blocks_),
            rows_, tokens_, vocabulary_};
  }

 private:
  int64_t below(int64_t bound) { return static_cast<int64_t>(random_()) % bound; }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(std::ssize(list)))];
  }
  std::string some(int percent, const std::string& setting) { return chance(percent) ? ", " + setting : ""; }
  std::string number(const char* key, int64_t low, int64_t high) {
    return fmt::format(R"("{}": {})", key, low + below(high - low + 1));
  }

  void write(const std::string& text) { nodes_ += (nodes_.empty() ? "" : ",\n    ") + text; }
  std::string fresh() { return fmt::format("n{}", count_++); }
  std::string node_in(const std::string& op, const std::string& in, const std::string& settings) {
    std::string name = fresh();
    write(fmt::format(R"({{"name": "{}", "op": "{}", "in": {}{}{}}})", name, op, in, settings.empty() ? "" : ", ",
                      settings));
    return name;
  }
  std::string node(const std::string& op, const std::string& in, const std::string& settings = "") {
    return node_in(op, '"' + in + '"', settings);
  }
  std::string node_of_list(const std::string& op, const std::vector<std::string>& in,
                           const std::string& settings = "") {
    return node_in(op, fmt::format(R"(["{}"])", fmt::join(in, R"(", ")")), settings);
  }
  std::string dense(const std::string& x, int64_t units) {
    return node("dense", x, fmt::format(R"("units": {}{})", units, some(30, R"("bias": false)")));
  }
  std::string activated(const std::string& x) {
    return node(pick<std::string>({"gelu", "silu", "tanh", "sigmoid", "softplus", "relu"}), x);
  }

  // A table of parameters or of sines, of more rows than there are tokens, or one that is added by hand.
  std::string positions(const std::string& x) {
    switch (below(4)) {
      case 0: return node("sinusoidal_positions", x, chance(40) ? number("base", 2, 500) : "");
      case 1: return node("learned_positions", x);
      case 2: return node("learned_positions", x, fmt::format(R"("length": {})", tokens_ + below(3)));
      default: {
        const std::string table = fresh();
        write(fmt::format(R"({{"name": "{}", "op": "param", "shape": [{}, {}]}})", table, tokens_, width_));
        std::string there = chance(50) ? table : activated(table);
        if (chance(30)) {
          const std::string places = fresh();
          write(fmt::format(R"({{"name": "{}", "op": "iota", "size": {}}})", places, tokens_));
          there = node_of_list("gather", {there, places});
        }
        return node_of_list(pick<std::string>({"add", "mul"}), {x, there});
      }
    }
  }

  std::string norm(const std::string& x) {
    switch (below(3)) {
      case 0: return node("layer_norm", x, chance(30) ? R"("bias": false)" : "");
      case 1: return node("rms_norm", x);
      default: return node(pick<std::string>({"softmax", "log_softmax"}), x);
    }
  }

  // What takes [N, T, width] to [N, T, width].
  std::string layer(const std::string& x, bool outermost) {
    if (outermost && chance(25)) return repeated(x);
    const std::string read = chance(40) ? norm(x) : x;
    std::string y = part(read);
    if (chance(50)) y = node_of_list("add", {x, y});
    return chance(20) ? norm(y) : y;
  }

  std::string part(const std::string& x) {
    switch (below(8)) {
      case 0:
      case 1: return attention(x);
      case 2: return node("multi_head_attention", x, sight(divisor(width_)));
      case 3:
        return node("encoder_layer", x,
                    sight(divisor(width_)) + fmt::format(R"(, "feedforward": {})", 1 + below(12)) +
                        some(50, R"("norm_first": true)") + some(30, R"("activation": "gelu")") +
                        some(30, R"("bias": false)"));
      case 4: return recurrent(x);
      case 5: return cell(x);
      case 6: return feedforward(x);
      default: return moved(x);
    }
  }

  int64_t divisor(int64_t of) {
    std::vector<int64_t> all;
    for (int64_t d = 1; d <= of; ++d)
      if (of % d == 0) all.push_back(d);
    return pick(all);
  }

  std::string sight(int64_t heads) {
    return fmt::format(R"("heads": {}, "causal": true{})", heads, some(40, number("window", 1, tokens_ + 1)));
  }

  std::string rotary(const std::string& x, int64_t heads, int64_t width, const std::string& settings) {
    return width % 2 == 0 ? node("rotary", x, fmt::format(R"("heads": {}{})", heads, settings)) : x;
  }

  std::string attention(const std::string& x) {
    const int64_t kv = 1 + below(3), group = 1 + below(3), d = 1 + below(4), e = 1 + below(4);
    std::string q = dense(x, kv * group * d), k = dense(x, kv * d), v = dense(chance(80) ? x : activated(x), kv * e);
    if (chance(50)) {
      const std::string settings = some(40, R"("pairs": "neighbours")") + some(40, number("base", 2, 500)) +
                                   (d == 4 ? some(40, R"("width": 2)") : "");
      q = rotary(q, kv * group, d, settings), k = rotary(k, kv, d, settings);
    }
    const std::string settings = sight(kv * group) + fmt::format(R"(, "kv_heads": {})", kv) +
                                 some(30, number("scale", 1, 2)) + some(30, number("soft_cap", 1, 4)) +
                                 some(30, R"("alibi": true)");
    const std::string documents = documents_ ? R"(, "documents": "text")" : "";  // each token's own number
    return dense(
        node_in("attention", fmt::format(R"({{"q": "{}", "k": "{}", "v": "{}"{}}})", q, k, v, documents), settings),
        width_);
  }

  std::string recurrent(const std::string& x) {
    const std::string op = pick<std::string>({"rnn", "gru", "lstm"}), name = fresh(), all = fresh();
    const int64_t units = chance(50) ? width_ : 2 + below(5);
    int64_t shown = units;
    std::string settings = some(40, number("layers", 2, 3)) + some(30, R"("bias": "single")");
    if (op == "rnn") settings += some(40, R"("activation": "relu")");
    if (op == "gru") settings += some(50, R"("reset": "before")");
    if (op == "lstm" && chance(40)) {
      shown = 1 + below(units - 1);
      settings += fmt::format(R"(, "projection": {})", shown);
    }
    write(fmt::format(R"({{"name": "{0}", "op": "{1}", "in": "{2}", "units": {3}{4}, "out": ["{5}", "{0}_last"{6}]}})",
                      name, op, x, units, settings, all, op == "lstm" ? fmt::format(R"(, "{}_cell")", name) : ""));
    return shown == width_ ? all : dense(all, width_);
  }

  // A scan of a block: its carries begin with zeros or a parameter, and it reads another one in each step.
  std::string cell(const std::string& x) {
    const std::string block = fmt::format("cell{}", count_++), name = fresh();
    std::string all = fresh();
    const bool two = chance(50), captured = chance(40);
    std::string start = fmt::format(R"(["N", {}])", width_), in = fmt::format(R"("v": "{}")", x);
    const auto parameter = [&](const std::string& dims) {
      std::string made = fresh();
      write(fmt::format(R"({{"name": "{}", "op": "param", "shape": [{}]}})", made, dims));
      return made;
    };
    if (chance(40)) {
      const std::string first = parameter(fmt::format("1, {}", width_));
      start = '"' + node("broadcast_to", first, fmt::format(R"("shape": ["N", {}])", width_)) + '"';
    }
    if (captured) in += fmt::format(R"(, "w": "{}")", parameter(std::to_string(width_)));
    const std::string bounded = pick<std::string>({"tanh", "sigmoid", "softmax", "layer_norm"});
    blocks_ += fmt::format(
        R"({0}"{1}": {{"inputs": ["v", "h"{2}{3}], "nodes": [{{"name": "d", "op": "dense", "in": "h", "units": {4}}},
      {{"name": "a", "op": "add", "in": ["d", "v"]}}, {{"name": "s", "op": "{5}", "in": "a"}})",
        blocks_.empty() ? "" : ",\n    ", block, two ? R"(, "m")" : "", captured ? R"(, "w")" : "", width_, bounded);
    std::string y = "s";
    if (captured) blocks_ += R"(, {"name": "b", "op": "mul", "in": ["s", "w"]})", y = "b";
    if (two)
      blocks_ += fmt::format(
          R"(, {{"name": "n", "op": "{}", "in": ["m", "{}"]}}, {{"name": "y", "op": "sub", "in": ["n", "h"]}})",
          pick<std::string>({"max", "add", "min"}), y);
    blocks_ += fmt::format(R"(], "output": "{}"}})", two ? "y" : y);
    const std::string carries = two ? fmt::format(R"("h": {}, "m": ["N", {}])", start, width_) : R"("h": )" + start;
    write(fmt::format(
        R"({{"name": "{0}", "op": "scan", "block": "{1}", "in": {{{2}}}, "slice": ["v"], "carry": {{{3}}}{4}, "out": ["{0}_h"{5}, "{6}"]}})",
        name, block, in, carries, two ? fmt::format(R"(, "next": {{"h": "{}", "m": "n"}})", y) : "",
        two ? fmt::format(R"(, "{}_m")", name) : "", all));
    return all;
  }

  std::string feedforward(const std::string& x) {
    const int64_t inner = 1 + below(12);
    const std::string up = activated(dense(x, inner));
    if (chance(40)) return dense(node_of_list("mul", {up, dense(x, inner)}), width_);
    return dense(up, width_);
  }

  std::string apart(const std::string& x) {
    const int64_t heads = divisor(width_);
    return node("reshape", x, fmt::format(R"("shape": ["N", {}, {}, {}])", tokens_, heads, width_ / heads));
  }
  std::string together(const std::string& x) {
    return node("reshape", x, fmt::format(R"("shape": ["N", {}, {}])", tokens_, width_));
  }

  // Elements go elsewhere within their token, and come back or not.
  std::string moved(const std::string& x) {
    switch (below(5)) {
      case 0: {
        const std::string a = fresh(), b = fresh();
        write(fmt::format(R"({{"name": "{0}_s", "op": "split", "in": "{1}", "parts": 2, "out": ["{0}", "{2}"]}})", a, x,
                          b));
        return node_of_list("concat", {activated(b), a});
      }
      case 1: return together(norm(apart(x)));
      case 2: {  // within a token, or heads before tokens and back
        const bool inner = chance(50);
        const std::string perm = fmt::format(R"("perm": [{}])", inner ? "0, 1, 3, 2" : "0, 2, 1, 3");
        const std::string y = activated(node("transpose", apart(x), perm));
        return together(inner ? y : node("transpose", y, perm));
      }
      case 3: return node_of_list("sub", {x, node("mean", x, R"("axis": -1, "keepdims": true)")});
      default: return dense(node_of_list("concat", {x, activated(x)}), width_);
    }
  }

  std::string repeated(const std::string& x) {
    const std::string block = fmt::format("block{}", count_++), outside = std::exchange(nodes_, "");
    const bool documents = std::exchange(documents_, false);  // a block does not see the model's inputs
    std::string y = "x";
    for (int64_t layers = 1 + below(2); layers > 0; --layers) y = layer(y, false);
    documents_ = documents;
    blocks_ += fmt::format(R"({}"{}": {{"inputs": ["x"], "nodes": [{}], "output": "{}"}})",
                           blocks_.empty() ? "" : ",\n    ", block, nodes_, y);
    bool holds = false;  // parameters, for certain
    for (const char* op : {R"("op": "dense")", R"("op": "multi_head_attention")", R"("op": "encoder_layer")"})
      holds = holds || nodes_.find(op) != std::string::npos;
    nodes_ = outside;
    const char* share = holds && count_ % 2 == 0 ? R"(, "share": true)" : "";
    return node("block:" + block, x, fmt::format(R"("repeat": {}{})", 1 + below(3), share));
  }

  std::mt19937 random_;
  bool documents_ = false;  // whether attention sees tokens of one number only
  int64_t rows_ = 0, tokens_ = 0, width_ = 0, vocabulary_ = 0;
  int count_ = 0;
  std::string nodes_, blocks_;
};

}  // namespace

RandomTextModel random_text_model(uint32_t seed) { return Drawer(seed).draw(); }

}  // namespace heddle::testing
