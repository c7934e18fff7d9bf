// MeasureLoop: builds a loop in a loss or a metric. The nodes emitted between the constructor and `run` form one turn.
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
  // `starts` are the first values of the carries. The first axis of each of `sequences` has `count` elements.
  MeasureLoop(MeasureContext& c, const std::string& what, int64_t count, const ir::Values& starts,
              const ir::Values& sequences);

  ir::Values carries, slices;  // their values in the turn
  ir::ValueId index;           // i32[]

  struct Results {
    ir::Values last;     // the carries after the last turn
    ir::Values stacked;  // [count, ...]
  };
  // `next` are the next values of the carries. `stacked` are values of the turn to collect over all turns.
  Results run(const ir::Values& next, const ir::Values& stacked = {});

 private:
  MeasureContext& c_;
  LoopSpec spec_;
};

}  // namespace heddle::frontend
