// Builder: builds the oneDNN primitives of one library call. onednn_matmul.cpp has the code for products,
// onednn_convolution.cpp that for convolutions.
//
//   matmul of [16,1000000] and [1000000,16]  ->  one slice of 246 tasks, each of which adds 32 results to one in doubles
//
// Private to the runtime's oneDNN files.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/host/onednn_descriptors.h"
#include "runtime/host/onednn_parts.h"
#include "runtime/host/thread_pool.h"

namespace heddle::runtime::onednn {

using dnnl::memory;
using Dims = memory::dims;
constexpr auto kF32 = memory::data_type::f32;

inline int64_t product(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// A convolution of images or volumes. `in`, `out`, `window` and the lists after them have a number per spatial axis.
struct Convolution {
  int64_t n, c, o, groups;
  Dims in, out, window, strides, dilations, low, high;

  int64_t image() const { return product(in) * c; }  // elements
  int64_t made() const { return product(out) * o; }
  int64_t row() const { return product(out) / out[0]; }  // positions of one row of the result: all axes but the first
};

// Sizes of a matrix product [m,k] x [k,n]; ta, tb: the operand is transposed. `batch` matrices follow each other.
struct Product {
  int64_t batch, m, n, k;
  bool ta, tb;
};

// oneDNN adds products one after another in f32, which loses precision. So a long sum is cut into runs, whose results
// are added in doubles. Runs are long enough to cost no speed: shorter ones would leave the loops of a filter
// gradient's kernels too short.
constexpr int64_t kFilterRun = 1024, kProductRun = 128;
constexpr int64_t kWholeProduct = 4096;  // sums up to this length are not cut, since runs would cost time
constexpr int64_t kMostTasks = 4096;     // of a slice, since each task is an object

inline int64_t filter_runs_of(int64_t positions, int64_t row) {
  const int64_t run = std::max(kFilterRun, row);
  return positions <= 2 * run ? 1 : std::min(kMostTasks, (positions + run - 1) / run);
}

inline std::vector<int64_t> integers(const codegen::Library& call, const std::string& key,
                                     const std::vector<int64_t>& fallback) {
  const auto it = call.integers.find(key);
  return it == call.integers.end() ? fallback : it->second;
}

inline dnnl::fpmath_mode fpmath_mode(const std::string& precision) {
  return precision == "bf16" ? dnnl::fpmath_mode::bf16 : dnnl::fpmath_mode::strict;
}

// Whether the call multiplies integers, u8 or i8 by i8, with sums in i32 (onednn_int8.cpp).
bool multiplies_bytes(const codegen::Library& call);
// Whether the call multiplies f32 by a transposed i8 matrix, which row_product.h does.
bool widens_weight(const codegen::Library& call);

// Builds the parts of one call.
class Builder {
 public:
  Builder(const codegen::Library& call, std::span<void* const> arguments, void* workspace)
      : call_(call),
        measured_(arguments.empty()),
        arguments_(arguments.begin(), arguments.end()),
        base_(static_cast<char*>(workspace)) {
    arguments_.resize(call.operands.size() + call.results.size(), nullptr);
  }

  OnednnParts build();

 private:
  const std::vector<int64_t>& dims_of(int role) const {
    return (role < 0 ? call_.results[0] : call_.operands[static_cast<size_t>(role)]).dims;
  }
  float* operand(size_t i) const { return static_cast<float*>(arguments_[i]); }
  float* result() const { return static_cast<float*>(arguments_[call_.operands.size()]); }
  // A null address stays null: the call is only measured then.
  static float* at(float* p, int64_t elements) { return p == nullptr ? nullptr : p + elements; }

  float* take(size_t bytes) {
    constexpr int64_t kAlign = 256;
    const int64_t offset = parts_.workspace;
    parts_.workspace += (static_cast<int64_t>(bytes) + kAlign - 1) / kAlign * kAlign;
    return base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + offset);
  }

  double* take_doubles(int64_t count) {
    return reinterpret_cast<double*>(take(static_cast<size_t>(count) * sizeof(double)));
  }

  // A call that is only measured binds no memory, because its tasks never run.
  dnnl_memory_t bind(const memory::desc& desc, void* address) {
    if (measured_) return nullptr;
    parts_.memories.emplace_back(desc, parts_.engine, address == nullptr ? DNNL_MEMORY_NONE : address);
    return parts_.memories.back().get();
  }

  bool has_scale() const {
    return std::ranges::any_of(call_.epilogue, [](const codegen::EpilogueStep& step) { return step.scale; });
  }
  bool has_bias() const {
    return std::ranges::any_of(call_.epilogue, [](const codegen::EpilogueStep& step) { return step.bias; });
  }
  bool has_relu() const {
    return std::ranges::any_of(call_.epilogue, [](const codegen::EpilogueStep& step) { return step.at_least == 0.0; });
  }

  // Returns fresh attributes for each primitive, since copies of attributes share one object.
  dnnl::primitive_attr attributes() const {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attr.set_fpmath_mode(fpmath_mode(call_.precision));  // whatever ONEDNN_DEFAULT_FPMATH_MODE says
    return attr;
  }

  template <class Primitive, class... Arguments>
  typename Primitive::primitive_desc describe(Arguments&&... arguments) const {
    return described<Primitive>(parts_.engine, attributes(), std::forward<Arguments>(arguments)...);
  }

  // The scratch memory of one slice. Slices may run at the same time, so each has its own. The tasks of a slice run one
  // after another and share it.
  struct Scratch {
    float* at = nullptr;
    size_t bytes = 0;
  };

  template <class Descriptor>
  void add(OnednnTasks& list, const Descriptor& desc, const dnnl::primitive& primitive,
           std::vector<dnnl_exec_arg_t> arguments, Scratch& scratch) {
    const memory::desc needed = desc.scratchpad_desc();
    if (const size_t bytes = needed.get_size(); bytes > 0) {
      if (bytes > scratch.bytes) scratch = {take(bytes), bytes};
      arguments.push_back({DNNL_ARG_SCRATCHPAD, bind(needed, scratch.at)});
    }
    list.push_back({primitive, std::move(arguments)});
  }

  // Adds a slice that has one primitive.
  template <class Descriptor>
  OnednnTask& add_slice(const Descriptor& desc, const dnnl::primitive& primitive,
                        std::vector<dnnl_exec_arg_t> arguments) {
    Scratch scratch;
    add(parts_.slices.emplace_back(), desc, primitive, std::move(arguments), scratch);
    return parts_.slices.back().back();
  }

  void reorder(OnednnTasks& list, const memory::desc& from, void* source, const memory::desc& to, void* target) {
    const dnnl::reorder::primitive_desc desc(parts_.engine, from, parts_.engine, to, attributes());
    Scratch scratch;
    add(list, desc, dnnl::reorder(desc), {{DNNL_ARG_FROM, bind(from, source)}, {DNNL_ARG_TO, bind(to, target)}},
        scratch);
  }

  // Returns the weights in the layout that a primitive asks for. They are packed once per call, before its slices run.
  void* packed(const memory::desc& plain, void* weights, const memory::desc& layout) {
    if (layout == plain) return weights;
    if (pack_.has_value() && *pack_ == layout) return packed_;
    pack_ = layout;
    packed_ = take(layout.get_size());
    reorder(parts_.before, plain, weights, layout, packed_);
    return packed_;
  }

  int64_t cuts(int64_t extent) const { return std::clamp<int64_t>(call_.batch_split, 1, extent); }

  memory::data_type type_of_bytes() const;
  char* bytes_of(size_t argument, int64_t offset) const;
  void int8_matmul();
  void int8_convolution(const Convolution& g);
  void matmul();
  bool has_lone_rows(const Product& p) const;
  void row_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column);
  void matmul_slice(const Product& p, const Product& part, int64_t batch, int64_t row, int64_t column);
  // Adjacent runs of the inner dimension: `parts` runs of k numbers each, computed as one batched product.
  struct Runs {
    int64_t begin = 0, k = 0, parts = 1;
  };
  struct MatmulDescs {
    memory::desc a, b, c, bias;
  };
  static std::vector<Runs> matmul_runs(const Product& p, const Product& part);
  static MatmulDescs matmul_descs(const Product& p, const Product& part, const Runs& runs);
  // A primitive that all runs and slices of one size share: they differ only in their addresses.
  struct MatmulPrimitive {
    std::array<int64_t, 5> size;  // sizes of the part, then of its runs
    bool bias;
    MatmulDescs memory;
    dnnl::matmul::primitive_desc desc;
    dnnl::matmul primitive;
  };
  const MatmulPrimitive& matmul_primitive(const Product& p, const Product& part, const Runs& runs, bool bias);
  Convolution geometry(const Dims& x, const Dims& w, const Dims& y) const;
  void forward(const Convolution& g);
  void forward_piece(const Convolution& g, Share images, OnednnTasks& tasks, Scratch& scratch);
  void data_grad(const Convolution& g);
  void filter_grad(const Convolution& g);
  struct FilterRun {  // rows of results of one image, or whole images
    Share images, rows;
  };
  static std::vector<FilterRun> filter_runs(const Convolution& g, Share images);
  dnnl::convolution_backward_weights::primitive_desc filter_desc(const Convolution& g, const FilterRun& run,
                                                                 const memory::desc& layout) const;
  void filter_task(const Convolution& g, const FilterRun& run,
                   const dnnl::convolution_backward_weights::primitive_desc& desc, OnednnTasks& tasks,
                   Scratch& scratch);

  // Descriptor of `n` images or volumes with channels last.
  static memory::desc images(int64_t n, const Dims& sizes, int64_t c, memory::data_type type = kF32) {
    Dims dims = {n, c};
    dims.insert(dims.end(), sizes.begin(), sizes.end());
    return memory::desc(dims, type, sizes.size() == 3 ? memory::format_tag::ndhwc : memory::format_tag::nhwc);
  }
  // The library's order of dimensions is always o, i, h, w. In memory, channels are last, as in images.
  static memory::desc weights(const Convolution& g, bool any, memory::data_type type = kF32) {
    using Tag = memory::format_tag;
    const bool volume = g.window.size() == 3, grouped = g.groups > 1;
    Dims dims = {g.o / g.groups, g.c / g.groups};
    if (grouped) dims.insert(dims.begin(), g.groups);
    dims.insert(dims.end(), g.window.begin(), g.window.end());
    const Tag plain = grouped ? (volume ? Tag::godhwi : Tag::gohwi) : (volume ? Tag::odhwi : Tag::ohwi);
    return memory::desc(dims, type, any ? Tag::any : plain);
  }
  dnnl::convolution_forward::primitive_desc forward_desc(const Convolution& g, int64_t n, bool bias) const {
    const auto x = images(n, g.in, g.c), y = images(n, g.out, g.o), w = weights(g, true);
    const auto kind = dnnl::prop_kind::forward_training;
    const auto direct = dnnl::algorithm::convolution_direct;
    const memory::desc b({g.o}, kF32, memory::format_tag::x);
    using Forward = dnnl::convolution_forward;
    if (bias) return describe<Forward>(kind, direct, x, w, b, y, g.strides, g.dilations, g.low, g.high);
    return describe<Forward>(kind, direct, x, w, y, g.strides, g.dilations, g.low, g.high);
  }
  template <class Primitive>
  typename Primitive::primitive_desc gradient(const Convolution& g,
                                              const dnnl::convolution_forward::primitive_desc& forward,
                                              const memory::desc& layout) const {
    return described_after<Primitive>(forward, parts_.engine, attributes(), dnnl::algorithm::convolution_direct,
                                      forward.src_desc(), layout, forward.dst_desc(), g.strides, g.dilations, g.low,
                                      g.high);
  }

  const codegen::Library& call_;
  const bool measured_;
  std::vector<void*> arguments_;
  char* base_;
  OnednnParts parts_;
  std::vector<MatmulPrimitive> products_;
  std::optional<memory::desc> pack_;
  float* packed_ = nullptr;
};

}  // namespace heddle::runtime::onednn
