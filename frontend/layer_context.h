// LayerContext: the interface for a layer's build function. It gives access to the layer's inputs, settings and
// parameters, and adds nodes to the graph.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "frontend/initializer.h"
#include "frontend/instantiate/take_body.h"
#include "frontend/layer_def.h"
#include "frontend/model.h"

namespace heddle::frontend {

// A parameter or buffer to add. `type` has its logical shape, the one in files and messages.
struct ParameterSpec {
  std::string path;
  ir::Type type;
  ir::Layout layout = {};
  ir::Role role = ir::Role::param;
};

// A loop over the first axis of its slices. The nodes of one turn are already in the graph, from index `first` of its
// order on.
struct LoopSpec {
  std::string path;  // names the body and its results: "rnn.l0"
  size_t first = 0;
  Turn turn;
  ir::Values starts, sequences;  // the values of the turn's carries at the start, and of its slices over all turns
  int64_t count = 1;
  bool reverse = false;
};

// Functions and values that all layers of one graph share. The instantiation implements them.
struct GraphServices {
  // Adds a parameter to the graph. Returns its value, which has the axis order of memory.
  std::function<ir::ValueId(const ParameterSpec&, const Initializer& init, const Location& where)> parameter;
  std::function<void(ir::ValueId buffer, ir::ValueId next)> update;
  // Adds a state that the layer passes to the next batch by `update`. Invalid in entries that do not train.
  std::function<ir::ValueId(const std::string& path, const ir::Type& type, const Location& where)> keep;
  std::function<void(ir::ValueId parameter, const Location& where)> sparse;
  std::function<void(ir::ValueId parameter, int64_t row)> zero_row;
  std::function<void(const Diagnostic& reason)> refuse;
  std::function<ir::ValueId(const std::string& name)> counter;  // the states "seed" and "step"
  std::function<Diagnostic(ir::ValueId)> origin;                // a note: "input [N,2,2,32] comes from max_pool2d here"
  // Makes a loop of the turn. Returns the last values of the carries, then the stacked values, [count, ...].
  std::function<ir::Values(const LoopSpec&)> loop;
  const Part* default_init = nullptr;  // train.init
  int64_t batch = 0;
  std::string batch_name;
};

class LayerContext {
 public:
  ir::Builder& b;
  const NodeDef& node;
  const Settings& settings;
  const GraphServices& graph;
  std::string path;  // "h.0.qkv"; unnamed nodes: "dropout.1"
  ir::Values in;     // invalid for an absent optional input and for a literal, which is in node.in
  ImageLayout layout = ImageLayout::nhwc;
  bool training = true;
  std::map<ir::ValueId, ir::ValueId> originals = {};  // by computed weight: the parameter with its initializer

  const ir::Type& type(ir::ValueId v) const { return b.type(v); }
  // Returns a copy, because the graph moves its values when one is added.
  ir::Dims dims(ir::ValueId v) const { return b.type(v).dims; }

  // Adds a node named <path>.<suffix>. The last node of a layer is renamed <path>.
  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs = {}, std::string_view suffix = {});
  ir::ValueId reshape(ir::ValueId v, const ir::Dims& dims,
                      std::string_view suffix = "reshape");  // v itself where nothing changes
  ir::ValueId constant(double value, const ir::Type& type);
  // Every `step`th index in [start, stop) of one axis.
  ir::ValueId slice(ir::ValueId v, int64_t axis, int64_t start, int64_t stop, std::string_view suffix,
                    int64_t step = 1);
  // Broadcasts by NumPy's rules. The result is named after v.
  ir::ValueId broadcast(ir::ValueId v, const ir::Dims& dims);

  // Adds the parameter <path>.<name>, or <path> if the name is empty. Its initializer is the setting `setting` (a part)
  // if given; otherwise, for a `weight`, train.init; otherwise `init`. The value has the axes of `dims` in the order of
  // `layout`. With the setting weight_norm or spectral_norm, a `weight` is computed from other parameters
  // (frontend/weight_norms.h).
  ir::ValueId parameter(const std::string& name, const ir::Dims& dims, std::string_view setting,
                        const std::string& init, bool weight, const ir::Layout& layout = {});
  ir::ValueId parameter(const std::string& name, const ir::Dims& dims, std::string_view setting,
                        const Initializer& init, bool weight, const ir::Layout& layout = {});
  // Adds the buffer <path>.<name>: a value of any type that is saved with the parameters and not trained.
  ir::ValueId buffer(const std::string& name, const ir::Type& type, const std::string& init);
  // Makes a training step update only the rows of the parameter that it looks up. `setting` is the setting that asks
  // for it.
  void train_sparsely(ir::ValueId parameter, std::string_view setting);
  // Initializes this row of the parameter to zeros, whatever the initializer.
  void start_with_zeros(ir::ValueId parameter, int64_t row);
  // Sets the buffer's next value, in the entries that train.
  void update(ir::ValueId buffer, ir::ValueId next);
  // Notes that a training with this batch size is impossible. An evaluation is still allowed.
  void refuse_training(const std::string& message, const std::string& help);
  ir::ValueId apply_activation(ir::ValueId v);  // the setting "activation"; v itself if it is absent

  // Convert values of NCHW models to the IR's NHWC and back; for NHWC models they change nothing. For any rank: the
  // channels move to the last axis, and back to axis 1.
  ir::ValueId to_nhwc(ir::ValueId v);
  ir::ValueId from_nhwc(ir::ValueId v);

  int64_t read_axis(size_t input = 0);                 // the setting "axis", as a nonnegative axis of the input
  ir::Dims read_shape();                               // the setting "shape"; a scalar if it is absent
  int64_t stream(std::string_view suffix = {}) const;  // the stream number of this node's random numbers
  std::string shape_text(const ir::Dims& dims) const;  // [N,28,28,1]

  // Throw UserError at a setting or at the node's op, with a note that says where input `input` comes from.
  [[noreturn]] void fail_setting(std::string_view setting, const std::string& message, const std::string& help = {},
                                 size_t input = 0);
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}, size_t input = 0);
  void require_rank(size_t input, int64_t low, int64_t high, const std::string& meaning);
  void require_channels(int64_t low);  // input 0: [N, ..., channels] or [N, channels, ...], of rank >= low
  void require_floating(size_t input);
  void require_one_type(size_t first = 0);  // all inputs from `first` on, except literals, have one type
  void require_f32(size_t input);           // an input that is combined with parameters, which are f32
  void require_fit(std::string_view setting, double number, ir::DType dtype);

 private:
  void require_name();
};

// Whether `dtype` can hold `number`. For floating types it may be rounded, but not to infinity.
bool fits(double number, ir::DType dtype);

// 64-bit FNV-1a: the stream number of a path.
int64_t stream_of(std::string_view path);

}  // namespace heddle::frontend
