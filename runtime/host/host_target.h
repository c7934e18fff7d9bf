// The processor that kernels are compiled for: this one, or what $HEDDLE_MARCH names.
//
//   HEDDLE_MARCH=haswell heddle train mlp    -> -march=haswell: AVX2 and no AVX-512, whatever this processor has
#pragma once
#include <string>

namespace heddle::runtime {

constexpr const char* kThisProcessor = "native";

// The compiler's word for it. Throws UserError where $HEDDLE_MARCH is no name.
std::string host_target();

// Throws UserError where the compiler does not know the name, or this processor lacks instructions
// that compilers use of their own accord for it.
void check_host_target(const std::string& compiler);

}  // namespace heddle::runtime
