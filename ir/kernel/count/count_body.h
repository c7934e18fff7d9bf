// CountBody: counts the statements of a kernel's body. It mirrors codegen's Body and the optimizations of the compiler:
// a value is computed once at each index, as often as the loops over the coordinates on which it depends iterate.
//
//   %y = add(%x, broadcast(%b)) of f32[64,128] in packets of 4    row by row and packet by packet: two loads, two
//                                                                 addresses; for each of the four elements one addition
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/count/requests.h"
#include "ir/kernel/packets.h"
#include "ir/loop/loops.h"

namespace heddle::ir {

// The coordinates on which a value depends, one bit each: row, column, further ones, loop counters.
using Depends = uint32_t;
constexpr Depends kOnRow = 1, kOnColumn = 2, kOnDepth = 8;

// The compiler unrolls a loop inside a point by this many iterations.
constexpr int64_t kTurnsAtOnce = 12;

// How often all warps of a launch together execute code at each loop level.
struct WarpTimes {
  double launch = 0;    // code outside of all loops
  double idle = 0;      // the same, for warps without a point
  double rows = 0;      // iterations of the loop over rows, or over points
  double packets = 0;   // iterations of the loop over the packets of a row
  double columns = 0;   // code that depends on the column alone
  double depth = 0;     // code that depends on k alone, if threads have several elements of a k (tiles of products)
  int64_t packet = 1;   // elements of a packet
  int64_t rest = 0;     // elements of the last packet of a row if it is incomplete; they are moved one by one
  int64_t whole = 0;    // elements of a row that are moved in packets, if there is a rest
  bool far = true;      // a loop inside a point computes the addresses of distant elements again in each iteration
  int64_t known = 0;    // columns, if one thread takes all columns of a row in unrolled iterations; else 0
  bool ragged = false;  // a loop over rows in which some threads have no column, so its body is under a condition
  bool points = false;  // a loop over points, in which a packet begins at a multiple of its width
};

class CountBody {
 public:
  CountBody(const Graph& kernel, size_t coordinates, KernelCounts& to)
      : k_(kernel), base_(coordinates), to_(to), defined_(kernel.value_count()) {}

  // Enters a loop nest: later calls count at these times and points. `here`: the coordinates of the innermost loop.
  void enter(const WarpTimes& times, std::vector<WarpPoint> points, Depends here);
  // Begins another loop over the columns: forgets what depends on the column, except kept values.
  void next_pass(const std::vector<KeptValue>& kept);
  void forget();  // forgets all computed values, except defined ones
  void define(ValueId v, Depends on) { defined_[static_cast<size_t>(v.index)] = {true, on}; }
  void take(ValueId v, const IndexMap& at, Depends on) { known_.push_back({v, at, on}); }
  void draw_at_once(bool draws) { draws_ = draws; }
  void compute_before(bool all) { before_ = all; }  // whether all threads compute what depends on no coordinate
  // A single reduction, once in each of `warps`, with or without points.
  void make_single(const loop::Single& single, double warps);

  Depends value(ValueId v, const IndexMap& wanted);
  void store(ValueId v, const IndexMap& at);
  void end_pass();  // the results of the pass are stored
  // Adds an element of the reduction to an accumulator, at each point.
  void accumulate(const Node& n, const ReductionAccess& access, Depends at);
  void finish(const Node& n, double times);  // computes results from an accumulator

  // The computation of an address (or of an offset) in the memory of `v` from its terms.
  void address(ValueId v, const IndexExpr& linear, bool wide = true);
  void conditions(const std::vector<Guard>& guards, const Dims& extents);
  bool of_whole_packets(const Guard& g) const;
  void straight_conditions(const std::vector<Guard>& guards, const Dims& extents);
  void element_conditions(const std::vector<Guard>& guards);
  std::vector<std::vector<Guard>> left_of(const std::vector<Guard>& guards, const Dims& extents) const;
  double open_share(const std::vector<Guard>& guards, const Dims& extents) const;
  bool stays_loop(Depends on) const;
  Depends straight() const;  // the counters of loops that are unrolled
  bool is_constant(Depends on) const;
  bool is_shift(const IndexTerm& t) const;
  double choices(const Node& n, const ReductionAccess& access, const std::vector<Guard>& guards) const;
  double work_below(const Node& n) const;
  size_t find_straight(const Node& n, const ReductionAccess& access) const;
  double executions(Depends on, bool each_element = true) const;
  Depends here() const { return here_; }
  double turns() const { return turns_; }  // a thread's iterations of loops inside a point that wait for their loads

 private:
  struct Known {
    ValueId v;
    IndexMap at;
    Depends on;
    std::vector<IndexMap> places = {};  // the map at each of the known columns
  };
  // A load that was counted. A second load from the same address costs nothing: the compiler merges them.
  struct Loaded {
    ValueId v;
    IndexExpr linear;
    std::vector<Guard> guards;
    Dims extents;
    Depends on;
  };
  std::vector<IndexMap> places_of(const IndexMap& at) const;
  // A known guard depends only on numbers that are constant when the text is compiled: columns of one thread, counters
  // of unrolled loops. Excluded elements are not executed; known_share is the share of the others.
  bool is_known(const Guard& g) const;
  std::vector<Guard> of_known(std::vector<Guard> guards, bool known) const;  // the known guards, or the others
  double known_share(const std::vector<Guard>& guards) const;
  void address_behind(const std::vector<Guard>& guards, ValueId v, const IndexExpr& linear);
  std::optional<int64_t> loads_of_known(ValueId v, const IndexExpr& linear, const std::vector<Guard>& guards);
  Depends load(ValueId v, const IndexMap& at);
  bool loaded_anyway(const IndexMap& at, const IndexExpr& linear) const;
  Depends load_first(ValueId v, const IndexMap& at, const IndexExpr& linear);
  Depends compute(ValueId v, const Node& n, const IndexMap& at);
  Depends move(const Node& n, const Signature& s, const IndexMap& at);
  Depends lookup(const Node& n, const Signature& s, const Lookup& lookup, const IndexMap& at);
  Depends source(const Node& n, const Signature& s, const Source& source, const IndexMap& at);
  Depends reduce(ValueId v, const Node& n, const Signature& s, const IndexMap& at);
  Packets packets() const;
  double distinct_in_packet(const IndexExpr& linear) const;  // distinct addresses of a packet's elements
  struct Sectors {
    double one = 0, packet = 0;  // of a request; of a packet's requests together, divided by their number
    double reached = 0;          // the share of warps in which a lane makes the request
  };
  void find_bound(WarpPoint& at) const;
  // The points of straight-line code: all, those whose guards always hold, or the others.
  enum class Points { all, always, sometimes };
  bool always(const std::vector<Guard>& guards, const WarpPoint& at) const;
  bool stays_in_loop_over_rows(Depends on, const IndexMap& at) const;
  Depends loaded_on(Depends on) const;
  Sectors average_sectors(const IndexExpr& linear, const std::vector<Guard>& guards, int64_t bytes,
                          Points which = Points::all, bool whole = false) const;
  void leave_row(WarpPoint& at) const;
  double reached(const std::vector<Guard>& guards) const;  // the share of warps in which the guards hold for a lane
  // Counts a request. `whole`: a packet is moved at once.
  void request(ValueId v, const IndexExpr& linear, const std::vector<Guard>& guards, double requests, bool read,
               bool whole, Points which = Points::all);
  void count_rest(int64_t bytes, double& sectors);
  void atoms(const IndexExpr& e);
  Depends defined_below(const Node& n) const;
  double add_work(const Node& n) const;  // instructions to add one element

  const Graph& k_;
  size_t base_;  // the number of coordinates before loop counters
  KernelCounts& to_;
  WarpTimes times_;
  std::vector<WarpPoint> points_;
  Depends here_ = 0;
  bool before_ = false;
  bool draws_ = false, spreads_ = false;  // spreads_: the lanes of a warp share the next reduction's loop
  int64_t spread_over_ = 0;               // the elements of a loop that lanes share
  // The loops of one reduction inside a point, around the code that is counted.
  Dims loops_;
  Dims extents_;          // of the coordinates and of these loops
  Depends loops_on_ = 0;  // the coordinates on which the reduction's result depends
  bool unrolled_ = false, strides_ = false;
  size_t straight_ = 0;   // the loops from this one on are unrolled
  double share_ = 1;      // of the executions that known guards leave
  bool packets_ = false;  // each iteration of the loops handles all elements of a packet
  double turns_ = 0;
  // The coordinates that lookups bind: the position of the index that supplies it, and the coordinate's extent.
  struct Bound {
    IndexExpr at;
    int64_t extent = 1;
  };
  std::vector<Bound> bound_;
  size_t first_bound_ = 0;
  Depends bound_on_ = 0;  // the coordinates on which bound ones depend
  std::vector<std::pair<bool, Depends>> defined_;
  std::vector<Known> known_;
  std::vector<Loaded> met_;
  std::vector<ValueId> seeds_;  // of random numbers
  std::vector<IndexExpr> quotients_, sums_;
  std::vector<std::pair<ValueId, IndexExpr>> addresses_, loaded_;
  std::vector<Guard> conditions_;
  std::vector<std::vector<Guard>> joined_;
  std::vector<Guard> around_;  // the guards of the straight-line code whose loads are counted
};

Depends depends(const IndexExpr& e);
Depends depends(const std::vector<Guard>& guards);
Depends depends(const IndexMap& at);

}  // namespace heddle::ir
