// What a model consists of and what a run of it takes: `heddle summary`.
//
//   run memory = states + arena + ring + data                       each to the byte, from the program
//   peak of the process = that + at most the sum of the constants   code and libraries, compiling, library calls
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "frontend/instantiate/summary.h"

namespace heddle::tools {

struct NamedBytes {
  std::string name;  // "arena"
  int64_t bytes = 0;
  std::string meaning;
};

struct RunMemory {
  std::vector<NamedBytes> parts;      // what the run takes
  std::vector<NamedBytes> constants;  // what the process takes beside it, at most; of the host only
  int64_t parts_bytes() const;
  int64_t constants_bytes() const;
};

struct SummaryFacts {
  std::string name, target;
  frontend::ModelSummary model;
  std::vector<int64_t> state_bytes;  // of each node: its parameters and what the optimizer keeps of them
  RunMemory memory;
  double step_flops = 0;  // of the entry "train"; 0: the model trains nothing
  std::string data_note;  // why the data are not counted; empty where they are
};

std::string summary_text(const SummaryFacts& facts, int columns);
std::string summary_json(const SummaryFacts& facts);

}  // namespace heddle::tools
