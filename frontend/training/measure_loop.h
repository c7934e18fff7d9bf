// MeasureLoop: a loop in a loss or a metric. What is emitted between its making and `run` is one turn.
//
//   MeasureLoop loop(c, "rows", 20, {start}, {sequence});
//   const ir::ValueId next = c.emit("add", {loop.carries[0], loop.slices[0]});
//   loop.run({next}).last[0]                    // start plus all rows of the sequence
#pragma once
#include <string>

#include "frontend/layer_context.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {

class MeasureLoop {
 public:
  // `starts` of the carries; the first axis of `sequences` is as long as `count`.
  MeasureLoop(MeasureContext& c, const std::string& what, int64_t count, const ir::Values& starts,
              const ir::Values& sequences);

  ir::Values carries, slices;  // of the turn
  ir::ValueId index;           // i32[]

  struct Results {
    ir::Values last;     // the carries as the last turn leaves them
    ir::Values stacked;  // [count, ...]
  };
  // `next` are what the carries become, `stacked` values of the turn that are kept.
  Results run(const ir::Values& next, const ir::Values& stacked = {});

 private:
  MeasureContext& c_;
  LoopSpec spec_;
};

}  // namespace heddle::frontend
