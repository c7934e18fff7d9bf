// ScanRows: derives which axes of a scan body's inputs enumerate the rows of a batch, from those of its outputs.
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
  // Requires these roles of an output, and derives those of the values it depends on. Returns false if that is
  // impossible: a value is read across rows, or its roles are unknown or contradictory.
  bool ask(size_t output, const AxisRoles& roles);
  // The roles of an input. Without a requirement that reaches it, no axis has rows.
  AxisRoles roles(ir::ValueId input) const;
  bool reads_index() const;
  const ir::Graph& body() const { return body_; }  // decomposed

 private:
  bool put(ir::ValueId v, const AxisRoles& roles);

  ir::Graph body_;
  AxisSizes sizes_;
  std::map<ir::ValueId, AxisRoles> found_;
  std::vector<ir::ValueId> open_;
};

}  // namespace heddle::passes
