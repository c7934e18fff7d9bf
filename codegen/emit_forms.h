// One function per kernel form: the body of the kernel as lines of text.
#pragma once
#include "codegen/emit_body.h"

namespace heddle::codegen {

std::vector<std::string> emit_pointwise(KernelText& text);
std::vector<std::string> emit_rows(KernelText& text);
std::vector<std::string> emit_tile(KernelText& text);
std::vector<std::string> emit_primitive(KernelText& text);
std::vector<std::string> emit_contract(KernelText& text);

}  // namespace heddle::codegen
