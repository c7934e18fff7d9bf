// OpDef: the definition of an operator: everything the compiler knows about it.
//
// Its functions use only types of `ir`. So the shape rule, the gradient, the oracle and the kernel semantics of an
// operator share a file, while the algorithms (differentiate, fuse, emit) stay in their layers. To add an operator,
// write one file in ir/ops and its tests.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "ir/evaluate/tensor.h"
#include "ir/graph.h"
#include "ir/index/index_map.h"
#include "ir/keys/key.h"
#include "ir/monoid.h"
#include "ir/op_traits.h"

namespace heddle::ir {

// An operator with its attributes and the types of its operands and results. Shape rules, index maps and oracles read
// it. The accessors return the declared default of an attribute that is not given.
struct Signature {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<Type> operands;
  std::vector<Type> results;  // empty while inferring

  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<int64_t>& integers(std::string_view name) const;
};
Signature signature(const Graph& g, const Node& n);
const Attr& attribute(const OpDef& op, const Attrs& attrs, std::string_view name);  // or the declared default
const std::vector<int64_t>& integers_of(const Node& n, std::string_view name);

// Thrown by shape rules. The message is in lower case, "expected ... got ..."; the caller adds operator and location.
struct InferError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- The kinds: what an operator computes. The set is closed. Codegen visits the kind and never compares names.

// Each element is a function of its index. `expr` is C++ over `i` (int64_t, the row-major index of the element), `k`
// (int64_t, the value of the index expression below), the names of scalar operands, and the scalar attributes. `T` is
// the result's compute type.
struct Source {
  std::string expr;
  std::function<IndexExpr(const Signature&)> k = {};
};
// Each element is a function of the operands' elements at the same place. `expr` is C++ over the operands' names and
// the attributes. T is the compute type: float for f32, f16 and bf16, double for f64, the integer type for integers.
// The preamble has the functions, such as hd::exp, for every T.
struct Elementwise {
  std::string expr;
};
// Each result element is an element of an operand. `maps` has one map per operand, from result coordinates. The first
// operand whose guards hold supplies the element; if none holds, the element is the attribute `fill`.
struct Movement {
  std::function<std::vector<IndexMap>(const Signature&)> maps;
};
// Each result element is an element of the first operand; the second operand holds coordinates of it. Bound coordinate
// b is the element of the second operand at `indices[b]`. If a bound coordinate is outside of [0, extents[b]), nothing
// is read and the result is NaN, or 0 for types without NaN.
struct LookupDomain {
  Dims extents;                   // of the bound coordinates
  std::vector<IndexMap> indices;  // one per bound coordinate, from result coordinates
  IndexMap map;                   // from (result coordinates, bound coordinates) to coordinates of the first operand
};
struct Lookup {
  std::function<LookupDomain(const Signature&)> domain;
};
// The domain of a reduction: each result element combines all points of `extents`. A map takes the result coordinates
// followed by the reduction coordinates. Points whose guards do not hold contribute nothing.
struct ReductionDomain {
  Dims extents;
  std::vector<IndexMap> maps;  // one per operand
  // The value of `k` in the expressions, over the coordinates of the maps; absent: the row-major index of the reduction
  // coordinates. The gradient of max pooling sets it to the position in the window.
  std::optional<IndexExpr> k = {};
  int64_t count = 0;  // the value of `count` in `finish`; 0: the number of points of `extents`
  int64_t counted() const { return count != 0 ? count : product(extents); }
};
// Combines elements with a monoid over A, the accumulation type (float for 16-bit types). `element` is C++ over the
// operands' names, `k` (int64_t, see ReductionDomain) and the scalar attributes. `finish` has one expression per
// result, over `acc`, `count` (int64_t, see ReductionDomain), `valid` (int64_t, the number of points whose guards held)
// and the scalar attributes. `acc` is a value of A. For an indexed monoid it has acc.value and acc.index; among equal
// values the index is the k of the first.
struct Reduction {
  Monoid monoid;
  std::string element;
  std::vector<std::string> finish;
  std::function<ReductionDomain(const Signature&)> domain;
};
// A sum of products, which a library may execute. Generated kernels and the operation count use `domain`: they add up
// "a * b" over it.
struct Contraction {
  std::function<ReductionDomain(const Signature&)> domain;
};
// The plan of a primitive's launch.
struct PrimitivePlan {
  std::vector<std::pair<std::string, std::string>> words;  // words of `call` and the texts that replace them
  int64_t threads = 128;                                   // of a block on a GPU
  int64_t blocks = 1;                                      // blocks with work, on a GPU
  int64_t workers = 1;                                     // workers with work, on the host
  int64_t scratch = 0;                                     // bytes
  double instructions = 1;                                 // estimate, of all warps
  double dependent_loads = 1;                              // the longest chain of dependent loads in a thread
};
// The memory traffic of a launch on a GPU: sectors that warps read and write, sectors read that the nearest cache does
// not answer, and wavefronts of shared memory (ir/kernel/count/kernel_counts.h).
struct PrimitiveMemory {
  static constexpr double kSector = 32;  // bytes
  double read = 0, fetched = 0, written = 0;
  double wavefronts = 0;
};
// The bytes that a launch reads and writes.
struct PrimitiveBytes {
  int64_t read = 0, written = 0;
};
struct FlopCounts {
  double flops = 0;     // all operations
  double products = 0;  // the part of them in matrix products, which run at a library's rate
};
// A result that is an operand with some elements changed. It always lies over that operand.
struct Overwrite {
  size_t result = 0, operand = 0;
};
// A kernel of its own: a function of the preamble that is not a loop over points, such as a sort. `call` is a C++
// statement that all threads of the launch execute. It names the operands and results (pointers), `scratch`, and the
// words of the plan.
struct Primitive {
  std::string call;  // empty if a trait determines the text (Traits::gathers_rows)
  std::function<PrimitivePlan(const Signature&)> plan;
  // The memory traffic. `once` is the traffic if each operand is read once and each result written once. Absent:
  // `once`.
  std::function<PrimitiveMemory(const Signature&, const PrimitivePlan&, const PrimitiveMemory& once)> memory = {};
  // The bytes; absent: each operand and each result once.
  std::function<PrimitiveBytes(const Signature&)> bytes = {};
  // The operations; absent: OpDef::flops for each element of the result.
  std::function<FlopCounts(const Signature&)> flop_counts = {};
  std::vector<Overwrite> overwrites = {};
  // Nodes of this operator can be joined in one kernel, if each overwrites what the one before it has overwritten.
  bool joins = false;
};
struct Composite {};  // a combination of other operators; `decompose` replaces it by its decomposition
struct Gradient {};   // differentiate replaces it
struct Call {};       // runs a kernel
struct Scan {};       // runs a body, turn after turn (ir/scan.h)
using Kind = std::variant<Source, Elementwise, Movement, Lookup, Reduction, Contraction, Primitive, Composite, Gradient,
                          Call, Scan>;

class Builder;
using Values = std::vector<ValueId>;
using Grads = std::vector<ValueId>;  // one per operand; an invalid id: no gradient flows there

// Shapes, attributes and values on which the generated tests run an operator. An operator has five samples or more;
// among them are a dimension of size 1 and an odd one.
struct Sample {
  std::vector<Dims> shapes;  // one per operand
  Attrs attrs = {};
  double low = -1, high = 1;       // floating operands are uniform in here
  int64_t below = 4;               // integer operands are uniform in [0, below)
  std::vector<DType> dtypes = {};  // one per operand, to override the operator's first dtype
};

// An alternative to the decomposition of a composite: the same results from other operators. `select` compares the two
// (passes/select/forms.h).
struct Form {
  std::string name;  // "in blocks"
  // Why the node cannot be computed this way, or "".
  std::function<std::string(const Graph&, const Node&)> refusal;
  std::function<Values(Builder&, const Node&)> build;
};

struct Decoding;  // ir/decoding.h

struct OpDef {
  std::string name;
  std::string doc;  // the formula, and its source if there is one
  std::vector<std::string> operands;
  bool variadic = false;  // the last operand repeats, at least once
  std::vector<std::string> results = {"y"};
  std::vector<Key> attrs = {};
  std::vector<DType> dtypes = {};  // of the first operand (or the result of a Source); empty: all
  Kind kind;
  Traits traits = {};  // other facts about it; passes ask for these, never for its name
  // Result types from operand types and attributes; throws InferError.
  std::function<std::vector<Type>(const Signature&)> infer = {};
  // The oracle, in double precision, written without looking at `kind`.
  std::function<std::vector<Tensor>(const Signature&, std::span<const Tensor* const>)> eval = {};
  // Vector-Jacobian product: dy has a slot per result, invalid where no gradient flows.
  std::function<Grads(Builder&, const Node&, const Values& dy)> grad = {};
  std::string no_gradient = {};  // the reason, if there is neither `grad` nor a decomposition
  // For composites: the same results from other operators.
  std::function<Values(Builder&, const Node&)> decomposition = {};
  std::vector<Form> forms = {};  // alternatives to the decomposition
  // For operators that mix tokens of a sequence: how they compute the next tokens. Operators that treat each token
  // alone can be decoded without it.
  const Decoding* decoding = nullptr;
  // For operators whose second operand holds indices into the first: the extent of each coordinate. With one coordinate
  // each element is an index; with several, the last axis of the second operand holds them.
  std::function<Dims(const Signature&)> places = {};
  // For operators whose first result holds indices: these are in [0, below).
  std::function<int64_t(const Signature&)> below = {};
  // For primitives that a GPU executes faster in several launches: the same results from other operators. Returns
  // nothing if one launch is as good.
  std::function<Values(Builder&, const Node&)> in_launches = {};
  // A condition on the operands' values that shapes cannot express; the operator that makes them guarantees it. If it
  // is violated, still nothing outside of the operands is read or written.
  std::string precondition = {};
  double flops = 1;  // operations per result element; for contractions their products are counted instead
  std::vector<Sample> samples = {};

  const Key* find_attr(std::string_view name) const;
};

const OpDef& op_def(std::string_view name);   // must exist
const OpDef* find_op(std::string_view name);  // nullptr when unknown
const std::vector<const OpDef*>& all_ops();   // sorted by name; frozen after start-up
std::vector<std::string> op_names();

// Registers an operator at start-up. ir/ops is an OBJECT library, so that the linker drops no registration.
struct RegisterOp {
  explicit RegisterOp(OpDef def);
};

// --- Pieces that operator files share

// Inline, because operators register before main: a definition in another file might not be initialised by then.
inline const std::vector<DType> kFloating = {DType::f32, DType::f64, DType::f16, DType::bf16};
inline const std::vector<DType> kIntegers = {DType::i32, DType::i64, DType::i16, DType::i8,
                                             DType::u32, DType::u64, DType::u16, DType::u8};
inline const std::vector<DType> kArithmetic = [] {
  std::vector<DType> all = kFloating;
  all.insert(all.end(), kIntegers.begin(), kIntegers.end());
  return all;
}();

// A shape rule: all operands have one type, which is also the result's.
std::vector<Type> same_type(const Signature& s);
// A shape rule: all operands have one type; the result is bool of the same shape.
std::vector<Type> same_shape_bool(const Signature& s);
// Converts an axis in [-rank, rank) to [0, rank); throws InferError if it is outside.
int64_t normal_axis(int64_t axis, int64_t rank);
// Sorted, distinct, normalised axes; an empty list means all.
Dims normal_axes(const Dims& axes, int64_t rank);

using Eval = std::function<std::vector<Tensor>(const Signature&, std::span<const Tensor* const>)>;
// Oracles that apply f element by element to operands of equal shape.
Eval eval_real(std::function<double(std::span<const double>, const Signature&)> f);
Eval eval_integer(std::function<int64_t(std::span<const int64_t>, const Signature&)> f);
// Uses `real` or `integer` by the dtype of the result; for comparisons by that of the first operand.
Eval eval_either(std::function<double(std::span<const double>, const Signature&)> real,
                 std::function<int64_t(std::span<const int64_t>, const Signature&)> integer);

}  // namespace heddle::ir
