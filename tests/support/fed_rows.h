// Rows of a table as an entry that feeds itself has them: what its maps make of them.
//
//   fed_rows(fed_program("f32[4,6,8]", {.input = "x", .stored = u8, .maps = maps}, "train"), "train", table, order, draws)
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/lower.h"
#include "ir/fed_column.h"
#include "runtime/feed.h"

namespace heddle::testing {

// Of an entry that takes pictures `type` from the column, and returns them.
codegen::Program fed_program(const std::string& type, const ir::FedColumn& column, const std::string& entry);
// What its steps of `batch` rows get in one epoch, one after another; the data set lies where `resident` bytes allow.
struct FedRun {
  int batch = 4, threads = 2;
  int64_t resident = int64_t{1} << 30;
};
std::vector<float> fed_rows(const codegen::Program& program, const std::string& entry,
                            const runtime::data::Table& table, const std::vector<uint32_t>& order, runtime::Draws draws,
                            FedRun how = {});

}  // namespace heddle::testing
