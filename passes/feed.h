// feed: makes an entry gather its inputs from the data set itself, and record the results of its step in the ring.
//
//   graph @train(input %x: f32[8,4]) {              graph @train(cursor %cursor: u64[5], ring %ring: u64[196608]) {
//     %loss: f32[] = ...                              %x: f32[8,4], %x.noted: u64[5] = feed(%cursor) {input = "x", ...}
//     return %loss                                    %loss: f32[] = ...
//   }                                        ->       %record: u64[5], %record.told_on: u64[196608] =
//                                                         record(%x.noted, %ring, %loss) {records = 32768, rows = 8}
//                                                     update %cursor <- %record
//                                                     update %ring <- %record.told_on
//                                                     return %loss
//                                                   }
//
// The pass runs before fuse, so that memory planning, verification and cost figures include the nodes that it adds.
// Without columns (Options::columns) the host writes the inputs, and the pass changes nothing.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool feed(ir::Module& m, const Options& options);

}  // namespace heddle::passes
