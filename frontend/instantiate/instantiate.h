// Instantiate: builds the IR of a model's nodes for one graph, with one set of sizes.
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

// The source of a copy, and the rule by which the copy follows it: as an average, or as a copy in every so many steps.
struct CopyOf {
  std::string source;             // the path of a parameter or a buffer: "online.fc.weight"
  std::string node;               // the path of the node that has the copies: "target"
  std::optional<double> average;  // the share of the old average that a step keeps; nullopt: it is a copy
  int64_t every = 1;              // steps
};

// An entry of the weights file: a parameter, or a buffer, which a layer keeps besides its parameters and which is not
// trained. A copy of either is a buffer.
struct Parameter {
  std::string path;
  ir::Type type;      // the logical shape, as in files
  ir::Layout layout;  // the axis order in memory; empty: as in `type`
  ir::ValueId value;  // has the axis order of memory
  Initializer init;
  Location where;  // of the node that holds it
  ir::Role role = ir::Role::param;
  std::optional<Location> sparse = {};  // the setting that asks to update only the rows that are looked up
  int64_t zero_row = -1;                // the row that starts as zeros, whatever the initializer; -1: none
  std::optional<CopyOf> copy = {};      // it starts with the value of its source
  bool adapter = false;                 // a thin matrix of train.lora
  int64_t outputs = -1;                 // the axis of its outputs, for train.prune; -1: no product reads it
};

// The value that replaces a weight [out,in] with train.lora: weight + scale * up down. See frontend/lora.h.
struct Adapted {
  ir::ValueId weight, up, down;  // [out,in], [out,rank], [rank,in], each in the axis order of memory
  double scale = 1;
  std::string path;  // of the weight: "fc.weight"
};

// The paths of a weight and of its thin matrices in files.
struct AdapterPaths {
  std::string weight, a, b;
  bool lookup = false;  // for a table: weight + scale * (b a)^T; otherwise weight + scale * b a
};

// A weight that train.quantize rounds to whole numbers, and the nodes that read it for that.
struct QuantizedWeight {
  std::string path;
  int64_t outputs = 0;  // the axis of its outputs, in the shape of files
  std::vector<ir::NodeId> readers;
};

// A type with the axis order of memory.
inline ir::Type memory_type(const ir::Type& logical, const ir::Layout& layout) {
  return {logical.dtype, ir::memory_dims(logical.dims, layout)};
}

struct Repeat {
  Location where;
  int64_t times = 0;
  const char* key = "repeat";  // of a block, or the "count" of a scan
};

// An instantiated node of the model. A use of a block is an entry, too, before the entries of the block's nodes.
struct InstanceNode {
  std::string path;  // "h.0.qkv"; unnamed nodes: "dropout.1"
  std::string op;
  bool block = false;
  int depth = 0;                        // number of blocks around it
  ir::Values results;                   // empty if a fault was found
  int64_t begin = 0, end = 0;           // range of its nodes in the graph, by NodeId index
  std::vector<std::string> parameters;  // paths of parameters of other nodes that it reads
};

// Logits that are a product and have more bytes are computed a few classes at a time
// (frontend/training/product_logits.h).
inline constexpr int64_t kMostLogitBytes = int64_t{1} << 29;

// An instantiated block; one for each turn of `repeat`.
struct InstanceBlock {
  std::string path;  // "h.0"
  bool recompute = false;
};

// A state that row n of a batch passes to row n of the next batch. It exists only in training, and is zero at the start
// of each epoch.
struct KeptState {
  std::string path;
  ir::Type type;
  Location where;  // of the node
};

// The update of a buffer by one use of a layer. `from` is the buffer, or its value after the previous use.
struct BufferUse {
  ir::ValueId from, next;
  size_t node = 0;  // index of the layer in Instance::nodes
};

struct Instance {
  ir::Graph graph;
  std::vector<ir::Graph> bodies;  // bodies of its scans; each stands before the bodies that scan it
  std::vector<InstanceNode> nodes;
  std::vector<InstanceBlock> blocks;  // each stands before the blocks inside of it
  std::vector<Parameter> parameters;  // in order of first use
  ir::Updates updates;                // updates of buffers, for the entries that train
  std::vector<BufferUse> uses;        // the uses of layers that make up `updates`
  std::vector<KeptState> kept;
  std::map<ir::ValueId, Adapted> adapted;  // by the weight, and by the value that replaces it
  std::vector<AdapterPaths> adapters;      // of train.lora, in order of first use
  std::vector<Diagnostic> refusals;        // reasons why entries that train cannot have this batch size
  std::vector<Repeat> repeats;             // of blocks and scans, in the order of instantiation
  std::map<std::string, ir::ValueId>
      values;  // the model's nodes and inputs outside of blocks, by name; invalid if a fault was found
  std::map<ir::ValueId, std::string> made_by;  // by result of a layer, for notes: "max_pool2d 'p1'"
  std::map<ir::ValueId, Location> places;
  int64_t batch = 0;
  bool training = false;
  int64_t most_logit_bytes = kMostLogitBytes;
  std::string batch_name;
  int64_t length = 0;                      // as Model::length
  std::vector<QuantizedWeight> quantized;  // in order of first use

  std::string body_name(const std::string& path) const;  // the same name means the same body in all instances
  ir::ValueId counter(const std::string& name);          // the state "seed" or "step": i64[]
  ir::ValueId find(const Reference& reference) const;    // a value or a parameter; invalid if there is none
  // The error for a name with a dot that no parameter has. check_references has already checked names without a dot.
  UserError no_parameter(const Reference& reference) const;
  // The value that a model means by v. A parameter with another axis order in memory is transposed to its logical
  // shape, and a weight includes its adapter of train.lora.
  ir::ValueId logical(ir::ValueId v);
  Diagnostic origin(ir::ValueId v) const;  // a note: "input [N,2,2,32] comes from max_pool2d here"
  std::string shape_text(const ir::Dims& dims) const;
};

struct InstanceOptions {
  int64_t batch = 0;
  bool training = false;
  auto operator<=>(const InstanceOptions&) const = default;
};

// Instantiates a model. Adds faults to `errors`, and skips nodes that depend on a faulty one. Only ModelInstances calls
// it.
Instance instantiate_model(const Model& model, const InstanceOptions& options, Diagnostics& errors);

// Throws UserError at `where` if a shape is over the limits. Multiplies sizes without overflow.
void check_size(const ir::Dims& dims, const Location& where, const std::string& what);

// The type of a model's input at this batch size. Throws UserError for free dimensions without a size, and for sizes
// over the limits.
ir::Type input_type(const Model& model, const InputDef& input, int64_t batch);

}  // namespace heddle::frontend
