// The statements of a kernel's body, counted: each value once at each index, as often as the loops around the
// coordinates that it depends on turn. What codegen's Body prints and the compiler leaves of it.
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

// Coordinates that a value depends on, a bit for each: row, column, further ones, loop counters.
using Depends = uint32_t;
constexpr Depends kOnRow = 1, kOnColumn = 2, kOnDepth = 8;

// So many turns of a loop inside a point the compiler unrolls.
constexpr int64_t kTurnsAtOnce = 12;

// How often the warps of a launch are at each place, together.
struct WarpTimes {
  double launch = 0;    // once a thread
  double idle = 0;      // once a thread that has no point
  double rows = 0;      // turns of the loop over rows, or over points
  double packets = 0;   // of the loop over the packets of a row
  double columns = 0;   // as often what varies with the column alone is needed
  double depth = 0;     // and with k alone, where threads have several elements of one k: of the tiles of products
  int64_t packet = 1;   // elements of one
  int64_t rest = 0;     // of the last one, where it is not whole: they are moved one by one
  int64_t whole = 0;    // elements of a row that are moved in packets, where there is a rest
  bool far = true;      // a loop inside a point finds the addresses of far elements anew in each turn
  int64_t known = 0;    // columns, where the text names each: all of a row are one thread's, in turns that are unrolled
  bool ragged = false;  // of a loop over rows: not every thread has a column, what follows is behind a condition
  bool points = false;  // of a loop over points, in which a packet's place is a multiple of its width
};

class CountBody {
 public:
  CountBody(const Graph& kernel, size_t coordinates, KernelCounts& to)
      : k_(kernel), base_(coordinates), to_(to), defined_(kernel.value_count()) {}

  // What follows is at these places; `here`: the coordinates of the innermost one.
  void enter(const WarpTimes& times, std::vector<WarpPoint> points, Depends here);
  // Forgets what depends on the column, but for what is kept: another loop over the columns begins.
  void next_pass(const std::vector<KeptValue>& kept);
  void forget();  // everything but what is defined
  void define(ValueId v, Depends on) { defined_[static_cast<size_t>(v.index)] = {true, on}; }
  void take(ValueId v, const IndexMap& at, Depends on) { known_.push_back({v, at, on}); }
  void draw_at_once(bool draws) { draws_ = draws; }
  void compute_before(bool all) { before_ = all; }  // by all threads, what depends on no coordinate
  // Once in each of all warps, whether they have points or none.
  void make_single(const loop::Single& single, double warps);

  Depends value(ValueId v, const IndexMap& wanted);
  void store(ValueId v, const IndexMap& at);
  void end_pass();  // its results are stored
  // Adds an element of the reduction to an accumulator, at each point.
  void accumulate(const Node& n, const ReductionAccess& access, Depends at);
  void finish(const Node& n, double times);  // makes results of its accumulator

  // An address, or the offset of one, from its terms; of memory that `v` names.
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
  double turns() const { return turns_; }  // of a thread, of loops inside a point, which wait for their loads

 private:
  struct Known {
    ValueId v;
    IndexMap at;
    Depends on;
    std::vector<IndexMap> places = {};  // at each of the known columns
  };
  // Of two maps that come to the same address the second loads nothing: the compiler finds that it is the same.
  struct Loaded {
    ValueId v;
    IndexExpr linear;
    std::vector<Guard> guards;
    Dims extents;
    Depends on;
  };
  std::vector<IndexMap> places_of(const IndexMap& at) const;
  // Guards on what is known when the text is compiled: columns of one thread, counters of loops that are unrolled. What
  // they exclude is not executed; the share of what is left.
  bool is_known(const Guard& g) const;
  std::vector<Guard> of_known(std::vector<Guard> guards, bool known) const;  // those that are, or those that are not
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
  double distinct_in_packet(const IndexExpr& linear) const;  // of the addresses of a packet's elements
  struct Sectors {
    double one = 0, packet = 0;  // of a request; of those of a packet's elements together, for one of them
    double reached = 0;          // of all warps, those of which a lane asks
  };
  void find_bound(WarpPoint& at) const;
  // Of a straight line's points: all, those whose guards hold always, and the others.
  enum class Points { all, always, sometimes };
  bool always(const std::vector<Guard>& guards, const WarpPoint& at) const;
  bool stays_in_loop_over_rows(Depends on, const IndexMap& at) const;
  Depends loaded_on(Depends on) const;
  Sectors average_sectors(const IndexExpr& linear, const std::vector<Guard>& guards, int64_t bytes,
                          Points which = Points::all, bool whole = false) const;
  void leave_row(WarpPoint& at) const;
  double reached(const std::vector<Guard>& guards) const;  // of all warps, those of which they hold for a lane
  // `whole`: a packet is moved at once.
  void request(ValueId v, const IndexExpr& linear, const std::vector<Guard>& guards, double requests, bool read,
               bool whole, Points which = Points::all);
  void count_rest(int64_t bytes, double& sectors);
  void atoms(const IndexExpr& e);
  Depends defined_below(const Node& n) const;
  double add_work(const Node& n) const;  // instructions of adding one element

  const Graph& k_;
  size_t base_;  // coordinates that are no loop counters
  KernelCounts& to_;
  WarpTimes times_;
  std::vector<WarpPoint> points_;
  Depends here_ = 0;
  bool before_ = false;
  bool draws_ = false, spreads_ = false;  // spreads_: lanes take turns in the next reduction's loop
  int64_t spread_over_ = 0;               // where lanes take turns in the one loop: its elements
  // The loops around what is counted, of one reduction inside a point.
  Dims loops_;
  Dims extents_;          // of the coordinates and of these loops
  Depends loops_on_ = 0;  // what its result depends on
  bool unrolled_ = false, strides_ = false;
  size_t straight_ = 0;   // the loops from there on are unrolled
  double share_ = 1;      // of the executions, by known guards
  bool packets_ = false;  // each point of the loops is one of all elements of a packet
  double turns_ = 0;
  // Coordinates that lookups bind: where the index of each lies among the others, and how large it may be.
  struct Bound {
    IndexExpr at;
    int64_t extent = 1;
  };
  std::vector<Bound> bound_;
  size_t first_bound_ = 0;
  Depends bound_on_ = 0;  // what they depend on
  std::vector<std::pair<bool, Depends>> defined_;
  std::vector<Known> known_;
  std::vector<Loaded> met_;
  std::vector<ValueId> seeds_;  // of numbers that are drawn
  std::vector<IndexExpr> quotients_, sums_;
  std::vector<std::pair<ValueId, IndexExpr>> addresses_, loaded_;
  std::vector<Guard> conditions_;
  std::vector<std::vector<Guard>> joined_;
  std::vector<Guard> around_;  // of the straight line whose loads are counted: they stand behind its branches
};

Depends depends(const IndexExpr& e);
Depends depends(const std::vector<Guard>& guards);
Depends depends(const IndexMap& at);

}  // namespace heddle::ir
