#include "frontend/keys/model_keys.h"

#include "frontend/limits.h"
#include "frontend/model.h"
#include "ir/ops/precision.h"

namespace heddle::frontend {
namespace {

constexpr ir::KeyRange kCount = ir::between(1, 0x1p40);
constexpr ir::KeyRange kExact = ir::between(0, static_cast<double>(kMaxExactInteger));

Key what_is_read() {
  return {.name = "in",
          .type = KeyType::reads,
          .doc = "what it reads",
          .required = true,
          .hint = R"(for example "in": ["logits", "label"])"};
}

Key sizes_by_name(const std::string& name, const std::string& doc) {
  return {.name = name, .type = KeyType::real, .count = Count::by_name, .doc = doc};
}

Keys early_stop_keys() {
  static const std::vector<Key> keys = {
      {.name = "on", .type = KeyType::text, .doc = "a loss or metric", .fallback = EarlyStop().on},
      {.name = "mode",
       .type = KeyType::text,
       .doc = "which of two values is better: what the metric says",
       .words = {"min", "max"}},
      {.name = "patience", .doc = "epochs without a better value", .fallback = EarlyStop().patience, .range = kCount},
      {.name = "min_delta",
       .type = KeyType::real,
       .doc = "by how much a value must be better",
       .fallback = EarlyStop().min_delta,
       .range = ir::kNotNegative},
      {.name = "restore_best",
       .type = KeyType::flag,
       .doc = "keep the weights of the best epoch",
       .fallback = EarlyStop().restore_best}};
  return keys;
}

Keys every_keys() {
  static const std::vector<Key> keys = {
      {.name = "steps", .doc = "optimizer steps", .range = kCount},
      {.name = "epochs", .doc = "epochs", .range = kCount},
      {.name = "minutes", .type = KeyType::real, .doc = "minutes", .range = ir::kAboveZero}};
  return keys;
}

Keys checkpoint_keys() {
  static const std::vector<Key> keys = {{.name = "every",
                                         .type = KeyType::object,
                                         .doc = "when it is saved, as soon as one of them is due",
                                         .keys = every_keys,
                                         .hint = kEveryHint},
                                        {.name = "keep",
                                         .doc = "how many checkpoints stay",
                                         .fallback = CheckpointRule().keep,
                                         .range = ir::between(1, 1000)}};
  return keys;
}

Keys average_keys() {
  static const std::vector<Key> keys = {
      {.name = "decay",
       .type = KeyType::real,
       .doc = "share that is kept in each step",
       .fallback = Average().decay,
       .range = ir::kShare},
      {.name = "start", .doc = "steps before it begins", .fallback = Average().start, .range = kExact}};
  return keys;
}

Keys lora_keys() {
  static const std::vector<Key> keys = {
      {.name = "rank", .doc = "of each adapter", .fallback = Lora().rank, .range = ir::at_least(1)},
      {.name = "alpha",
       .type = KeyType::real,
       .doc = "an adapter counts alpha / rank times",
       .fallback = Lora().alpha,
       .range = as_f32(ir::kAboveZero)},
      {.name = "dropout",
       .type = KeyType::real,
       .doc = "of what the adapters of products read",
       .fallback = Lora().dropout,
       .range = ir::kShare},
      {.name = "match",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "paths of layers, blocks or weights, with `*` and `?`",
       .required = true,
       .hint = R"(for example "match": ["h.*.attn", "head"])"},
      {.name = "train",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "paths of what is trained itself, beside the adapters, and saved with them",
       .hint = R"(for example "train": "classifier")"}};
  return keys;
}

Keys prune_keys() {
  static const std::vector<Key> keys = {
      {.name = "match",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "paths of parameters, with `*` and `?`",
       .required = true,
       .hint = R"(for example "match": "*.weight")"},
      {.name = "amount",
       .type = KeyType::any,
       .doc = "the share of each parameter that is 0 in the end; or `\"2:4\"`, of each four neighbouring inputs two",
       .required = true,
       .of = "pruned",
       .hint = R"(for example "amount": 0.5)"},
      {.name = "begin", .doc = "the step behind which it begins", .fallback = Prune().begin, .range = kExact},
      {.name = "end",
       .doc = "the step that reaches the amount",
       .required = true,
       .range = kCount,
       .hint = R"(for example "end": 1000)"},
      {.name = "every", .doc = "steps from one choice to the next", .fallback = Prune().every, .range = kCount}};
  return keys;
}

Keys quantize_keys() {
  static const std::vector<Key> keys = {
      {.name = "bits", .doc = "of a whole number: 8", .fallback = int64_t{8}, .range = ir::between(8, 8)},
      {.name = "match",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "paths of weights of products and convolutions, with `*` and `?`",
       .required = true,
       .hint = R"(for example "match": "*.weight")"},
      {.name = "start",
       .doc = "steps that compute in f32 before, and observe ranges alone",
       .fallback = Quantize().start,
       .range = kExact},
      {.name = "observer",
       .type = KeyType::text,
       .doc = "what the range of inputs is: of all numbers so far, or a moving average of the ranges of batches",
       .fallback = "minmax",
       .words = {"minmax", "moving_average"}},
      {.name = "momentum",
       .type = KeyType::real,
       .doc = "share of a batch in the moving average",
       .fallback = Quantize().momentum,
       .range = {.low = 0, .high = 1, .above = true}}};
  return keys;
}

Keys precision_keys() {
  static const std::vector<Key> keys = {
      {.name = "compute",
       .type = KeyType::text,
       .doc = "what operands of products may be rounded to",
       .fallback = Train().precision,
       .words = {ir::kPrecisions.begin(), ir::kPrecisions.end()}},
      {.name = "mixed",
       .type = KeyType::text,
       .doc = "the 16-bit type that products and what follows them are of",
       .words = {"bf16", "f16"}},
      {.name = "params",
       .type = KeyType::text,
       .doc = "the type that parameters are stored in, in memory and in files",
       .fallback = "f32",
       .words = {"f32", "bf16"}},
      {.name = "rounding",
       .type = KeyType::text,
       .doc = "how a step rounds parameters of bf16: by a draw, so that small changes "
              "count on average, or to the nearest",
       .fallback = "stochastic",
       .words = {"stochastic", "nearest"}},
      {.name = "master",
       .type = KeyType::flag,
       .doc = "beside parameters of bf16 the optimizer keeps copies in f32, and changes "
              "those",
       .fallback = false},
      {.name = "loss_scale",
       .type = KeyType::any,
       .doc = "by what the loss is scaled: `\"dynamic\"`, a number or an object",
       .of = "loss_scale"}};
  return keys;
}

Keys memory_keys() {
  static const std::vector<Key> keys = {
      {.name = "limit",
       .type = KeyType::any,
       .doc = "what states and the values of a step may take: a number of bytes, or `\"8GiB\"`"},
      {.name = "recompute",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "`auto` (the default: as many blocks as the limit asks for), `none`, or paths of blocks whose values the "
              "backward sweep computes again, with `*` and `?`",
       .hint = R"(for example "recompute": ["h.*"])"}};
  return keys;
}

}  // namespace

Keys loss_scale_keys() {
  static const std::vector<Key> keys = {{.name = "initial",
                                         .type = KeyType::real,
                                         .doc = "the scale of the first step",
                                         .fallback = LossScale().initial,
                                         .range = ir::between(1e-30, 1e30)},
                                        {.name = "growth",
                                         .type = KeyType::real,
                                         .doc = "by what it grows",
                                         .fallback = LossScale().growth,
                                         .range = {.low = 1, .high = 1e6, .above = true}},
                                        {.name = "backoff",
                                         .type = KeyType::real,
                                         .doc = "what is left of it behind an overflow",
                                         .fallback = LossScale().backoff,
                                         .range = {.low = 0, .high = 1, .above = true, .below = true}},
                                        {.name = "interval",
                                         .doc = "clean steps in a row before it grows",
                                         .fallback = LossScale().interval,
                                         .range = kCount}};
  return keys;
}

namespace {

Keys bucket_keys() {
  static const std::vector<Key> keys = {
      {.name = "by",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "the input that holds how long a row is; of several the longest counts",
       .required = true,
       .hint = R"(for example "by": "size", of an input that the reader makes of "length")"},
      {.name = "let",
       .type = KeyType::text,
       .doc = "the name of `let` that is the length of all rows",
       .required = true,
       .hint = R"(for example "let": "length")"},
      {.name = "lengths",
       .count = Count::list,
       .doc = "the lengths of shorter rows, rising",
       .required = true,
       .range = kCount,
       .hint = R"(for example "lengths": [16, 32])"}};
  return keys;
}

Keys drawing_keys() {
  static const std::vector<Key> keys = {
      {.name = "balance",
       .type = KeyType::word,
       .doc = "an input or a column: each of its values is as frequent as the others"},
      {.name = "weights",
       .type = KeyType::word,
       .doc = "an input or a column of numbers: rows are as frequent as these say"}};
  return keys;
}

}  // namespace

Keys model_keys() {
  static const std::vector<Key> keys = {
      {.name = "$schema", .type = KeyType::any, .doc = "ignored; for editors"},
      {.name = "format",
       .type = KeyType::text,
       .doc = "\"heddle-model/1\"; the number is the version",
       .required = true,
       .hint = R"(write "format": "heddle-model/1")"},
      {.name = "name",
       .type = KeyType::text,
       .doc = "the model's name: letters, digits, `_`, `-` and `.`, such as `resnet-18`",
       .required = true,
       .hint = R"(for example "name": "mnist")"},
      {.name = "layout", .type = KeyType::text, .doc = "of images", .fallback = "NHWC", .words = {"NHWC", "NCHW"}},
      sizes_by_name("let", "named sizes, numbers or expressions over the sizes before"),
      {.name = "inputs",
       .type = KeyType::object,
       .count = Count::by_name,
       .doc = "what a row of data consists of",
       .required = true,
       .of = "input",
       .hint = R"(for example "inputs": {"x": {"shape": ["N", 4]}})"},
      {.name = "blocks",
       .type = KeyType::object,
       .count = Count::by_name,
       .doc = "named groups of nodes for reuse",
       .of = "block"},
      {.name = "nodes",
       .type = KeyType::part,
       .count = Count::list,
       .doc = "the network",
       .required = true,
       .of = "node"},
      {.name = "outputs",
       .type = KeyType::text,
       .count = Count::by_name,
       .doc = "what `predict` returns, name -> node; without it, what the first loss reads first"},
      {.name = "train", .type = KeyType::object, .doc = "batch, length, loss, metrics, optimizer", .of = "train"},
      {.name = "data", .type = KeyType::object, .doc = "where rows come from", .of = "data"},
      {.name = "weights",
       .type = KeyType::object,
       .doc = "how other programs call the parameters; see below",
       .of = "weights"},
      {.name = "small",
       .type = KeyType::any,
       .count = Count::by_name,
       .doc = "overrides that make the model small enough for tests"}};
  return keys;
}

Keys input_keys() {
  static const std::vector<Key> keys = {
      {.name = "shape",
       .type = KeyType::size,
       .count = Count::list,
       .doc = "its sizes, the first of which is the batch",
       .required = true},
      {.name = "dtype", .type = KeyType::dtype, .doc = "element type", .fallback = "f32"}};
  return keys;
}

Keys block_keys() {
  static const std::vector<Key> keys = {
      {.name = "inputs",
       .type = KeyType::text,
       .count = Count::list,
       .doc = "names of what it reads",
       .required = true},
      {.name = "nodes",
       .type = KeyType::part,
       .count = Count::list,
       .doc = "what it consists of",
       .required = true,
       .of = "node"},
      {.name = "output", .type = KeyType::text, .doc = "the node whose result is its own", .required = true},
      sizes_by_name("let", "sizes, which a use may replace")};
  return keys;
}

Keys node_keys() {
  static const std::vector<Key> keys = {
      {.name = "name",
       .type = KeyType::text,
       .doc = "names the result, and leads the names of parameters; required for nodes with parameters"},
      {.name = "op",
       .type = KeyType::text,
       .doc = "a layer or a primitive operation; `block:NAME` for a block",
       .required = true},
      {.name = "in",
       .type = KeyType::reads,
       .doc = "what the node reads; without it, the result of the node before (of the first node, the only input)"},
      {.name = "out",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "names for the results of an op that has several, a list; or the one name of a single result"},
      {.name = "share",
       .type = KeyType::any,
       .doc = "a node before it, of the same op, whose parameters and settings are its own; `true` where all of "
              "`repeat` have the same parameters",
       .of = "share"},
      {.name = "average",
       .type = KeyType::real,
       .doc = "its parameters are a moving average of those of the node in `share`, of which each step keeps this part",
       .range = ir::kShare},
      {.name = "copy",
       .doc = "its parameters are a copy of those of the node in `share`, renewed every so many steps",
       .range = ir::at_least(1)},
      {.name = "compute",
       .type = KeyType::text,
       .doc = "`f32` where `train.precision` is mixed and this node is not",
       .words = {"f32"}}};
  return keys;
}

Keys use_keys() {
  static const std::vector<Key> keys = {{.name = "repeat", .doc = "how often, one behind the other"},
                                        {.name = "recompute",
                                         .type = KeyType::flag,
                                         .doc = "whether the backward sweep computes its values again, and a step "
                                                "does not keep them"},
                                        sizes_by_name("with", "sizes of the block")};
  return keys;
}

Keys train_keys() {
  static const std::vector<Key> keys = {
      {.name = "batch",
       .type = KeyType::sizes,
       .doc = "sizes of the free dimensions: `{\"N\": 128}`",
       .required = true},
      {.name = "epochs", .doc = "length; where `steps` are given, too, whichever ends first", .range = kCount},
      {.name = "steps", .doc = "length in optimizer steps", .range = kCount},
      {.name = "seed",
       .doc = "0 to 2^53, of initial parameters, dropout, shuffling",
       .fallback = Train().seed,
       .range = kExact},
      {.name = "drop_last",
       .type = KeyType::flag,
       .doc = "leave out the rows that do not fill a batch; else they are a smaller batch of their own",
       .fallback = Train().drop_last},
      {.name = "accumulate",
       .doc = "in how many micro-batches, one after the other, a step runs through its rows; it divides the batch; see "
              "below",
       .fallback = Train().accumulate,
       .range = kCount,
       .hint = "write the number of micro-batches, a divisor of train.batch"},
      {.name = "loss",
       .type = KeyType::part,
       .count = Count::several,
       .doc = "a loss with its `in`, or a list of them, of which the sum is trained, each times its `weight`",
       .of = "loss"},
      {.name = "metrics",
       .type = KeyType::part,
       .count = Count::list,
       .doc = "a list of metrics, each with `in`; see below",
       .of = "metric"},
      {.name = "optimizer", .type = KeyType::part, .doc = "see below", .of = "optimizer"},
      {.name = "clip_norm",
       .type = KeyType::real,
       .doc = "largest norm of all gradients together; they are scaled by min(1, c / (norm + 1e-6))",
       .range = as_f32(ir::kAboveZero)},
      {.name = "gradient_norm",
       .type = KeyType::flag,
       .doc =
           "each step tells the norm of all gradients together, before clipping, in the log and the line of progress",
       .fallback = Train().gradient_norm},
      {.name = "average",
       .type = KeyType::object,
       .doc = "`{\"decay\": 0.999, \"start\": 0}`, an exponential moving average of the trained parameters; see below",
       .keys = average_keys,
       .hint = R"(write "average": {"decay": 0.999})"},
      {.name = "regularize",
       .type = KeyType::part,
       .count = Count::several,
       .doc = "a penalty on parameters with its `match`, or a list of them, which the loss grows by; see below",
       .of = "regularizer",
       .hint = R"(write "regularize": [{"op": "l2", "match": "*.weight", "weight": 0.0001}])"},
      {.name = "constrain",
       .type = KeyType::part,
       .count = Count::several,
       .doc = "what parameters are made to be after each step, a rule with its `match`, or a list of them; see below",
       .of = "constraint",
       .hint = R"(write "constrain": [{"op": "max_norm", "match": "*.weight", "max": 3}])"},
      {.name = "precision",
       .type = KeyType::object,
       .doc =
           "`{\"compute\": \"tf32\"}`, what operands of f32 products may be rounded to, `f32` (the default, nothing), "
           "`tf32` (10 bits of fraction instead of 23) or `bf16` (7 bits); or `{\"mixed\": \"bf16\"}` or `{\"mixed\": "
           "\"f16\"}`, "
           "values of 16 bits; or `{\"params\": \"bf16\"}`, parameters of 16 bits; see below",
       .keys = precision_keys,
       .hint = R"(write "precision": {"mixed": "bf16"}, or {"compute": "tf32"} for products alone)"},
      {.name = "checkpoint",
       .type = KeyType::object,
       .doc =
           "`{\"every\": {\"minutes\": 5}, \"keep\": 2}`, how often a run that is kept (`--run DIR`) is saved, and how "
           "many checkpoints stay; see below",
       .keys = checkpoint_keys,
       .hint = kEveryHint},
      {.name = "early_stop",
       .type = KeyType::object,
       .doc = "`{\"on\": \"accuracy\", \"patience\": 5}`, end when epochs bring nothing more; see below",
       .keys = early_stop_keys,
       .hint = R"(write "early_stop": {"patience": 5})"},
      {.name = "phases",
       .type = KeyType::object,
       .count = Count::list,
       .doc = "several players in the place of `loss`, `optimizer` and `clip_norm`: each has losses, parameters and an "
              "optimizer of its own; see below",
       .of = "phase"},
      {.name = "freeze",
       .type = KeyType::text,
       .count = Count::list,
       .doc = "paths of parameters that are not trained, with `*` and `?`"},
      {.name = "lora",
       .type = KeyType::object,
       .doc = "`{\"rank\": 8, \"alpha\": 16, \"match\": [\"h.*\"]}`, low-rank adapters are trained in the place of all "
              "parameters; see below",
       .keys = lora_keys,
       .hint = R"(write "lora": {"rank": 8, "alpha": 16, "match": ["*"]})"},
      {.name = "prune",
       .type = KeyType::object,
       .doc = "`{\"match\": \"*.weight\", \"amount\": 0.5, \"end\": 1000}`, a growing share of weights becomes 0 and "
              "stays so; see below",
       .keys = prune_keys,
       .hint = R"(write "prune": {"match": "*.weight", "amount": 0.5, "end": 1000})"},
      {.name = "quantize",
       .type = KeyType::object,
       .doc = "`{\"match\": \"*.weight\"}`, products are trained in whole numbers of 8 bits, as `heddle quantize` "
              "makes them; "
              "see precision.md",
       .keys = quantize_keys,
       .hint = R"(write "quantize": {"match": "*.weight"})"},
      {.name = "init",
       .type = KeyType::part,
       .doc = "default initializer of dense and convolution weights",
       .of = "initializer"},
      {.name = "memory",
       .type = KeyType::object,
       .doc = "`{\"limit\": \"8GiB\"}`, what a training may take, and what it computes again to take less; see below",
       .keys = memory_keys,
       .hint = R"(write "memory": {"limit": "8GiB"})"},
      {.name = "parallel", .type = KeyType::planned}};
  return keys;
}

Keys data_keys() {
  static const std::vector<Key> keys = {
      {.name = "train", .type = KeyType::object, .doc = "a reader of the rows that are trained with", .of = "reader"},
      {.name = "validation",
       .type = KeyType::object,
       .doc = "a reader, or `{\"fraction\": 0.1}` for the last tenth of the training rows; see below",
       .of = "validation"},
      {.name = "test", .type = KeyType::object, .doc = "a reader of the rows that are tested with", .of = "reader"},
      {.name = "draw",
       .type = KeyType::object,
       .doc = "`{\"balance\": \"label\"}`, training rows are drawn with replacement; see below",
       .keys = drawing_keys,
       .hint = R"(write "draw": {"balance": "label"})"},
      {.name = "buckets",
       .type = KeyType::object,
       .doc = "`{\"by\": \"size\", \"let\": \"length\", \"lengths\": [16, 32]}`, shorter batches of short rows; see "
              "below",
       .keys = bucket_keys,
       .hint = R"(write "buckets": {"by": "size", "let": "length", "lengths": [16, 32]})"},
      {.name = "map",
       .type = KeyType::part,
       .count = Count::lists_by_name,
       .doc = "for an input, what happens to its rows when a batch is gathered",
       .of = "map"}};
  return keys;
}

Keys weights_keys() {
  static const std::vector<Key> keys = {{.name = "prefix",
                                         .type = KeyType::text,
                                         .count = Count::several,
                                         .doc = "what is taken off names that begin so; of several the first"},
                                        {.name = "names",
                                         .type = KeyType::any,
                                         .count = Count::by_name,
                                         .doc = "tensors' names, and what each becomes; see below",
                                         .of = "renamed"},
                                        {.name = "ignore",
                                         .type = KeyType::text,
                                         .count = Count::several,
                                         .doc = "tensors that are left out, with `*` and `?`"},
                                        {.name = "missing",
                                         .type = KeyType::text,
                                         .count = Count::several,
                                         .doc = "parameters that a training may begin without, with `*` and `?`"}};
  return keys;
}

Keys renamed_keys() {
  static const std::vector<Key> keys = {
      {.name = "to",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "the parameter; of several each is its part of the tensor along axis 0",
       .required = true,
       .hint = R"(for example {"to": "h.{i}.qkv.weight", "transpose": true})"},
      {.name = "transpose",
       .type = KeyType::flag,
       .doc = "the tensor's two axes lie the other way round",
       .fallback = false},
      {.name = "part",
       .doc = "which part of the parameter along axis 0 the tensor is, counted from 0",
       .range = ir::between(0, 1000)}};
  return keys;
}

Keys fraction_keys() {
  static const std::vector<Key> keys = {
      {.name = "fraction",
       .type = KeyType::real,
       .doc = "of the training rows: the last ones, without `draw`",
       .required = true,
       .range = {.low = 0, .high = 1, .above = true, .below = true}},
      {.name = "draw", .type = KeyType::integer, .doc = "the seed by which the rows are drawn", .range = kExact},
      {.name = "by", .type = KeyType::word, .doc = "an input or a column: each of its values gives its share of rows"},
      {.name = "group", .type = KeyType::word, .doc = "an input or a column: rows of one value stay on one side"}};
  return keys;
}

Keys loss_keys() {
  static const std::vector<Key> keys = {
      what_is_read(), {.name = "weights", .type = KeyType::text, .doc = "an input f32[N], what each row weighs"}};
  return keys;
}

Keys metric_keys() {
  static const std::vector<Key> keys = {what_is_read()};
  return keys;
}

Keys optimizer_keys() {
  static const std::vector<Key> keys = {{.name = "groups",
                                         .type = KeyType::object,
                                         .count = Count::list,
                                         .doc = "settings of some parameters",
                                         .of = "group"}};
  return keys;
}

Keys group_keys() {
  static const std::vector<Key> keys = {{.name = "match",
                                         .type = KeyType::text,
                                         .count = Count::several,
                                         .doc = "paths of parameters, with * and ?",
                                         .required = true,
                                         .hint = R"(for example {"match": "*.bias", "weight_decay": 0})"}};
  return keys;
}

Keys rule_keys() {
  static const std::vector<Key> keys = {{.name = "match",
                                         .type = KeyType::text,
                                         .count = Count::several,
                                         .doc = "paths of parameters, with * and ?",
                                         .required = true,
                                         .hint = R"(for example "match": "*.weight")"}};
  return keys;
}

Keys phase_keys() {
  static const std::vector<Key> keys = {
      {.name = "name", .type = KeyType::text, .doc = "names its loss and its optimizer's states; `phase_1` without it"},
      {.name = "loss",
       .type = KeyType::part,
       .count = Count::several,
       .doc = "a loss with its `in`, or a list of them, of which the sum is trained",
       .required = true,
       .of = "loss",
       .hint = R"(for example "loss": {"op": "value", "in": "score"})"},
      {.name = "parameters",
       .type = KeyType::text,
       .count = Count::several,
       .doc = "paths of the parameters that it trains, with `*` and `?`",
       .required = true,
       .hint = R"(for example "parameters": "critic.*")"},
      {.name = "optimizer",
       .type = KeyType::part,
       .doc = "of these parameters; its schedules count the steps at which the phase runs",
       .required = true,
       .of = "optimizer",
       .hint = R"(for example "optimizer": {"op": "adam", "lr": 0.001})"},
      {.name = "clip_norm",
       .type = KeyType::real,
       .doc = "largest norm of the phase's gradients together",
       .range = as_f32(ir::kAboveZero)},
      {.name = "every", .doc = "it runs at each so many steps", .fallback = TrainPhase().every, .range = kCount}};
  return keys;
}

std::vector<KeyTable> key_tables() {
  return {{"model", model_keys()},        {"node", node_keys()},       {"train", train_keys()},
          {"phase", phase_keys()},        {"weights", weights_keys()}, {"renamed", renamed_keys()},
          {"lora", lora_keys()},          {"prune", prune_keys()},     {"quantize", quantize_keys()},
          {"precision", precision_keys()}};
}

}  // namespace heddle::frontend
