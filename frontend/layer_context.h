// LayerContext: what a layer's build function works with: its inputs, settings and parameters, and the graph being
// built.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "frontend/initializer.h"
#include "frontend/instantiate/take_body.h"
#include "frontend/layer_def.h"
#include "frontend/model.h"

namespace heddle::frontend {

// A new parameter or buffer. `type` is its logical shape, which initializers, files and messages speak of.
struct ParameterSpec {
  std::string path;
  ir::Type type;
  ir::Layout layout = {};
  ir::Role role = ir::Role::param;
};

// A loop over the first axis of slices, whose turn has been built into the graph from the place `first` of its order on.
struct LoopSpec {
  std::string path;  // of the body and its results: "rnn.l0"
  size_t first = 0;
  Turn turn;
  ir::Values starts, sequences;  // of the turn's carries and slices
  int64_t count = 1;
  bool reverse = false;
};

// What the layers of one graph share. Implemented by the instantiation.
struct GraphServices {
  // A new parameter of the graph, as it lies in memory.
  std::function<ir::ValueId(const ParameterSpec&, const Initializer& init, const Location& where)> parameter;
  std::function<void(ir::ValueId buffer, ir::ValueId next)> update;
  // A state that the layer leaves to the next batch, by `update`; invalid in entries that do not train.
  std::function<ir::ValueId(const std::string& path, const ir::Type& type, const Location& where)> keep;
  std::function<void(ir::ValueId parameter, const Location& where)> sparse;
  std::function<void(ir::ValueId parameter, int64_t row)> zero_row;
  std::function<void(const Diagnostic& reason)> refuse;
  std::function<ir::ValueId(const std::string& name)> counter;  // the states "seed" and "step"
  std::function<Diagnostic(ir::ValueId)> origin;                // a note: "input [N,2,2,32] comes from max_pool2d here"
  // The carries as the last turn leaves them, then what is stacked, [count, ...].
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
  ir::Values in;     // an absent optional input is invalid; literals are invalid and stand in node.in
  ImageLayout layout = ImageLayout::nhwc;
  bool training = true;
  std::map<ir::ValueId, ir::ValueId> originals = {};  // of weights that are made of parameters: the one drawn as they

  const ir::Type& type(ir::ValueId v) const { return b.type(v); }
  // A copy: the graph moves its values when one is added.
  ir::Dims dims(ir::ValueId v) const { return b.type(v).dims; }

  // A node named <path>.<suffix>; the last one of a layer is renamed <path>.
  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs = {}, std::string_view suffix = {});
  ir::ValueId reshape(ir::ValueId v, const ir::Dims& dims,
                      std::string_view suffix = "reshape");  // v itself where nothing changes
  ir::ValueId constant(double value, const ir::Type& type);
  // Positions [start, stop) of one axis, every `step`th of them.
  ir::ValueId slice(ir::ValueId v, int64_t axis, int64_t start, int64_t stop, std::string_view suffix,
                    int64_t step = 1);
  // NumPy's broadcasting, named after what is broadcast.
  ir::ValueId broadcast(ir::ValueId v, const ir::Dims& dims);

  // The parameter <path>.<name> (<path> where the name is empty), initialised by the setting `setting` (a part), else
  // by train.init where `weight`, else by `init`. The value has the axes of `dims` in the order of `layout`. A `weight` is
  // made of other parameters where the setting weight_norm or spectral_norm says so (frontend/weight_norms.h).
  ir::ValueId parameter(const std::string& name, const ir::Dims& dims, std::string_view setting,
                        const std::string& init, bool weight, const ir::Layout& layout = {});
  ir::ValueId parameter(const std::string& name, const ir::Dims& dims, std::string_view setting,
                        const Initializer& init, bool weight, const ir::Layout& layout = {});
  // The buffer <path>.<name>: what the layer keeps beside its parameters, of any type, saved with them and not trained.
  ir::ValueId buffer(const std::string& name, const ir::Type& type, const std::string& init);
  // A step renews only those rows of the parameter that are looked up; `setting` says so.
  void train_sparsely(ir::ValueId parameter, std::string_view setting);
  // This row of the parameter starts as zeros, whatever its initializer.
  void start_with_zeros(ir::ValueId parameter, int64_t row);
  // The buffer's next value, in the entries that train.
  void update(ir::ValueId buffer, ir::ValueId next);
  // This batch size cannot train; it may evaluate.
  void refuse_training(const std::string& message, const std::string& help);
  ir::ValueId apply_activation(ir::ValueId v);  // the setting "activation", where given

  // NCHW models: to the IR's NHWC and back; the identity for NHWC. Of any rank: the channels go
  // last, and back to axis 1.
  ir::ValueId to_nhwc(ir::ValueId v);
  ir::ValueId from_nhwc(ir::ValueId v);

  int64_t read_axis(size_t input = 0);                 // the setting "axis", of the input: counted from the front
  ir::Dims read_shape();                               // the setting "shape": sizes; absent: a scalar
  int64_t stream(std::string_view suffix = {}) const;  // of this node's random numbers
  std::string shape_text(const ir::Dims& dims) const;  // [N,28,28,1]

  // Errors: at a setting, with a note where input `i` comes from; or at the node's op.
  [[noreturn]] void fail_setting(std::string_view setting, const std::string& message, const std::string& help = {},
                                 size_t input = 0);
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}, size_t input = 0);
  void require_rank(size_t input, int64_t low, int64_t high, const std::string& meaning);
  void require_channels(int64_t low);  // of the first input: [N, ..., channels], or [N, channels, ...]
  void require_floating(size_t input);
  void require_one_type(size_t first = 0);  // of the inputs from the `first` on that are values
  void require_f32(size_t input);           // what meets parameters is of their type
  void require_fit(std::string_view setting, double number, ir::DType dtype);

 private:
  void require_name();
};

// Whether `number` has a value in `dtype`: floating types round, but not to infinity.
bool fits(double number, ir::DType dtype);

// 64-bit FNV-1a: the stream number of a path.
int64_t stream_of(std::string_view path);

}  // namespace heddle::frontend
