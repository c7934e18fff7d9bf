// A pass: one free function over a module. It returns whether it changed anything; all its state is local.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/fed_column.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"
#include "passes/choices.h"

namespace heddle::passes {

// The reason for a decision of a pass, such as an edge that was not fused or a schedule that was chosen.
struct Remark {
  std::string pass;
  std::string graph;
  std::string subject;  // "%conv1 -> %pool1"
  std::string reason;   // "not fused: pooling reads it at other elements"
};

// The answer of the installed library about a call: the scratch bytes it needs, or why it cannot execute it.
struct LibraryAnswer {
  int64_t workspace = 0;
  std::string refusal;  // empty where it can
};
// A library that may execute calls. `rules` come from its file in passes/select. `ask` queries the installed library
// without running anything. The kernel's body defines what the call computes; its schedule holds impl and slices.
struct Library;
struct AvailableLibrary {
  const Library* rules = nullptr;
  std::function<LibraryAnswer(const ir::Graph& kernel)> ask;
};

struct Options {
  ir::Target target = ir::host();
  int64_t memory_bytes = 0;                   // limit for the states and the arena of a program; 0: the target's memory
  std::vector<AvailableLibrary> libraries;    // in order of preference; empty: generated text only
  std::function<void(const Remark&)> remark;  // may be empty
  // The columns of the data set from which entries make their inputs; empty: the host writes the inputs.
  std::vector<ir::FedColumn> columns = {};
  std::vector<std::string> recompute = {};  // paths of blocks whose values are computed again for the backward sweep
  bool prepare = false;                     // compute values of parameters alone once, in the entry `prepare`
  bool fold_norms = false;                  // fold scales and shifts of channels into the weights before them
  MeasuredChoices choices = {};             // these take precedence over predicted times
  Decided decided = {};                     // receives each decision; may be empty
  void note(std::string pass, const ir::Graph& g, std::string subject, std::string reason) const {
    if (remark) remark({std::move(pass), g.name, std::move(subject), std::move(reason)});
  }
};

struct Pass {
  std::string_view name;
  std::string_view doc;
  bool (*run)(ir::Module&, const Options&);
};

}  // namespace heddle::passes
