// feed: an entry that takes rows fills its inputs itself, and tells of its step.
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
// Before fuse, so that memory is planned, verified and counted for what they do as for all else. Without columns
// (Options::columns) inputs are written from outside, and nothing changes.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool feed(ir::Module& m, const Options& options);

}  // namespace heddle::passes
