// `heddle summary`: prints the layers of a model, and the memory that a run takes.
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
  std::vector<NamedBytes> parts;      // memory of the run
  std::vector<NamedBytes> constants;  // upper limits of other memory of the process; on the host only
  int64_t parts_bytes() const;
  int64_t constants_bytes() const;
};

struct SummaryFacts {
  std::string name, target;
  frontend::ModelSummary model;
  std::vector<int64_t> state_bytes;  // of each node: parameters and their optimizer states
  RunMemory memory;
  double step_flops = 0;  // of the entry "train"; 0: there is none
  std::string data_note;  // why the data are not counted; empty where they are
};

std::string summary_text(const SummaryFacts& facts, int columns);
std::string summary_json(const SummaryFacts& facts);

}  // namespace heddle::tools
