#include "runtime/cuda/cublaslt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

constexpr uint32_t kMostAlignment = 256;  // that the library asks for

bool flag(const codegen::Library& call, const std::string& name) {
  const auto found = call.integers.find(name);
  return found != call.integers.end() && !found->second.empty() && found->second[0] != 0;
}

int type_of(const std::string& dtype) {
  return dtype == "f16" ? cublaslt::kF16 : dtype == "bf16" ? cublaslt::kBf16 : cublaslt::kF32;
}

// The compute type: the type to which f32 operands may be rounded. 16-bit operands are multiplied as they are.
int compute_of(const codegen::Library& call) {
  if (call.operands[0].dtype != "f32" || call.precision == "f32") return cublaslt::kCompute32;
  return call.precision == "tf32"   ? cublaslt::kFastTf32
         : call.precision == "bf16" ? cublaslt::kFastBf16
                                    : cublaslt::kFastF16;
}

// A row-major matrix as the library describes it: column-major and transposed.
CublasltLayout by_columns(const codegen::TensorDesc& t) {
  const int64_t rows = t.dims[t.dims.size() - 2], columns = t.dims.back();
  return {.type = type_of(t.dtype),
          .rows = static_cast<uint64_t>(columns),
          .columns = static_cast<uint64_t>(rows),
          .ld = columns,
          .apart = rows * columns};
}

std::string shape(const codegen::TensorDesc& t) { return fmt::format("{}[{}]", t.dtype, fmt::join(t.dims, ",")); }

UserError no_library(const std::string& reason) {
  return {ExitCode::missing, "the program calls cuBLASLt 13, and there is none: " + reason,
          "install it, set HEDDLE_CUBLASLT to libcublasLt.so.13, or compile the program without --libraries"};
}

const CublasltApi& require_cublaslt() {
  std::string reason;
  const CublasltApi* api = find_cublaslt(&reason);
  if (api == nullptr) throw no_library(reason);
  return *api;
}

// The alignment in bytes that the address has in every turn of the loops.
uint32_t alignment_of(const CublasltCall::Place& place) {
  uint64_t bits = place.at | kMostAlignment;
  for (const int64_t stride : place.strides) bits |= static_cast<uint64_t>(stride);
  return uint32_t{1} << std::countr_zero(bits);
}

const void* pointer(cuda::Address at) { return std::bit_cast<const void*>(static_cast<uintptr_t>(at)); }

// Owns one object of the library and destroys it at the end.
class Made {
 public:
  using Destroy = cublaslt::Status (*)(void*);
  explicit Made(Destroy destroy) : destroy_(destroy) {}
  ~Made() {
    if (object_ != nullptr) destroy_(object_);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  void** put() { return &object_; }
  void* get() const { return object_; }

 private:
  Destroy destroy_;
  void* object_ = nullptr;
};

}  // namespace

int64_t cublaslt_workspace(const std::string& arch) {
  constexpr int kHopper = 90;
  int number = 0;
  const size_t digits = std::min(arch.find('_'), arch.size() - 1) + 1;  // of "sm_90a", "compute_121"
  std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return int64_t{number >= kHopper ? 32 : 4} << 20;
}

std::string cublaslt_refusal(const codegen::Library& call) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (!call.matrix_product) return fmt::format("operator {}", call.op);
  if (call.results.size() != 1) return fmt::format("{} results", call.results.size());
  if (call.epilogue.size() > 1 || (call.epilogue.size() == 1 && !call.epilogue[0].bias))
    return fmt::format("epilogue {}", call.epilogue.back().op);
  std::vector<codegen::TensorDesc> all = call.operands;
  all.insert(all.end(), call.results.begin(), call.results.end());
  for (const codegen::TensorDesc& t : all) {
    if (t.dtype != "f32" && t.dtype != "bf16" && t.dtype != "f16") return fmt::format("dtype {}", t.dtype);
    if (t.dtype != all[0].dtype) return fmt::format("{} beside {}", t.dtype, all[0].dtype);
    int64_t matrices = 1;
    for (const int64_t size : t.dims) {
      if (size == 0) return "an empty tensor";
      if (size > kLargest) return fmt::format("a size of {}", size);
    }
    for (size_t i = 0; i + 2 < t.dims.size(); ++i) matrices *= t.dims[i];
    if (matrices > kLargest) return fmt::format("a batch of {}", matrices);
  }
  return {};
}

CublasltProduct describe_cublaslt(const codegen::Library& call) {
  HEDDLE_CHECK(cublaslt_refusal(call).empty(), fmt::format("'{}' is no call of cuBLASLt", call.title));
  CublasltProduct p;
  p.a = by_columns(call.operands[1]);
  p.b = by_columns(call.operands[0]);
  p.d = by_columns(call.results[0]);
  p.transpose_a = flag(call, "transpose_b");
  p.transpose_b = flag(call, "transpose_a");
  const std::vector<int64_t>& dims = call.results[0].dims;
  for (size_t i = 0; i + 2 < dims.size(); ++i) p.batch *= static_cast<int32_t>(dims[i]);
  p.compute = compute_of(call);
  p.bias = !call.epilogue.empty();
  return p;
}

std::string cublaslt_shapes(const codegen::Library& call) {
  const auto operand = [&](size_t i, const char* transposed) {
    return shape(call.operands[i]) + (flag(call, transposed) ? " transposed" : "");
  };
  return fmt::format("{} = {} by {}{}", shape(call.results[0]), operand(0, "transpose_a"), operand(1, "transpose_b"),
                     call.epilogue.empty() ? "" : " with a bias");
}

Cublaslt::Cublaslt() : api_(require_cublaslt()) { api_.check(api_.Create(&handle_), "cublasLtCreate"); }
Cublaslt::~Cublaslt() { api_.Destroy(handle_); }

struct CublasltCall::Impl {
  const Cublaslt& library;
  const CublasltApi& api;
  std::string about;  // "'matmul.2': f32[..] = ..", for messages
  CublasltProduct product;
  std::vector<Place> places;
  cuda::Address workspace;
  size_t workspace_bytes;
  Made operation, a, b, d;
  cublaslt::Heuristic taken = {};

  Impl(const Cublaslt& l, const codegen::Library& call, std::vector<Place> where, cuda::Address scratch)
      : library(l),
        api(l.api()),
        about(fmt::format("'{}': {}", call.title, cublaslt_shapes(call))),
        product(describe_cublaslt(call)),
        places(std::move(where)),
        workspace(scratch),
        workspace_bytes(static_cast<size_t>(call.workspace.bytes)),
        operation(api.OperationDestroy),
        a(api.LayoutDestroy),
        b(api.LayoutDestroy),
        d(api.LayoutDestroy) {
    describe_operation();
    describe(a, product.a);
    describe(b, product.b);
    describe(d, product.d);
    choose();
  }

  void check(cublaslt::Status status, const char* call) const { api.check(status, call, about); }

  // `places` has the operands in Heddle's order, then the result.
  const Place& left() const { return places[0]; }
  const Place& right() const { return places[1]; }
  const Place& result() const { return places.back(); }

  template <class T>
  void set_operation(int attribute, const T& value) const {
    check(api.OperationSet(operation.get(), attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }
  void describe_operation() {
    using namespace cublaslt;
    check(api.OperationCreate(operation.put(), product.compute, kF32), "cublasLtMatmulDescCreate");
    set_operation(kTransposeA, product.transpose_a ? kTransposed : kPlain);
    set_operation(kTransposeB, product.transpose_b ? kTransposed : kPlain);
    set_operation(kEpilogue, product.bias ? kEpilogueBias : kEpilogueNone);
    place_bias();
  }
  void place_bias() const {
    if (product.bias) set_operation(cublaslt::kBiasPointer, pointer(places[2].at));
  }

  void describe(Made& layout, const CublasltLayout& l) const {
    check(api.LayoutCreate(layout.put(), l.type, l.rows, l.columns, l.ld), "cublasLtMatrixLayoutCreate");
    if (product.batch == 1) return;
    const auto set = [&](int attribute, const auto& value) {
      check(api.LayoutSet(layout.get(), attribute, &value, sizeof value), "cublasLtMatrixLayoutSetAttribute");
    };
    set(cublaslt::kLayoutBatchCount, product.batch);
    set(cublaslt::kLayoutBatchOffset, l.apart);
  }

  void choose() {
    using namespace cublaslt;
    Made preference(api.PreferenceDestroy);
    check(api.PreferenceCreate(preference.put()), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](int attribute, const auto& value) {
      check(api.PreferenceSet(preference.get(), attribute, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(kMostWorkspace, static_cast<uint64_t>(workspace_bytes));
    prefer(kReductionSchemes, kNoReduction);
    prefer(kAlignmentA, alignment_of(right()));
    prefer(kAlignmentB, alignment_of(left()));
    prefer(kAlignmentC, alignment_of(result()));
    prefer(kAlignmentD, alignment_of(result()));
    int found = 0;
    check(api.GetHeuristic(library.handle(), operation.get(), a.get(), b.get(), d.get(), d.get(), preference.get(), 1,
                           &taken, &found),
          "cublasLtMatmulAlgoGetHeuristic");
    check(found > 0 ? taken.state : kNotSupported, "cublasLtMatmulAlgoGetHeuristic");
    HEDDLE_CHECK(taken.workspace <= workspace_bytes, "an algorithm takes no more scratch than it may");
    about += ", " + algorithm();
  }
  std::string algorithm() const {
    const auto number = [&](int attribute) {
      uint32_t value = 0;
      size_t written = 0;
      api.AlgorithmGet(&taken.algorithm, attribute, &value, sizeof value, &written);
      return value;
    };
    return fmt::format("algorithm {}, tile {}, stages {}", number(cublaslt::kAlgorithmId),
                       number(cublaslt::kAlgorithmTile), number(cublaslt::kAlgorithmStages));
  }

  void run(cuda::Stream stream) const {
    constexpr float kOne = 1, kZero = 0;
    place_bias();
    void* to = std::bit_cast<void*>(static_cast<uintptr_t>(result().at));
    void* scratch = std::bit_cast<void*>(static_cast<uintptr_t>(workspace));
    check(api.Matmul(library.handle(), operation.get(), &kOne, pointer(right().at), a.get(), pointer(left().at),
                     b.get(), &kZero, to, d.get(), to, d.get(), &taken.algorithm, scratch, workspace_bytes, stream),
          "cublasLtMatmul");
  }
};

CublasltCall::CublasltCall(const Cublaslt& library, const codegen::Library& call, std::vector<Place> places,
                           cuda::Address workspace) {
  if (const std::string refusal = cublaslt_refusal(call); !refusal.empty())
    throw UserError(ExitCode::failed, fmt::format("cuBLASLt {} cannot run {} '{}': {}", library.api().version(),
                                                  call.op, call.title, refusal));
  HEDDLE_CHECK(places.size() == call.operands.size() + 1, "a call has its operands and its result");
  impl_ = std::make_unique<Impl>(library, call, std::move(places), workspace);
}

CublasltCall::~CublasltCall() = default;
CublasltCall::CublasltCall(CublasltCall&&) noexcept = default;

void CublasltCall::run(cuda::Stream stream) const { impl_->run(stream); }

void CublasltCall::advance(size_t loop, int64_t turns) {
  for (Place& place : impl_->places)
    if (loop < place.strides.size()) place.at += static_cast<cuda::Address>(place.strides[loop] * turns);
}

std::string CublasltCall::algorithm() const { return impl_->algorithm(); }

}  // namespace heddle::runtime
