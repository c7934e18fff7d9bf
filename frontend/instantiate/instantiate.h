// Instantiate: a model's nodes into IR at one set of sizes, for one graph.
//
//   {"name": "h", "op": "block:decoder", "repeat": 2, "in": "emb"}  ->  the block's nodes twice, under h.0 and h.1
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/initializer.h"
#include "frontend/model.h"
#include "ir/builder.h"
#include "ir/storage/updates.h"

namespace heddle::frontend {

// What a copy is of, and how it follows that: as an average, or in every so many steps.
struct CopyOf {
  std::string source;             // the path of a parameter or a buffer: "online.fc.weight"
  std::string node;               // the path of the node that has the copies: "target"
  std::optional<double> average;  // the share of itself that it keeps in a step; nothing: it is a copy
  int64_t every = 1;              // steps
};

// What the weights file holds: a parameter, or a buffer, which a layer keeps beside its parameters and which is not
// trained. A copy of either is a buffer.
struct Parameter {
  std::string path;
  ir::Type type;      // as models and files speak of it
  ir::Layout layout;  // how it lies in memory; empty: as `type` says
  ir::ValueId value;  // in memory
  Initializer init;
  Location where;  // of the node that holds it
  ir::Role role = ir::Role::param;
  std::optional<Location> sparse = {};  // where the model says that only rows that are looked up are renewed
  int64_t zero_row = -1;                // the row that starts as zeros, whatever the initializer; -1: none
  std::optional<CopyOf> copy = {};      // it starts as its source does
  bool adapter = false;                 // a thin matrix of train.lora
  int64_t outputs = -1;                 // the axis of its outputs, where train.prune asks; -1: no product reads it
};

// What stands for a weight [out,in] with train.lora: weight + scale * up down. See frontend/lora.h.
struct Adapted {
  ir::ValueId weight, up, down;  // [out,in], [out,rank], [rank,in], each as it lies in memory
  double scale = 1;
  std::string path;  // of the weight: "fc.weight"
};

// The paths of a weight and of its thin matrices as files call them.
struct AdapterPaths {
  std::string weight, a, b;
  bool lookup = false;  // of a table: weight + scale * (b a)^T; else weight + scale * b a
};

// A weight that train.quantize makes whole numbers of, and the nodes that read it for that.
struct QuantizedWeight {
  std::string path;
  int64_t outputs = 0;  // their axis, in the shape that files have
  std::vector<ir::NodeId> readers;
};

// A type as it lies in memory.
inline ir::Type memory_type(const ir::Type& logical, const ir::Layout& layout) {
  return {logical.dtype, ir::memory_dims(logical.dims, layout)};
}

struct Repeat {
  Location where;
  int64_t times = 0;
  const char* key = "repeat";  // of a block, or the "count" of a scan
};

// A node of the model as it was instantiated, or a use of a block in front of the block's own nodes.
struct InstanceNode {
  std::string path;  // "h.0.qkv"; unnamed nodes: "dropout.1"
  std::string op;
  bool block = false;
  int depth = 0;                        // blocks around it
  ir::Values results;                   // empty where a fault was found
  int64_t begin = 0, end = 0;           // its nodes in the graph
  std::vector<std::string> parameters;  // of others that it reads, by path
};

// Logits of more bytes, where they are a product, are computed a few classes at a time (frontend/training/product_logits.h).
inline constexpr int64_t kMostLogitBytes = int64_t{1} << 29;

// A block as it was instantiated, once for each turn of `repeat`.
struct InstanceBlock {
  std::string path;  // "h.0"
  bool recompute = false;
};

// A state that row n of a batch leaves to row n of the next one: in training alone, from zeros in each epoch.
struct KeptState {
  std::string path;
  ir::Type type;
  Location where;  // of the node
};

// What one use of a layer makes of a buffer: `from` is the buffer, or what the use before has made of it.
struct BufferUse {
  ir::ValueId from, next;
  size_t node = 0;  // among the instance's nodes
};

struct Instance {
  ir::Graph graph;
  std::vector<ir::Graph> bodies;  // of its scans, each before the bodies that scan it
  std::vector<InstanceNode> nodes;
  std::vector<InstanceBlock> blocks;  // each before those inside of it
  std::vector<Parameter> parameters;  // in order of first use
  ir::Updates updates;                // of buffers, for the entries that train
  std::vector<BufferUse> uses;        // what `updates` are made of
  std::vector<KeptState> kept;
  std::map<ir::ValueId, Adapted> adapted;  // by the weight, and by what stands for it
  std::vector<AdapterPaths> adapters;      // of train.lora, in order of first use
  std::vector<Diagnostic> refusals;        // why these entries cannot have this batch size
  std::vector<Repeat> repeats;             // of blocks and scans, in the order in which they were instantiated
  std::map<std::string, ir::ValueId>
      values;  // of the model's own nodes and inputs, by name; invalid where a fault was found
  std::map<ir::ValueId, std::string> made_by;  // "max_pool2d 'p1'": for notes
  std::map<ir::ValueId, Location> places;
  int64_t batch = 0;
  bool training = false;
  int64_t most_logit_bytes = kMostLogitBytes;
  std::string batch_name;
  int64_t length = 0;                      // as Model::length
  std::vector<QuantizedWeight> quantized;  // in order of first use

  std::string body_name(const std::string& path) const;  // one name means one body in all instances of the model
  ir::ValueId counter(const std::string& name);          // the states "seed" and "step": i64[]
  ir::ValueId find(const Reference& reference) const;    // a value or a parameter; invalid where it is not there
  // What a model's text means by a value: a parameter of another layout in memory is transposed to its logical shape, and
  // train.lora has changed a weight.
  ir::ValueId logical(ir::ValueId v);
  Diagnostic origin(ir::ValueId v) const;  // a note: "input [N,2,2,32] comes from max_pool2d here"
  std::string shape_text(const ir::Dims& dims) const;
};

struct InstanceOptions {
  int64_t batch = 0;
  bool training = false;
  auto operator<=>(const InstanceOptions&) const = default;
};

// Faults are collected; what depends on a faulty node is skipped. Called in one place: ModelInstances.
Instance instantiate_model(const Model& model, const InstanceOptions& options, Diagnostics& errors);

// Throws UserError at `where` where a shape is over the limits. Products are checked before they are made.
void check_size(const ir::Dims& dims, const Location& where, const std::string& what);

// The model's inputs at this batch size. Throws UserError for free dimensions that nothing binds and for sizes over the
// limits.
ir::Type input_type(const Model& model, const InputDef& input, int64_t batch);

}  // namespace heddle::frontend
