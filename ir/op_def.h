// OpDef: everything the compiler knows about one operator, in one place.
//
// Its functions speak only ir types, so an operator's shape rule, gradient, oracle and kernel semantics share a file
// while the algorithms (differentiate, fuse, emit) stay in their layers. A new operator is one file in ir/ops and its
// tests.
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

// An operator applied: what shape rules, index maps and oracles read. Attribute reads fall back on the declared
// default.
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
const Attr& attribute(const OpDef& op, const Attrs& attrs, std::string_view name);  // with the default
const std::vector<int64_t>& integers_of(const Node& n, std::string_view name);

// Thrown by shape rules: lower case, "expected ... got ..." ; the caller adds operator and place.
struct InferError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- What an operator computes: a closed set that codegen visits; it never asks for a name.

// A value of its own at each element. `expr` is C++ over `i` (row-major element index, int64_t), `k` (int64_t: this
// index expression of the result's coordinates, where there is one), the names of scalar operands and the scalar
// attributes; `T` is the result's compute type.
struct Source {
  std::string expr;
  std::function<IndexExpr(const Signature&)> k = {};
};
// `expr` is C++ over the operands' names and the attributes; T is the compute type: float for f32, f16, bf16, double
// for f64, the integer type for integers. Functions come from the preamble as hd::exp and so on, for every T.
struct Elementwise {
  std::string expr;
};
// Result element <- operand element. One map per operand, from result coordinates; the first whose guards hold supplies
// the element, where none holds the attribute `fill` does.
struct Movement {
  std::function<std::vector<IndexMap>(const Signature&)> maps;
};
// Result element <- the element of the first operand whose coordinates the second one holds. Bound coordinate b is the
// element of the second operand at `indices[b]`. Where one is outside of [0, extents[b]), the result is NaN, or 0 of a
// type that has none, and nothing is read.
struct LookupDomain {
  Dims extents;
  std::vector<IndexMap> indices;  // one per bound coordinate, from result coordinates
  IndexMap map;                   // from result coordinates followed by the bound ones, to the first operand's
};
struct Lookup {
  std::function<LookupDomain(const Signature&)> domain;
};
// What a reduction runs over: for each result point, all points of `extents`. A map takes result coordinates followed
// by reduction coordinates; points whose guards fail contribute nothing.
struct ReductionDomain {
  Dims extents;
  std::vector<IndexMap> maps;  // one per operand
  // What `k` is in the expressions, over the coordinates of the maps; absent: the row-major index of the reduction
  // coordinates. The gradient of max pooling asks for the position in the window that reads its element.
  std::optional<IndexExpr> k = {};
  int64_t count = 0;  // what `count` is in `finish`; 0: the number of points of `extents`
  int64_t counted() const { return count != 0 ? count : product(extents); }
};
// Combines elements with a monoid over A, the accumulation type (float for 16-bit types). `element` is C++ over the operands' names, `k`
// (int64_t, see ReductionDomain) and the scalar attributes; `finish`, one per result, over `acc`, `count` (int64_t, see
// there), `valid` (int64_t, the number of points whose guards held) and the scalar attributes. `acc` is a value of A;
// of an indexed monoid it holds acc.value and acc.index, the k of the first of equals.
struct Reduction {
  Monoid monoid;
  std::string element;
  std::vector<std::string> finish;
  std::function<ReductionDomain(const Signature&)> domain;
};
// A sum of products with a library schedule. `domain` gives the generated schedule (element "a * b"
// summed) and the flop count.
struct Contraction {
  std::function<ReductionDomain(const Signature&)> domain;
};
// A kernel of its own, by a function of the preamble that is no loop over points: a sort, sums in an order. `call` is a
// C++ statement that all threads of the launch execute; it names operands and results, which are pointers, `scratch`,
// and words of the plan that stand for others.
struct PrimitivePlan {
  std::vector<std::pair<std::string, std::string>> words;
  int64_t threads = 128;       // of a block on a GPU
  int64_t blocks = 1;          // that have something to do there
  int64_t workers = 1;         // that have, on the host
  int64_t scratch = 0;         // bytes
  double instructions = 1;     // of all warps, about
  double dependent_loads = 1;  // of a thread, one after another
};
// What a launch moves on a GPU: sectors as warps ask for them, those of them that come from beyond
// the nearest cache, and wavefronts of shared memory (ir/kernel/count/kernel_counts.h).
struct PrimitiveMemory {
  static constexpr double kSector = 32;  // bytes
  double read = 0, fetched = 0, written = 0;
  double wavefronts = 0;
};
// What a launch reads and writes.
struct PrimitiveBytes {
  int64_t read = 0, written = 0;
};
struct FlopCounts {
  double flops = 0;     // all operations
  double products = 0;  // those of them in products of matrices, which go at a library's rate
};
// A result that is an operand with some elements changed: it lies over it, always.
struct Overwrite {
  size_t result = 0, operand = 0;
};
struct Primitive {
  std::string call;  // empty where a trait says what the text is made of
  std::function<PrimitivePlan(const Signature&)> plan;
  // Given what is moved where each operand is read once and each result written once; empty where that is so.
  std::function<PrimitiveMemory(const Signature&, const PrimitivePlan&, const PrimitiveMemory& once)> memory = {};
  // Where that is not each operand once and each result once.
  std::function<PrimitiveBytes(const Signature&)> bytes = {};
  // Where that is not `flops` of the operator for each element of its result.
  std::function<FlopCounts(const Signature&)> flop_counts = {};
  std::vector<Overwrite> overwrites = {};
  // Several of them, of which each takes over what the one before it overwrites, are one kernel.
  bool joins = false;
};
struct Composite {};  // has a decomposition into other operators, which `decompose` puts in its place
struct Gradient {};   // replaced by differentiate
struct Call {};       // runs an outlined kernel
struct Scan {};       // runs a body, turn after turn (ir/scan.h)
using Kind = std::variant<Source, Elementwise, Movement, Lookup, Reduction, Contraction, Primitive, Composite, Gradient,
                          Call, Scan>;

class Builder;
using Values = std::vector<ValueId>;
using Grads = std::vector<ValueId>;  // one per operand; an invalid id: no gradient flows there

// Shapes on which the generated tests run an operator: five or more, a size-1 and an odd dimension among them.
struct Sample {
  std::vector<Dims> shapes;  // one per operand
  Attrs attrs = {};
  double low = -1, high = 1;       // floating operands are uniform in here
  int64_t below = 4;               // integer operands are uniform in [0, below)
  std::vector<DType> dtypes = {};  // one per operand, to override the operator's first dtype
};

// One more way to compute a composite: the same results from other operators. select compares it with the decomposition
// (passes/select/forms.h).
struct Form {
  std::string name;  // "in blocks"
  // Why the node cannot take it, or "".
  std::function<std::string(const Graph&, const Node&)> refusal;
  std::function<Values(Builder&, const Node&)> build;
};

struct Decoding;  // ir/decoding.h

struct OpDef {
  std::string name;
  std::string doc;  // the formula, and the source where it has one
  std::vector<std::string> operands;
  bool variadic = false;  // the last operand repeats, at least once
  std::vector<std::string> results = {"y"};
  std::vector<Key> attrs = {};
  std::vector<DType> dtypes = {};  // of the first operand (or the result of a Source); empty: all
  Kind kind;
  Traits traits = {};  // what else is true of it: passes ask for these, never for its name
  // Result types from operand types and attributes; throws InferError.
  std::function<std::vector<Type>(const Signature&)> infer = {};
  // The oracle, in double precision, written without looking at `kind`.
  std::function<std::vector<Tensor>(const Signature&, std::span<const Tensor* const>)> eval = {};
  // Vector-Jacobian product: dy has a slot per result, invalid where no gradient flows.
  std::function<Grads(Builder&, const Node&, const Values& dy)> grad = {};
  std::string no_gradient = {};  // the reason, where grad is absent and no decomposition supplies it
  // For composites: the same results from other operators.
  std::function<Values(Builder&, const Node&)> decomposition = {};
  std::vector<Form> forms = {};  // and still others
  // Of what reads along time: how it goes on by one token. Passes decode operators of single tokens without it.
  const Decoding* decoding = nullptr;
  // Where the second operand names places of the first: how many there are along each coordinate.
  // Of one coordinate each element is one, else the last axis holds them.
  std::function<Dims(const Signature&)> places = {};
  // Where the first result holds places along an axis: they lie in [0, this).
  std::function<int64_t(const Signature&)> below = {};
  // Of primitives that a GPU executes faster in several launches: the same results from other
  // operators; none where one is as good.
  std::function<Values(Builder&, const Node&)> in_launches = {};
  // What no shape says of the operands, and only another operator makes sure of. Whatever they hold, nothing is read or
  // written outside of them.
  std::string precondition = {};
  double flops = 1;  // per result element; contractions count their products instead
  std::vector<Sample> samples = {};

  const Key* find_attr(std::string_view name) const;
};

const OpDef& op_def(std::string_view name);   // must exist
const OpDef* find_op(std::string_view name);  // nullptr when unknown
const std::vector<const OpDef*>& all_ops();   // sorted by name; frozen after start-up
std::vector<std::string> op_names();

// Registers at start-up. ir/ops is an OBJECT library, so that the linker drops none.
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

// All operands have one type, which is the result's.
std::vector<Type> same_type(const Signature& s);
// All operands have one type; the result is bool of its shape.
std::vector<Type> same_shape_bool(const Signature& s);
// Axis in [-rank, rank) to [0, rank); throws InferError.
int64_t normal_axis(int64_t axis, int64_t rank);
// Sorted, distinct, normalised axes; an empty list means all.
Dims normal_axes(const Dims& axes, int64_t rank);

using Eval = std::function<std::vector<Tensor>(const Signature&, std::span<const Tensor* const>)>;
// Element by element over operands of equal shape.
Eval eval_real(std::function<double(std::span<const double>, const Signature&)> f);
Eval eval_integer(std::function<int64_t(std::span<const int64_t>, const Signature&)> f);
// Picks by the result's dtype; comparisons pick by the first operand's.
Eval eval_either(std::function<double(std::span<const double>, const Signature&)> real,
                 std::function<int64_t(std::span<const int64_t>, const Signature&)> integer);

}  // namespace heddle::ir
