// The statements of a kernel's body: each value, at each place where it is needed, becomes one statement in the
// outermost scope that knows the coordinates it depends on.
//
//   %c = broadcast(%a); %d = add(%b, %c)   ->   const float a = a_in[column];
//                                               const float b = b_in[row * 128 + column];
//                                               const float d = op::add<float>(b, a);
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "codegen/c_text.h"
#include "codegen/emit.h"
#include "ir/kernel/packets.h"
#include "ir/kernel/plan_contract.h"

namespace heddle::codegen {

// What the kernel's text is written with: fixed before its statements are.
struct KernelText {
  const ir::Graph& kernel;
  ir::KernelPlan plan;
  ir::ContractPlan contract = {};  // of a product
  std::string index_type;          // "int" or "hd::i64"
  int64_t vector_width = 1;        // elements at once: divides the columns, or there is one row
  bool groups = false;             // packets on the host too: random numbers come four at a time
  int64_t team = 1;
  int64_t prefetch_distance = 1;              // rows whose packets are loaded before the first of them is computed
  std::map<ir::ValueId, std::string> inputs;  // pointer parameters
  std::map<std::string, std::string> scalars = {};          // parameters for what each launch supplies
  std::map<ir::ValueId, std::vector<std::string>> outputs;  // more than one where a value is returned twice
  Names names;
  std::vector<std::string> kept = {};  // of plan.kept, by position: the registers' names
  std::string symbol = {};
  std::vector<std::string> tables = {};  // constants that stand before the kernel
  std::optional<UnitSlice> slice = {};   // the text is of this alone, from hd_unit on
};

// An expression of the text, and the scope it is available in.
struct Operand {
  std::string text;
  size_t scope = 0;
};

class Body {
 public:
  explicit Body(KernelText& text);

  // Of a space that has more than rows and columns: before any loop.
  void add_coordinates(const std::vector<std::string>& names);

  // Scopes, from the outermost: coordinates below `covers` are known in one. A packet scope loads and stores packets,
  // and computes what all elements of a packet share: it does not know the column of one.
  void open(size_t covers, bool packet = false);
  std::vector<std::string> close();  // its lines; what it named is forgotten
  void line(const std::string& text) { scopes_.back().lines.push_back(text); }
  void line_in(size_t scope, const std::string& text) { scopes_[scope].lines.push_back(text); }
  void lines(const std::vector<std::string>& all);
  size_t depth() const { return scopes_.size(); }

  // The value at an access, computed now if it is not at hand.
  Operand value(ir::ValueId v, const ir::IndexMap& wanted);
  // A result of a reduction over rows, columns or everything, which the surrounding loops have finished.
  void define(ir::ValueId v, const std::string& text);
  void make_single(const ir::loop::Single& single);
  // What is defined in another body of the kernel, around this one.
  void share(const Body& other) { defined_ = other.defined_; }
  // The value at an access is what `expression` reads, from now until the scope is closed.
  void take(ir::ValueId v, const ir::IndexMap& at, const std::string& expression);
  // Computes the result and stores it. One element per point waits for `take_stores`: it may lie over an operand that
  // another result is made of, so all loads of a point, or of a packet, come before its stores.
  void store(const ir::loop::Store& store, const std::string& condition);
  std::vector<std::string> take_stores();
  // Adds the reduction's element at this point to the accumulator.
  void accumulate(const ir::loop::Accumulate& add, const std::string& accumulator, const std::string& condition);
  // The loop body over columns: packet loads, then what is computed element by element, then the stores.
  // `behind_row`: the lines of the scope around stand in front of the loop over columns, once for each row.
  void open_columns(bool behind_row = false);
  std::vector<std::string> close_columns();
  // Where rows are loaded in batches: their packets' declarations, and the statements that load one row's.
  struct Ahead {
    std::vector<std::string> arrays, loads;
  };
  Ahead take_ahead() { return std::exchange(ahead_, {}); }
  // Whether reductions of all columns stand in front of the loop over columns: from here on none does.
  bool take_reduced_columns() { return std::exchange(reduced_columns_, false); }

  // The pass over the row that the following lines belong to: it writes the elements that the plan keeps from it, and
  // reads those that earlier ones kept. Outside of passes none.
  void set_phase(std::optional<int> phase) { phase_ = phase; }

 private:
  struct Scope {
    size_t covers;
    bool packet;
    std::vector<std::string> lines;
  };
  struct Known {
    ir::ValueId v;
    ir::IndexMap at;
    Operand operand;
  };

  Operand load(ir::ValueId v, const ir::IndexMap& at);
  std::string element(ir::ValueId v, const std::string& offset, const std::string& guard) const;
  bool is_mask(const ir::IndexMap& at) const;
  std::string mask_text(const ir::IndexMap& at) const;
  std::string condition_text(const ir::IndexMap& at) const;  // of the guards: "" where they always hold
  std::optional<Operand> load_packet(ir::ValueId v, const ir::IndexMap& at, const ir::IndexExpr& linear);
  ir::Packets packets(bool here = true) const;
  void store_packet(ir::ValueId v, const Operand& operand, const ir::IndexExpr& linear, const ir::IndexMap& at);
  std::string each_of_packet() const;  // the head of the loop over a packet's elements
  ir::Signature with_parameters(ir::Signature s) const;
  Operand compute(ir::ValueId v, const ir::Node& n, const ir::IndexMap& at);
  Operand move(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  Operand elementwise(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  Operand source(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  Operand lookup(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  // The coordinate's text and, where the index may be outside, the condition under which it is inside.
  struct Bound {
    std::string coordinate, inside;
    size_t scope = 0;
  };
  Bound bind(const ir::Node& n, const ir::IndexMap& at, int64_t extent);
  Operand at_bound(ir::ValueId v, const ir::IndexMap& at, size_t first, const std::vector<Bound>& bound);
  Operand reduce(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  Operand reduce_here(ir::ValueId v, const ir::Node& n, const ir::Signature& s, const ir::IndexMap& at);
  std::string add_text(const ir::Node& n, const ir::Signature& s, const ir::ReductionAccess& access,
                       const std::string& accumulator, std::string& condition);
  std::string index(const ir::IndexExpr& e, const ir::Dims& extents) const {
    return index_text(e, extents, coordinates_);
  }
  std::string element_index(const ir::IndexExpr& linear, const ir::IndexMap& at) const;
  std::vector<std::string> at_packet() const;  // the coordinates' texts where a packet starts
  std::string rest_text() const;               // the elements left from `column` on, where the last packet is not full
  // A reduction inside a point, or inside each point of a packet.
  struct Running {
    std::string accumulator, valid;  // `valid`: counts the points, where the result needs that
    bool packets = false;
    bool columns = false;  // of all columns at once
    bool runs = false;     // a long sum
    std::string at(const std::string& name) const {
      return name.empty() ? name : packets ? name + "[k]" : columns ? name + "[column]" : name;
    }
    std::string sum() const { return columns && runs ? accumulator + ".at(column)" : at(accumulator); }
  };
  bool reduces_columns(const ir::ReductionAccess& access) const;
  void reduce_loops(const ir::Node& n, const ir::Signature& s, const ir::ReductionAccess& access,
                    const Running& running);
  std::vector<std::string> reduce_columns(const ir::Node& n, const ir::Signature& s, const ir::ReductionAccess& access,
                                          const Running& running);
  std::string end_run(int64_t turns, const Running& running, const std::string& counter) const;
  std::vector<std::string> reduce_point(const ir::Node& n, const ir::Signature& s, const ir::ReductionAccess& access,
                                        const Running& running);
  void in_scope(size_t scope, const std::function<void()>& write);
  Operand compute_or_load(ir::ValueId v, const ir::IndexMap& at);
  void know(ir::ValueId v, const ir::IndexMap& at, const Operand& operand);  // and keeps it, if the plan says so
  std::string kept_at(size_t i) const;
  Operand named(ir::ValueId v, const std::string& expression, size_t scope, const Location& loc);
  size_t defined_covers(ir::ValueId v) const;  // coordinates known where a defined value is
  size_t covers_below(const ir::Node& n) const;
  size_t scope_of(const ir::IndexMap& access) const;
  size_t scope_of(const ir::IndexExpr& e) const;
  size_t scope_for(size_t covers, bool on_column) const;
  // Coordinates of the expression that loops count; `scope` becomes at least the scope of what lookups bind.
  size_t loops_covered(const ir::IndexExpr& e, size_t& scope) const;

  KernelText& text_;
  const ir::Graph& k_;
  std::vector<Scope> scopes_;
  std::vector<Known> known_;
  Ahead ahead_;
  std::vector<std::string> stores_;  // of the point or packet, for after its elements
  std::map<ir::ValueId, std::string> defined_;
  bool behind_row_ = false;      // of the loop over columns that is open
  bool around_columns_ = false;  // a reduction of all columns is written, whose innermost loop they are
  bool reduced_columns_ = false;
  bool spread_ = false;                   // the loop that is written is shared by a warp's lanes
  std::vector<std::string> coordinates_;  // texts of row, column, loop counters, then of what lookups bind
  size_t first_bound_ = SIZE_MAX;         // the first coordinate that a lookup binds
  std::vector<size_t> bound_scopes_;      // in which they are known
  std::optional<int> phase_;
  std::vector<bool> written_;  // of plan.kept
};

// One more than the highest coordinate that the expression depends on.
size_t highest_coordinate(const ir::IndexExpr& e);
// " // model.json:12:5", or "".
std::string place_comment(const Location& loc);

}  // namespace heddle::codegen
