// What may be said to the library, and what not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tests/fake_cuda/place.h"
#include "tests/fake_cudnn/objects.h"

namespace heddle::fake_cuda {
namespace {

constexpr int kF32 = 0, kF16 = 2, kBf16 = 9;
// Types of attributes' elements.
constexpr int kHandle = 0, kDataType = 1, kBoolean = 2, kInt64 = 3, kFloat = 4, kPointer = 6, kMode = 7, kHeuristic = 8,
              kNanPropagation = 10, kPointwiseMode = 14, kDescriptor = 15, kChar = 24;
constexpr int kAdd = 0, kRelu = 100;  // pointwise modes
constexpr int64_t kAny = 1 << 20, kAxes = 8;

struct Rule {
  ObjectKind kind;
  int attribute, element;
  int64_t least, most;
  bool required = true;
};
constexpr Rule kRules[] = {
    {kPointwiseObject, 0, kPointwiseMode, 1, 1},
    {kPointwiseObject, 1, kDataType, 1, 1},
    {kPointwiseObject, 2, kNanPropagation, 1, 1, false},
    {kConvolutionObject, 100, kDataType, 1, 1},
    {kConvolutionObject, 101, kMode, 1, 1},
    {kConvolutionObject, 102, kInt64, 1, 3},
    {kConvolutionObject, 103, kInt64, 1, 3},
    {kConvolutionObject, 104, kInt64, 1, 3},
    {kConvolutionObject, 105, kInt64, 1, 3},
    {kConvolutionObject, 106, kInt64, 1, 1},
    {kHeuristicObject, 200, kHeuristic, 1, 1},
    {kHeuristicObject, 201, kDescriptor, 1, 1},
    {kHeuristicObject, 204, kDescriptor, 1, 1, false},
    {kPlanObject, 400, kHandle, 1, 1, false},
    {kPlanObject, 401, kDescriptor, 1, 1},
    {kPlanObject, 407, kDescriptor, 1, 1, false},
    {kForwardObject, 700, kFloat, 1, 1},
    {kForwardObject, 701, kFloat, 1, 1},
    {kForwardObject, 702, kDescriptor, 1, 1},
    {kForwardObject, 703, kDescriptor, 1, 1},
    {kForwardObject, 704, kDescriptor, 1, 1},
    {kForwardObject, 705, kDescriptor, 1, 1},
    {kDataGradientObject, 706, kFloat, 1, 1},
    {kDataGradientObject, 707, kFloat, 1, 1},
    {kDataGradientObject, 708, kDescriptor, 1, 1},
    {kDataGradientObject, 709, kDescriptor, 1, 1},
    {kDataGradientObject, 710, kDescriptor, 1, 1},
    {kDataGradientObject, 711, kDescriptor, 1, 1},
    {kFilterGradientObject, 712, kFloat, 1, 1},
    {kFilterGradientObject, 713, kFloat, 1, 1},
    {kFilterGradientObject, 714, kDescriptor, 1, 1},
    {kFilterGradientObject, 715, kDescriptor, 1, 1},
    {kFilterGradientObject, 716, kDescriptor, 1, 1},
    {kFilterGradientObject, 717, kDescriptor, 1, 1},
    {kPointwiseOperationObject, 750, kDescriptor, 1, 1},
    {kPointwiseOperationObject, 751, kDescriptor, 1, 1},
    {kPointwiseOperationObject, 752, kDescriptor, 1, 1, false},
    {kPointwiseOperationObject, 753, kDescriptor, 1, 1},
    {kGraphObject, 800, kHandle, 1, 1, false},
    {kGraphObject, 801, kDescriptor, 1, 3},
    {kTensorObject, 900, kInt64, 1, 1},
    {kTensorObject, 901, kDataType, 1, 1},
    {kTensorObject, 902, kInt64, 3, kAxes},
    {kTensorObject, 903, kInt64, 3, kAxes},
    {kTensorObject, 906, kInt64, 1, 1},
    {kTensorObject, 907, kBoolean, 1, 1, false},
    {kPackObject, 1000, kInt64, 1, kAny},
    {kPackObject, 1001, kPointer, 1, kAny},
    {kPackObject, 1003, kPointer, 1, 1},
    {kDeviceObject, 2702, kChar, 1, kAny},
};

// The part that an attribute refers to.
const Object* part(const Object& o, int attribute) { return find_object(value<const void*>(o, attribute)); }

// --- each kind ---

// Channels next to each other, then the axes of space, the last one first; then the images.
std::vector<int64_t> channels_last(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  int64_t next = dims[1];
  for (size_t i = dims.size() - 1; i > 1; --i) strides[i] = next, next *= dims[i];
  strides[0] = next;
  return strides;
}

TensorOf tensor_of(const Object& o) {
  return {.type = value<int>(o, 901),
          .id = value<int64_t>(o, 906),
          .alignment = value<int64_t>(o, 900),
          .dims = values<int64_t>(o, 902),
          .strides = values<int64_t>(o, 903),
          .has_address = value<char>(o, 907) == 0};
}

std::string wrong_tensor(const TensorOf& t) {
  if (t.type != kF32 && t.type != kF16 && t.type != kBf16) return fmt::format("a tensor of type {}", t.type);
  if (!t.has_address && t.type != kF32) return fmt::format("sums of type {} between two operations", t.type);
  if (t.dims.size() != t.strides.size())
    return fmt::format("{} sizes and {} strides of a tensor", t.dims.size(), t.strides.size());
  for (const int64_t size : t.dims)
    if (size < 1) return fmt::format("a tensor of size {}", size);
  if (t.strides != channels_last(t.dims))
    return fmt::format("strides {} of sizes {}: channels lie last, {}", t.strides, t.dims, channels_last(t.dims));
  if (t.alignment < 1 || (t.alignment & (t.alignment - 1)) != 0) return fmt::format("alignment {}", t.alignment);
  if (t.alignment % static_cast<int64_t>(type_bytes(t.type)) != 0)
    return fmt::format("alignment {} of elements of {} bytes", t.alignment, type_bytes(t.type));
  return {};
}

std::string wrong_geometry(const Object& o) {
  if (const int type = value<int>(o, 100); type != kF32) return fmt::format("sums of type {}", type);
  if (const int mode = value<int>(o, 101); mode != 1) return fmt::format("convolution mode {}", mode);
  const auto axes = static_cast<size_t>(value<int64_t>(o, 106));
  for (const int attribute : {102, 103, 104, 105}) {
    const std::vector<int64_t> list = values<int64_t>(o, attribute);
    if (list.size() != axes) return fmt::format("{} of attribute {} for {} axes", list.size(), attribute, axes);
    for (const int64_t number : list)
      if (number < (attribute < 104 ? 1 : 0)) return fmt::format("{} in attribute {}", number, attribute);
  }
  return {};
}

// Where an operation has its geometry, X, W and Y, alpha and beta.
struct Places {
  int geometry, x, w, y, alpha, beta;
};
Places places_of(ObjectKind kind) {
  if (kind == kForwardObject) return {702, 704, 703, 705, 700, 701};
  if (kind == kDataGradientObject) return {708, 710, 709, 711, 706, 707};
  return {714, 716, 715, 717, 712, 713};
}

std::string wrong_part(const Object* p, ObjectKind kind, const char* what) {
  if (p == nullptr) return fmt::format("{} is not there", what);
  if (p->kind != kind) return fmt::format("{} is a descriptor of kind {}", what, static_cast<int>(p->kind));
  if (!p->finished) return fmt::format("{} is not finalized", what);
  return {};
}

std::string wrong_sizes(const ConvolutionOf& c) {
  const size_t rank = c.x.dims.size(), axes = rank - 2;
  if (c.w.dims.size() != rank || c.y.dims.size() != rank || c.strides.size() != axes)
    return fmt::format("tensors of {}, {} and {} axes, and a convolution over {}", rank, c.w.dims.size(),
                       c.y.dims.size(), c.strides.size());
  if (c.x.dims[0] != c.y.dims[0]) return fmt::format("{} images give {}", c.x.dims[0], c.y.dims[0]);
  if (c.w.dims[0] != c.y.dims[1]) return fmt::format("{} filters give {} channels", c.w.dims[0], c.y.dims[1]);
  if (c.x.dims[1] % c.w.dims[1] != 0) return fmt::format("{} channels, and filters of {}", c.x.dims[1], c.w.dims[1]);
  if (const int64_t groups = c.x.dims[1] / c.w.dims[1]; c.w.dims[0] % groups != 0)
    return fmt::format("{} filters in {} groups", c.w.dims[0], groups);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = c.dilations[i] * (c.w.dims[i + 2] - 1) + 1;
    const int64_t size = (c.x.dims[i + 2] + c.low[i] + c.high[i] - reach) / c.strides[i] + 1;
    if (size != c.y.dims[i + 2])
      return fmt::format("axis {} of the result has {} elements, and {} are made", i, c.y.dims[i + 2], size);
  }
  return {};
}

std::string wrong_operation(Object& o) {
  const Places at = places_of(o.kind);
  for (const auto& [name, place] : {std::pair{"X", at.x}, std::pair{"W", at.w}, std::pair{"Y", at.y}})
    if (std::string wrong = wrong_part(part(o, place), kTensorObject, name); !wrong.empty()) return wrong;
  const Object* geometry = part(o, at.geometry);
  if (std::string wrong = wrong_part(geometry, kConvolutionObject, "the convolution"); !wrong.empty()) return wrong;
  const ConvolutionOf c{.kind = o.kind,
                        .x = tensor_of(*part(o, at.x)),
                        .w = tensor_of(*part(o, at.w)),
                        .y = tensor_of(*part(o, at.y)),
                        .low = values<int64_t>(*geometry, 105),
                        .high = values<int64_t>(*geometry, 104),
                        .strides = values<int64_t>(*geometry, 103),
                        .dilations = values<int64_t>(*geometry, 102),
                        .alpha = value<float>(o, at.alpha),
                        .beta = value<float>(o, at.beta)};
  if (!c.x.has_address || !c.w.has_address) return "an operand without an address";
  if (c.x.type != c.w.type || (c.y.has_address && c.x.type != c.y.type))
    return fmt::format("tensors of types {}, {} and {}", c.x.type, c.w.type, c.y.type);
  if (std::set<int64_t>{c.x.id, c.w.id, c.y.id}.size() != 3)
    return fmt::format("ids {}, {} and {} are not three", c.x.id, c.w.id, c.y.id);
  if (c.alpha != 1 || c.beta != 0) return fmt::format("alpha {} and beta {}", c.alpha, c.beta);
  if (std::string wrong = wrong_sizes(c); !wrong.empty()) return wrong;
  o.operation = c;
  return {};
}

std::string wrong_pointwise(const Object& o) {
  if (const int mode = value<int>(o, 0); mode != kAdd && mode != kRelu) return fmt::format("pointwise mode {}", mode);
  if (const int type = value<int>(o, 1); type != kF32) return fmt::format("pointwise numbers of type {}", type);
  if (value<int>(o, 0) == kRelu && value<int>(o, 2) != 1) return "relu that is not told to keep nan";
  return {};
}

std::string wrong_pointwise_operation(Object& o) {
  const bool has_b = o.attributes.contains(752);
  for (const auto& [name, place] : {std::pair{"X", 751}, std::pair{"Y", 753}, std::pair{"B", 752}})
    if (place != 752 || has_b)
      if (std::string wrong = wrong_part(part(o, place), kTensorObject, name); !wrong.empty()) return wrong;
  const Object* how = part(o, 750);
  if (std::string wrong = wrong_part(how, kPointwiseObject, "the pointwise operation"); !wrong.empty()) return wrong;
  PointwiseOf p{.mode = value<int>(*how, 0), .x = tensor_of(*part(o, 751)), .y = tensor_of(*part(o, 753))};
  if (has_b) p.b = tensor_of(*part(o, 752));
  if (has_b != (p.mode == kAdd)) return has_b ? "relu with a second operand" : "a sum without a second operand";
  if (p.x.dims != p.y.dims) return fmt::format("sizes {} become {}", p.x.dims, p.y.dims);
  std::vector<int64_t> pixel(p.x.dims.size(), 1);
  pixel[1] = p.x.dims[1];
  if (has_b && p.b->dims != pixel) return fmt::format("a bias of sizes {} for {}", p.b->dims, p.x.dims);
  if (has_b && !p.b->has_address) return "a bias without an address";
  o.pointwise = p;
  return {};
}

// What an operation of a graph makes goes to the next one, and has no address.
std::string wrong_step(ConvolutionOf& c, const PointwiseOf& p, std::set<int64_t>& ids) {
  if (c.kind != kForwardObject) return "a gradient with an epilogue";
  if (p.x != c.y) return fmt::format("an operation reads {}, and {} is made, or another form of it", p.x.id, c.y.id);
  if (c.y.has_address) return fmt::format("{} has an address, and is between two operations", c.y.id);
  if (c.relu || (p.mode == kAdd && c.bias)) return "operations in another order than bias, relu";
  if (p.mode == kRelu && !c.bias) return "relu without a bias";
  if (p.b && p.b->type != c.x.type) return fmt::format("a bias of type {} for operands of {}", p.b->type, c.x.type);
  if (p.b && !ids.insert(p.b->id).second) return fmt::format("the id {} twice", p.b->id);
  if (!ids.insert(p.y.id).second) return fmt::format("the id {} twice", p.y.id);
  if (p.b) c.bias = p.b;
  c.relu = p.mode == kRelu, c.y = p.y;
  return {};
}

std::string wrong_graph(Object& o) {
  std::set<int64_t> ids;
  for (const void* item : values<const void*>(o, 801)) {
    const Object* operation = find_object(item);
    const bool first = !o.operation;
    if (operation == nullptr || !operation->finished || (first ? !operation->operation : !operation->pointwise))
      return first ? "an operation that is no finalized convolution" : "an operation that is not finalized";
    if (first) {
      o.operation = operation->operation;
      ids = {o.operation->x.id, o.operation->w.id, o.operation->y.id};
    } else if (std::string wrong = wrong_step(*o.operation, *operation->pointwise, ids); !wrong.empty()) {
      return wrong;
    }
  }
  if (!o.operation->y.has_address) return "a result without an address";
  if (o.operation->y.type != o.operation->x.type)
    return fmt::format("a result of type {} of operands of {}", o.operation->y.type, o.operation->x.type);
  o.for_handle = o.attributes.contains(800);
  return {};
}

std::string wrong_device(const Object& o) {
  const std::vector<char> chars = values<char>(o, 2702);
  const std::string json(chars.begin(), chars.end());
  if (!json.starts_with('{') || !json.ends_with('}')) return "a description of a device that is no JSON";
  for (const char* key : {"deviceName", "deviceVer", "multiProcessorCount", "l2CacheSize",
                          "maxSharedMemoryPerBlockOptin", "smClockRateKHz", "totalGlobalMem", "maxGridSize"})
    if (json.find(fmt::format("\"{}\":", key)) == std::string::npos)
      return fmt::format("a description of a device without {}", key);
  if (json.find("\"deviceVer\":800,") == std::string::npos && json.find("\"deviceVer\":900,") == std::string::npos)
    return "a description of a device of another version than 800 and 900";
  return {};
}

// A device is described or at hand, one of both.
std::string wrong_choice(bool handle, const Object& o, int description) {
  const bool described = o.attributes.contains(description);
  if (handle == described) return handle ? "a handle and a description of a device" : "no device";
  return described ? wrong_part(part(o, description), kDeviceObject, "the device") : std::string();
}

std::string wrong_heuristic(const Object& o) {
  const Object* graph = part(o, 201);
  if (std::string wrong = wrong_part(graph, kGraphObject, "the graph"); !wrong.empty()) return wrong;
  if (const int mode = value<int>(o, 200); mode != 2 && mode != 3) return fmt::format("heuristic mode {}", mode);
  return wrong_choice(graph->for_handle, o, 204);
}

std::string wrong_plan(Object& o) {
  const Object* config = part(o, 401);
  if (config == nullptr || config->kind != kConfigObject || !config->engine)
    return "a configuration that no heuristic named";
  o.for_handle = o.attributes.contains(400);
  if (o.for_handle != config->for_handle) return "a configuration of another device";
  o.engine = config->engine, o.operation = config->operation;
  return wrong_choice(o.for_handle, o, 407);
}

std::string wrong_pack(const Object& o) {
  const std::vector<int64_t> ids = values<int64_t>(o, 1000);
  const size_t pointers = values<const void*>(o, 1001).size();
  if (ids.size() != pointers) return fmt::format("{} ids and {} pointers", ids.size(), pointers);
  if (std::set<int64_t>(ids.begin(), ids.end()).size() != ids.size()) return fmt::format("ids {} twice", ids);
  return {};
}

}  // namespace

size_t attribute_bytes(int element) {
  if (element == kChar || element == kBoolean) return 1;
  for (const int four : {kDataType, kFloat, kMode, kHeuristic, kNanPropagation, kPointwiseMode})
    if (element == four) return 4;
  return 8;
}

uint64_t type_bytes(int type) { return type == kF32 ? 4 : 2; }

uint64_t bytes_of(const TensorOf& t) {
  int64_t last = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) last += (t.dims[i] - 1) * t.strides[i];
  return (static_cast<uint64_t>(last) + 1) * type_bytes(t.type);
}

std::string wrong_attribute(const Object& o, int attribute, int element, int64_t count, const void* from) {
  if (o.finished) return fmt::format("attribute {} of a descriptor that is finalized", attribute);
  const auto* rule =
      std::ranges::find_if(kRules, [&](const Rule& r) { return r.kind == o.kind && r.attribute == attribute; });
  if (rule == std::end(kRules))
    return fmt::format("attribute {} of a descriptor of kind {}", attribute, static_cast<int>(o.kind));
  if (element != rule->element)
    return fmt::format("attribute {} of type {}, and it is {}", attribute, element, rule->element);
  if (count < rule->least || count > rule->most) return fmt::format("{} elements of attribute {}", count, attribute);
  if (from == nullptr) return fmt::format("no elements of attribute {}", attribute);
  return {};
}

std::string wrong_object(Object& o) {
  if (o.finished) return "a descriptor that is finalized already";
  for (const Rule& r : kRules)
    if (r.kind == o.kind && r.required && !o.attributes.contains(r.attribute))
      return fmt::format("attribute {} is not set", r.attribute);
  switch (o.kind) {
    case kTensorObject: return wrong_tensor(tensor_of(o));
    case kConvolutionObject: return wrong_geometry(o);
    case kForwardObject:
    case kDataGradientObject:
    case kFilterGradientObject: return wrong_operation(o);
    case kPointwiseObject: return wrong_pointwise(o);
    case kPointwiseOperationObject: return wrong_pointwise_operation(o);
    case kGraphObject: return wrong_graph(o);
    case kDeviceObject: return wrong_device(o);
    case kHeuristicObject: return wrong_heuristic(o);
    case kPlanObject: return wrong_plan(o);
    case kPackObject: return wrong_pack(o);
    default: return fmt::format("a descriptor of kind {}, which the library fills in", static_cast<int>(o.kind));
  }
}

std::string wrong_arrays(const ConvolutionOf& c, const ArraysOf& at) {
  std::vector<Place> parts = {
      {"X", at.at[0], bytes_of(c.x)}, {"W", at.at[1], bytes_of(c.w)}, {"Y", at.at[2], bytes_of(c.y)}};
  std::vector<int64_t> alignment = {c.x.alignment, c.w.alignment, c.y.alignment};
  if (c.bias) parts.push_back({"B", at.at[3], bytes_of(*c.bias)}), alignment.push_back(c.bias->alignment);
  for (size_t i = 0; i < parts.size(); ++i)
    if (std::string wrong = wrong_place(parts[i], static_cast<uint64_t>(alignment[i])); !wrong.empty()) return wrong;
  const size_t made = c.kind == kForwardObject ? 2 : c.kind == kDataGradientObject ? 0 : 1;
  if (at.workspace_bytes > 0) {
    constexpr uint64_t kLine = 256;
    parts.push_back({"the workspace", at.workspace, at.workspace_bytes});
    if (std::string wrong = wrong_place(parts.back(), kLine); !wrong.empty()) return wrong;
  }
  for (size_t i = 0; i < parts.size(); ++i)
    if (i != made && overlap(parts[i], parts[made]))
      return fmt::format("{} lies over {}", parts[made].name, parts[i].name);
  for (size_t i = 0; i < alignment.size(); ++i)
    if (parts.size() > alignment.size() && overlap(parts[i], parts.back()))
      return fmt::format("the workspace lies over {}", parts[i].name);
  return {};
}

}  // namespace heddle::fake_cuda
