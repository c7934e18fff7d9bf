// Which axes of the values in a scan's body count the rows of a batch, given those of its results.
//
//   body @cell(fixed %w: f32[8,8], carry %h: f32[2,8], slice %x: f32[2,8]) ... returns %n: f32[2,8] {rows, other}
//     -> %h, %x have {rows, other}, %w has none
#pragma once
#include <map>

#include "passes/decode/axis_roles.h"

namespace heddle::passes {

class ScanRows {
 public:
  ScanRows(const ir::Graph& body, int64_t rows);
  // False where the result cannot have these roles: what it depends on is read across rows, or not known.
  bool ask(size_t output, const AxisRoles& roles);
  // Of an input; none has rows where nobody asked for it.
  AxisRoles roles(ir::ValueId input) const;
  bool reads_index() const;
  const ir::Graph& body() const { return body_; }  // without composites

 private:
  bool put(ir::ValueId v, const AxisRoles& roles);

  ir::Graph body_;
  AxisSizes sizes_;
  std::map<ir::ValueId, AxisRoles> found_;
  std::vector<ir::ValueId> open_;
};

}  // namespace heddle::passes
