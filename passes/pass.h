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

// Why something was done or not: an edge that was not fused, a schedule that was chosen. Nothing is silent.
struct Remark {
  std::string pass;
  std::string graph;
  std::string subject;  // "%conv1 -> %pool1"
  std::string reason;   // "not fused: pooling reads it at other elements"
};

// What a real library says of a call: the scratch bytes it needs, or why it cannot execute it.
struct LibraryAnswer {
  int64_t workspace = 0;
  std::string refusal;  // empty where it can
};
// A library that calls may go to: its rules, a file in passes/select, and what only the real one can say, asked without
// running anything. The kernel's body is the call's meaning; its schedule holds impl and slices.
struct Library;
struct AvailableLibrary {
  const Library* rules = nullptr;
  std::function<LibraryAnswer(const ir::Graph& kernel)> ask;
};

struct Options {
  ir::Target target = ir::host();
  int64_t memory_bytes = 0;                 // that a program's states and arena may take; 0: the target's
  std::vector<AvailableLibrary> libraries;  // of equally fast ones the first is taken; empty: generated schedules only
  std::function<void(const Remark&)> remark;  // may be empty
  // How entries that take rows of the data set make their inputs of its columns; none: inputs are written from outside.
  std::vector<ir::FedColumn> columns = {};
  std::vector<std::string> recompute = {};  // paths of blocks whose values are computed again for the backward sweep
  bool prepare = false;                     // what predictions make of parameters alone is made once, in an entry
  bool fold_norms = false;                  // scales and shifts of channels go into the weights before them
  MeasuredChoices choices = {};             // by which candidates are taken, whatever time is predicted
  Decided decided = {};                     // may be empty
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
