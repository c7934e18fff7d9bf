// The processor that kernels are compiled for: this one, or the one that $HEDDLE_MARCH names.
//
//   HEDDLE_MARCH=haswell heddle train mlp    -> -march=haswell: AVX2 and no AVX-512, whatever this processor has
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

constexpr const char* kThisProcessor = "native";

// The value of the compiler's -march. Throws UserError where $HEDDLE_MARCH does not have the form of a name.
std::string host_target();

// Throws UserError where the compiler does not know the target, or this processor lacks instructions that the compiler
// may generate for it.
void check_host_target(const std::string& compiler);

// host_instructions: the instruction sets that the compiler may use for the target, sorted, as Linux names them
// ("avx2", "fma"). missing_instruction: the first of `names` that this processor lacks; "": it has all.
std::vector<std::string> host_instructions(const std::string& compiler);
std::string missing_instruction(const std::vector<std::string>& names);
std::string machine_name();  // "x86_64"

}  // namespace heddle::runtime
