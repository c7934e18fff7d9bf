// Body: prints the statements of a kernel's body. A value at an index becomes one statement, in the outermost scope
// that has the coordinates on which it depends.
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

// The facts and names with which a kernel's text is printed. Most of them are fixed before the statements are printed.
struct KernelText {
  const ir::Graph& kernel;
  ir::KernelPlan plan;
  ir::ContractPlan contract = {};  // for a product
  std::string index_type;          // "int" or "hd::i64"
  int64_t vector_width = 1;        // elements of a packet; it divides the columns, or there is one row
  bool groups = false;             // there are packets on the host too, because random numbers come four at a time
  int64_t team = 1;
  int64_t prefetch_distance = 1;              // rows whose packets are loaded before the first of them is computed
  std::map<ir::ValueId, std::string> inputs;  // pointer parameters
  std::map<std::string, std::string> scalars = {};          // parameters for the numbers that each launch supplies
  std::map<ir::ValueId, std::vector<std::string>> outputs;  // pointer parameters; several if a value is returned twice
  Names names;
  std::vector<std::string> kept = {};  // names of the registers of plan.kept
  std::string symbol = {};
  std::vector<std::string> tables = {};  // constants before the kernel
  std::optional<UnitSlice> slice = {};   // the text computes only this slice; its first unit is hd_unit
};

// An expression of the text, and the scope in which it is available.
struct Operand {
  std::string text;
  size_t scope = 0;
};

class Body {
 public:
  explicit Body(KernelText& text);

  // Adds coordinates after row and column. Call it before any loop.
  void add_coordinates(const std::vector<std::string>& names);

  // Opens a scope inside the innermost one. Coordinates with numbers below `covers` are known in it. A packet scope
  // loads and stores packets, and computes what all elements of a packet share; it does not know the column of an
  // element.
  void open(size_t covers, bool packet = false);
  std::vector<std::string> close();  // closes the innermost scope and returns its lines; its names are forgotten
  void line(const std::string& text) { scopes_.back().lines.push_back(text); }
  void line_in(size_t scope, const std::string& text) { scopes_[scope].lines.push_back(text); }
  void lines(const std::vector<std::string>& all);
  size_t depth() const { return scopes_.size(); }

  // The value at an access. Prints the statements that compute it, unless they are printed already.
  Operand value(ir::ValueId v, const ir::IndexMap& wanted);
  // Defines a result of a reduction over rows, columns or everything, which the surrounding loops have finished.
  void define(ir::ValueId v, const std::string& text);
  void make_single(const ir::loop::Single& single);
  // Takes over the defined values of the surrounding body of the same kernel.
  void share(const Body& other) { defined_ = other.defined_; }
  // Sets the value at an access to `expression`, until the scope is closed.
  void take(ir::ValueId v, const ir::IndexMap& at, const std::string& expression);
  // Computes the result and stores it. The store of an element per point is delayed until `take_stores`. It may
  // overwrite an operand of another result, so all loads of a point, or of a packet, must come before its stores.
  void store(const ir::loop::Store& store, const std::string& condition);
  std::vector<std::string> take_stores();
  // Adds the reduction's element at this point to the accumulator.
  void accumulate(const ir::loop::Accumulate& add, const std::string& accumulator, const std::string& condition);
  // The body of the loop over columns: packet loads, then computation element by element, then the stores.
  // `behind_row`: the lines of the surrounding scope come before the loop over columns, once for each row.
  void open_columns(bool behind_row = false);
  std::vector<std::string> close_columns();
  // If rows are loaded in batches: declarations of arrays for their packets, and statements that load one row.
  struct Ahead {
    std::vector<std::string> arrays, loads;
  };
  Ahead take_ahead() { return std::exchange(ahead_, {}); }
  // Whether reductions of all columns were printed before the loop over columns. Resets the flag.
  bool take_reduced_columns() { return std::exchange(reduced_columns_, false); }

  // Sets the pass over the row to which the following lines belong. They write the elements that the plan keeps from
  // this pass, and read elements that earlier passes kept. Nothing: outside of passes.
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
  std::string condition_text(const ir::IndexMap& at) const;  // of the guards; "" if there are none
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
  // A coordinate that a lookup binds: its text, and the condition that it is in range ("" if it always is).
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
  std::vector<std::string> at_packet() const;  // the texts of the coordinates at the start of a packet
  std::string rest_text() const;               // the elements from `column` on, if the last packet is not full
  // A reduction inside a point, or inside each point of a packet.
  struct Running {
    std::string accumulator, valid;  // `valid` counts the points whose guards hold, if the result needs their number
    bool packets = false;
    bool columns = false;  // for all columns at once
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
  void know(ir::ValueId v, const ir::IndexMap& at, const Operand& operand);  // also keeps it, if it is in plan.kept
  std::string kept_at(size_t i) const;
  Operand named(ir::ValueId v, const std::string& expression, size_t scope, const Location& loc);
  size_t defined_covers(ir::ValueId v) const;  // the number of coordinates known in the scope of a defined value
  size_t covers_below(const ir::Node& n) const;
  size_t scope_of(const ir::IndexMap& access) const;
  size_t scope_of(const ir::IndexExpr& e) const;
  size_t scope_for(size_t covers, bool on_column) const;
  // The number of coordinates that cover the expression, without those that lookups bind; for the latter it raises
  // `scope` to their scopes.
  size_t loops_covered(const ir::IndexExpr& e, size_t& scope) const;

  KernelText& text_;
  const ir::Graph& k_;
  std::vector<Scope> scopes_;
  std::vector<Known> known_;
  Ahead ahead_;
  std::vector<std::string> stores_;  // delayed stores of the point or packet
  std::map<ir::ValueId, std::string> defined_;
  bool behind_row_ = false;      // the argument of open_columns
  bool around_columns_ = false;  // a reduction of all columns is being printed; the columns are its innermost loop
  bool reduced_columns_ = false;
  bool spread_ = false;                   // the lanes of a warp share the loop that is being printed
  std::vector<std::string> coordinates_;  // texts of row, column, loop counters, then of coordinates bound by lookups
  size_t first_bound_ = SIZE_MAX;         // the first coordinate that a lookup binds
  std::vector<size_t> bound_scopes_;      // the scopes of the bound coordinates
  std::optional<int> phase_;
  std::vector<bool> written_;  // which elements of plan.kept are written
};

// One more than the highest coordinate that the expression depends on.
size_t highest_coordinate(const ir::IndexExpr& e);
// " // model.json:12:5", or "".
std::string place_comment(const Location& loc);

}  // namespace heddle::codegen
