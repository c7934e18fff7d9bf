// emit_loops: prints the body of a kernel from its loops, for all schedules. The other functions are parts of it in
// files of their own.
#pragma once
#include "codegen/emit_body.h"

namespace heddle::codegen {

std::vector<std::string> emit_loops(KernelText& text, const ir::loop::Statements& loops);

// Prints a tiled product. `products` is its nest of Axis::products.
void emit_products(KernelText& text, Body& body, const ir::loop::Nest& products);
// Prints a primitive: a call of its function in the preamble, or for `feed` the text that gathers rows.
std::vector<std::string> emit_primitive(KernelText& text, const ir::Node& n);

}  // namespace heddle::codegen
