// A warp: groups of lanes at one instruction each, of which the one that is farthest behind
// (block_order.h) runs, so that lanes that parted meet again.
#include "tests/ptx/lanes.h"
#include "tests/ptx/machine.h"

namespace heddle::ptx {
namespace {

uint32_t number_of_dimension(const Dim3& d, int k) { return k == 0 ? d.x : k == 1 ? d.y : d.z; }

uint32_t thread_index(const Dim3& block, uint32_t thread, int k) {
  if (k == 0) return thread % block.x;
  return k == 1 ? thread / block.x % block.y : thread / (block.x * block.y);
}

uint64_t special_value(const Warp& w, const Constant& c, uint32_t lane) {
  const Dim3& block = w.run.what.block;
  const int k = static_cast<int>(c.special);
  const auto from = [&](Special first) { return k - static_cast<int>(first); };
  const Lanes below = (1U << lane) - 1, self = 1U << lane;
  switch (c.special) {
    case Special::number: return c.value;
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z: return thread_index(block, w.first + lane, from(Special::tid_x));
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z: return number_of_dimension(w.block.index, from(Special::ctaid_x));
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z: return number_of_dimension(block, from(Special::ntid_x));
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z: return number_of_dimension(w.run.what.grid, from(Special::nctaid_x));
    case Special::laneid: return lane;
    case Special::warpid: return w.first / kLanes;
    case Special::nwarpid: return (w.block.threads + kLanes - 1) / kLanes;
    case Special::lanemask_eq: return self;
    case Special::lanemask_lt: return below;
    case Special::lanemask_le: return below | self;
    case Special::lanemask_gt: return ~(below | self);
    case Special::lanemask_ge: return ~below;
    default: return w.run.loaded.address_of(static_cast<size_t>(c.variable)) + c.value;
  }
}

// The loop over instructions of one group, until it parts, waits, or comes to where another group is.
class GroupRun {
 public:
  GroupRun(Warp& w, Group g, uint64_t& left) : w_(w), pc_(g.pc), lanes_(g.lanes), left_(left) {
    others_ = w_.ready.empty() ? ~0U : w_.ready.back().pc;
  }

  void run() {
    const Instruction* code = w_.function->code.data();
    const size_t size = w_.function->code.size();
    Counters& counters = w_.run.counters();
    do {
      if (pc_ >= size) {  // a function may end without ret
        finish(lanes_);
        return;
      }
      const Instruction& i = code[pc_];
      Lanes active = lanes_;
      if (i.guard != kNoSlot) active &= i.negated ? ~w_.predicate(i.guard) : w_.predicate(i.guard);
      ++counters.instructions;
      counters.thread_instructions += static_cast<uint64_t>(std::popcount(active));
      if (!w_.depth.empty()) {
        if (i.kind != Kind::plain) follow_chain(w_, i);
        follow_waits(w_, i);
      }
      if (i.kind == Kind::plain) {
        if (active != 0) i.execute(w_, i, active);
        if (!w_.depth.empty()) follow_chain(w_, i);
        pc_ = i.next;
      } else if (!control(i, active)) {
        return;
      }
      --left_;
    } while (pc_ < others_ && left_ > 0);
    add_ready(w_.ready, pc_, lanes_);
  }

 private:
  // Whether the group goes on as it is.
  bool control(const Instruction& i, Lanes active) {
    if (i.kind == Kind::branch) return branch(i, active);
    if (i.kind == Kind::call) {
      if (active != 0) call_function(w_, i, active);
      pc_ = i.next;
      return true;
    }
    if (lanes_ != active) add_ready(w_.ready, i.next, lanes_ & ~active);
    if (active == 0) return false;
    if (i.kind == Kind::exit) finish(active);
    if (i.kind == Kind::barrier) arrive(w_, pc_, active);
    if (i.kind == Kind::collective) meet(w_, pc_, active);
    return false;
  }

  bool branch(const Instruction& i, Lanes active) {
    if (active == lanes_ || active == 0) {
      pc_ = active == 0 ? i.next : i.target;
      return true;
    }
    ++w_.run.counters().divergent_branches;
    add_ready(w_.ready, i.target, active);
    add_ready(w_.ready, i.next, lanes_ & ~active);
    return false;
  }

  void finish(Lanes lanes) {
    w_.alive &= ~lanes;
    if (!w_.function->entry) return;
    w_.block.alive -= static_cast<uint32_t>(std::popcount(lanes));
    if (w_.block.arrived > 0 && w_.block.arrived == w_.block.alive) complete_barrier(w_.block);
  }

  Warp& w_;
  uint32_t pc_;
  Lanes lanes_;
  uint64_t& left_;
  uint32_t others_ = 0;  // the first instruction at which another group waits
};

}  // namespace

void add_ready(std::vector<Group>& groups, uint32_t pc, Lanes lanes) {
  auto at = groups.begin();
  while (at != groups.end() && at->pc > pc) ++at;
  if (at != groups.end() && at->pc == pc)
    at->lanes |= lanes;
  else
    groups.insert(at, {pc, lanes});
}

Warp::Warp(Block& of_block, const Function& f, uint32_t first_thread, Lanes lanes)
    : run(of_block.run),
      block(of_block),
      function(&f),
      first(first_thread),
      file(f.register_bytes / 8, 0xdeadbeefdeadbeef),  // nobody may depend on what a register holds at first
      local(size_t{f.local_bytes} * kLanes, std::byte{0xff}),
      alive(lanes) {
  ready = {{0, lanes}};
  for (const Constant& c : f.constants)
    for (uint32_t l = 0; l < kLanes; ++l) set_any(at(c.slot), static_cast<int>(l), c.wide, special_value(*this, c, l));
}

bool run_warp(Warp& w, uint64_t turn) {
  uint64_t left = turn == 0 ? ~uint64_t{0} : turn;
  const bool moved = !w.ready.empty();
  while (!w.ready.empty() && left > 0) {
    const Group g = w.ready.back();
    w.ready.pop_back();
    GroupRun(w, g, left).run();
  }
  return moved;
}

void call_function(Warp& caller, const Instruction& i, Lanes lanes) {
  const Function& f = caller.run.module.functions[i.target];
  Warp w(caller.block, f, caller.first, lanes);
  const auto copy = [&](size_t argument, const Parameter& p, bool in) {
    each_lane(lanes, [&](int l) {
      std::byte* outside =
          caller.local.data() + size_t{caller.function->local_bytes} * static_cast<size_t>(l) + i.arguments[argument];
      std::byte* inside = w.local.data() + size_t{f.local_bytes} * static_cast<size_t>(l) + p.offset;
      std::memcpy(in ? inside : outside, in ? outside : inside, p.bytes);
    });
  };
  if (i.arguments.size() != f.results.size() + f.parameters.size())
    stop(caller.block, Check::bad_launch, i, "another number of arguments is expected");
  for (size_t k = 0; k < f.parameters.size(); ++k) copy(f.results.size() + k, f.parameters[k], true);
  run_warp(w, 0);
  if (w.alive != 0) stop(caller.block, Check::deadlock, i, "a collective or barrier in a function is not executed");
  for (size_t k = 0; k < f.results.size(); ++k) copy(k, f.results[k], false);
}

}  // namespace heddle::ptx
