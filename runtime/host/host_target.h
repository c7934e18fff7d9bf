// The processor that kernels are compiled for: this one, or what $HEDDLE_MARCH names.
//
//   HEDDLE_MARCH=haswell heddle train mlp    -> -march=haswell: AVX2 and no AVX-512, whatever this processor has
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

constexpr const char* kThisProcessor = "native";

// The compiler's word for it. Throws UserError where $HEDDLE_MARCH is no name.
std::string host_target();

// Throws UserError where the compiler does not know the name, or this processor lacks instructions
// that compilers use of their own accord for it.
void check_host_target(const std::string& compiler);

// What code for it may need of a processor, as Linux names it ("avx2", "fma"), in order: what compilers use of their
// own accord. And the first of such names that this processor lacks; "": it has all.
std::vector<std::string> host_instructions(const std::string& compiler);
std::string missing_instruction(const std::vector<std::string>& names);
std::string machine_name();  // "x86_64"

}  // namespace heddle::runtime
