// Products through tiles, for tests that execute or compile them: graphs of one kernel each, in
// schedules that are chosen here instead of by predicted time.
//
//   matmul 70 x 33 x 50, either side transposed, tile = [32,16,16], threads = 32, split_k = 1 and 3
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "ir/builder.h"

namespace heddle::testing {

// Of a kernel's schedule what a case decides.
struct TileChoice {
  ir::Dims tile;
  int64_t threads = 32, stages = 2, split_k = 1;
  ir::ProductPrecision precision = ir::ProductPrecision::f32;
};
std::string to_string(const TileChoice& t);

struct ContractCase {
  std::string name;
  std::function<std::vector<ir::ValueId>(ir::Builder&)> build;  // the results
  TileChoice choice;
  double rounding = 0;  // of what is multiplied, relative: 0 where it is exact
};
// By choice: those of a group are compiled together.
std::vector<std::vector<ContractCase>> contract_groups();

// A graph for each case, @f0, @f1 and so on, before any pass.
ir::Module module_of(const std::vector<ContractCase>& group);
// The same planned for the target h200, its kernels in the group's schedule.
ir::Module planned(const std::vector<ContractCase>& group);

}  // namespace heddle::testing
