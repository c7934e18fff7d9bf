// The body of a kernel as lines of text, printed from its loops: one function for all schedules,
// and the parts of it that have a file of their own.
#pragma once
#include "codegen/emit_body.h"

namespace heddle::codegen {

std::vector<std::string> emit_loops(KernelText& text, const ir::loop::Statements& loops);

// A product through tiles, its nest of Axis::products.
void emit_products(KernelText& text, Body& body, const ir::loop::Nest& products);
// A primitive: its call of the preamble, or the text of what it gathers.
std::vector<std::string> emit_primitive(KernelText& text, const ir::Node& n);

}  // namespace heddle::codegen
