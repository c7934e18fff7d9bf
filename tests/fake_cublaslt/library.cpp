// The functions that the library exports.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "tests/fake_cublaslt/objects.h"

namespace heddle::fake_cuda {
namespace {

constexpr uint64_t kMagic = 0x6865'6464'6c65'0001;
constexpr uint64_t kScratch = uint64_t{1} << 20;  // that an algorithm takes where it may

struct Algorithm {
  uint64_t number = 0, magic = 0, rest[6] = {};
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace = 0;
  CublasStatus state = 0;
  float waves = 0;
  int reserved[4] = {};
};

// By the numbers in algorithms.
std::vector<Problem>& problems() {
  static std::vector<Problem> all;
  return all;
}

template <class T>
std::set<std::unique_ptr<T>>& all_of() {
  static std::set<std::unique_ptr<T>> all;
  return all;
}
template <class T>
T* find(void* object, const char* call) {
  for (const auto& item : all_of<T>())
    if (item.get() == object) return item.get();
  world().violate(fmt::format("{} of an object that is not there", call));
  return nullptr;
}

CublasStatus refuse(const char* call, const std::string& why, CublasStatus status = kCublasInvalidValue) {
  world().violate(fmt::format("{}: {}", call, why));
  return status;
}

template <class T>
CublasStatus create(const char* call, const char* kind, void** to, T value) {
  const Call entered(call);
  if (entered.status() != kSuccess) return kCublasNotInitialized;
  *to = all_of<T>().insert(std::make_unique<T>(value)).first->get();
  ++world().alive[kind];
  return kCublasSuccess;
}
template <class T>
CublasStatus destroy(const char* call, const char* kind, void* object) {
  const Call entered(call);
  const T* found = find<T>(object, call);
  if (found == nullptr) return kCublasInvalidValue;
  std::erase_if(all_of<T>(), [&](const auto& item) { return item.get() == found; });
  --world().alive[kind];
  return kCublasSuccess;
}

template <class T>
CublasStatus set(const char* call, T& to, const void* from, size_t bytes) {
  if (from == nullptr || bytes != sizeof to)
    return refuse(call, fmt::format("an attribute of {} bytes, of which {} are given", sizeof to, bytes));
  std::memcpy(&to, from, sizeof to);
  return kCublasSuccess;
}

// What a product of these descriptors is; nothing where one of them is not there.
std::optional<Problem> problem_of(const char* call, void* operation, void* a, void* b, void* c, void* d) {
  const auto* op = find<Multiplication>(operation, call);
  const auto *la = find<MatrixLayout>(a, call), *lb = find<MatrixLayout>(b, call), *lc = find<MatrixLayout>(c, call),
             *ld = find<MatrixLayout>(d, call);
  if (op == nullptr || la == nullptr || lb == nullptr || lc == nullptr || ld == nullptr) return std::nullopt;
  return Problem{.operation = *op, .a = *la, .b = *lb, .c = *lc, .d = *ld, .preference = {}, .workspace = 0};
}

// Where a bias lies may change; all else is what the algorithm was named for.
bool is_for(const Problem& named, const Problem& now) {
  const Multiplication &x = named.operation, &y = now.operation;
  return named.a == now.a && named.b == now.b && named.c == now.c && named.d == now.d && x.compute == y.compute &&
         x.transpose_a == y.transpose_a && x.transpose_b == y.transpose_b && x.epilogue == y.epilogue;
}

std::string wrong_preference(const Preference& p) {
  if (p.schemes != 0)
    return fmt::format("reduction schemes {}: partial results are added in no fixed order", p.schemes);
  for (const uint32_t alignment : p.alignment)
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return fmt::format("an alignment of {} bytes", alignment);
  return {};
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() {
  const char* value = std::getenv("HEDDLE_FAKE_CUBLASLT_VERSION");
  return value == nullptr ? 130100 : std::strtoull(value, nullptr, 10);
}

const char* cublasLtGetStatusName(CublasStatus status) {
  switch (status) {
    case kCublasSuccess: return "CUBLAS_STATUS_SUCCESS";
    case kCublasNotInitialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case kCublasInvalidValue: return "CUBLAS_STATUS_INVALID_VALUE";
    case kCublasExecutionFailed: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case kCublasNotSupported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_OF_THE_FAKE";
  }
}

CublasStatus cublasLtCreate(void** to) {
  if (capturing() != nullptr) return refuse("cublasLtCreate", "while a stream is recorded", kCublasNotInitialized);
  return create("cublasLtCreate", "cuBLASLt handle", to, CublasHandle{});
}
CublasStatus cublasLtDestroy(void* handle) {
  return destroy<CublasHandle>("cublasLtDestroy", "cuBLASLt handle", handle);
}

CublasStatus cublasLtMatrixLayoutCreate(void** to, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  return create("cublasLtMatrixLayoutCreate", "matrix layout", to,
                MatrixLayout{.type = type, .rows = rows, .columns = columns, .ld = ld});
}
CublasStatus cublasLtMatrixLayoutDestroy(void* layout) {
  return destroy<MatrixLayout>("cublasLtMatrixLayoutDestroy", "matrix layout", layout);
}
CublasStatus cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* from, size_t bytes) {
  constexpr const char* kCall = "cublasLtMatrixLayoutSetAttribute";
  const Call call(kCall);
  auto* l = find<MatrixLayout>(layout, kCall);
  if (l == nullptr) return kCublasInvalidValue;
  switch (attribute) {
    case 1: return set(kCall, l->order, from, bytes);
    case 5: return set(kCall, l->batch, from, bytes);
    case 6: return set(kCall, l->apart, from, bytes);
    default: return refuse(kCall, fmt::format("attribute {}", attribute));
  }
}

CublasStatus cublasLtMatmulDescCreate(void** to, int compute, int scale) {
  return create("cublasLtMatmulDescCreate", "matmul descriptor", to,
                Multiplication{.compute = compute, .scale = scale});
}
CublasStatus cublasLtMatmulDescDestroy(void* operation) {
  return destroy<Multiplication>("cublasLtMatmulDescDestroy", "matmul descriptor", operation);
}
CublasStatus cublasLtMatmulDescSetAttribute(void* operation, int attribute, const void* from, size_t bytes) {
  constexpr const char* kCall = "cublasLtMatmulDescSetAttribute";
  const Call call(kCall);
  auto* op = find<Multiplication>(operation, kCall);
  if (op == nullptr) return kCublasInvalidValue;
  switch (attribute) {
    case 2: return set(kCall, op->pointer_mode, from, bytes);
    case 3: return set(kCall, op->transpose_a, from, bytes);
    case 4: return set(kCall, op->transpose_b, from, bytes);
    case 7: return set(kCall, op->epilogue, from, bytes);
    case 8: return set(kCall, op->bias, from, bytes);
    default: return refuse(kCall, fmt::format("attribute {}", attribute));
  }
}

CublasStatus cublasLtMatmulPreferenceCreate(void** to) {
  return create("cublasLtMatmulPreferenceCreate", "matmul preference", to, Preference{});
}
CublasStatus cublasLtMatmulPreferenceDestroy(void* preference) {
  return destroy<Preference>("cublasLtMatmulPreferenceDestroy", "matmul preference", preference);
}
CublasStatus cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* from, size_t bytes) {
  constexpr const char* kCall = "cublasLtMatmulPreferenceSetAttribute";
  const Call call(kCall);
  auto* p = find<Preference>(preference, kCall);
  if (p == nullptr) return kCublasInvalidValue;
  switch (attribute) {
    case 1: return set(kCall, p->workspace, from, bytes);
    case 3: return set(kCall, p->schemes, from, bytes);
    case 5:
    case 6:
    case 7:
    case 8: return set(kCall, p->alignment.at(static_cast<size_t>(attribute - 5)), from, bytes);
    default: return refuse(kCall, fmt::format("attribute {}", attribute));
  }
}

CublasStatus cublasLtMatmulAlgoGetHeuristic(void* handle, void* operation, void* a, void* b, void* c, void* d,
                                            void* preference, int asked, Heuristic* results, int* found) {
  constexpr const char* kCall = "cublasLtMatmulAlgoGetHeuristic";
  const Call call(kCall);
  if (call.status() != kSuccess) return kCublasNotSupported;
  if (find<CublasHandle>(handle, kCall) == nullptr) return kCublasNotInitialized;
  std::optional<Problem> problem = problem_of(kCall, operation, a, b, c, d);
  const auto* p = find<Preference>(preference, kCall);
  if (!problem || p == nullptr || asked < 1 || results == nullptr || found == nullptr) return kCublasInvalidValue;
  if (capturing() != nullptr) return refuse(kCall, "while a stream is recorded");
  if (std::string wrong = wrong_preference(*p); !wrong.empty()) return refuse(kCall, wrong);
  if (std::string wrong = wrong_shapes(*problem); !wrong.empty()) return refuse(kCall, wrong, kCublasNotSupported);
  problem->preference = *p;
  problem->workspace = std::min(p->workspace, kScratch);
  *results = {.algorithm = {.number = problems().size(), .magic = kMagic},
              .workspace = problem->workspace,
              .state = kCublasSuccess,
              .waves = 1};
  *found = 1;
  problems().push_back(*problem);
  return kCublasSuccess;
}

CublasStatus cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, int attribute, void* to, size_t bytes,
                                                  size_t* written) {
  if (algorithm == nullptr || algorithm->magic != kMagic || bytes != sizeof(uint32_t)) return kCublasInvalidValue;
  const uint32_t value = attribute == 0 ? 66 : attribute == 1 ? 20 : attribute == 6 ? 36 : 0;
  std::memcpy(to, &value, sizeof value);
  *written = sizeof value;
  return kCublasSuccess;
}

CublasStatus cublasLtMatmul(void* handle, void* operation, const float* alpha, const void* a, void* a_layout,
                            const void* b, void* b_layout, const float* beta, const void* c, void* c_layout, void* d,
                            void* d_layout, const Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                            void* stream) {
  constexpr const char* kCall = "cublasLtMatmul";
  const Call call(kCall);
  if (call.status() != kSuccess) return kCublasExecutionFailed;
  if (find<CublasHandle>(handle, kCall) == nullptr) return kCublasNotInitialized;
  std::optional<Problem> problem = problem_of(kCall, operation, a_layout, b_layout, c_layout, d_layout);
  Stream* s = find_stream(stream, kCall);
  if (!problem || s == nullptr) return kCublasInvalidValue;
  if (Stream* recorded = capturing(); recorded != nullptr && recorded != s)
    return refuse(kCall, "on another stream than the one that is recorded");
  if (alpha == nullptr || beta == nullptr) return refuse(kCall, "no alpha or no beta");
  if (algorithm == nullptr || algorithm->magic != kMagic || algorithm->number >= problems().size())
    return refuse(kCall, "no algorithm that the heuristic named");
  const Problem& named = problems()[algorithm->number];
  if (!is_for(named, *problem)) return refuse(kCall, "an algorithm of another product");
  problem->preference = named.preference, problem->workspace = named.workspace;
  const auto address = [](const void* p) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(p)); };
  const Arrays arrays{.a = address(a),
                      .b = address(b),
                      .c = address(c),
                      .d = address(d),
                      .workspace = address(workspace),
                      .workspace_bytes = workspace_bytes,
                      .alpha = *alpha,
                      .beta = *beta};
  if (std::string wrong = wrong_shapes(*problem); !wrong.empty()) return refuse(kCall, wrong);
  if (std::string wrong = wrong_arrays(*problem, arrays); !wrong.empty()) return refuse(kCall, wrong);
  s->runs_kernels = true;
  s->push({[what = *problem, arrays] {
             try {
               multiply(what, arrays);
             } catch (const ptx::MemoryError& e) {
               world().violate(fmt::format("cublasLtMatmul: {}", e.what()));
             }
           },
           "product"});
  return kCublasSuccess;
}

}  // extern "C"

}  // namespace heddle::fake_cuda
