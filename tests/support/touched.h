// Whether the steps of a program touch the memory that their arguments name, and no other.
#pragma once
#include <functional>
#include <string>

#include "runtime/executable.h"

namespace heddle::testing {

// Runs `entry` step by step on the host device, each step twice: once on memory as it is, once with poison in all bytes
// that it does not say it reads. What it says it writes must be the same both times, and all else must stay as it was.
// `fill` writes inputs and states. The first fault as text, or nothing.
std::string fault_of_touch(const codegen::Program& program, const codegen::Entry& entry,
                           const std::function<void(runtime::Executable&)>& fill);

}  // namespace heddle::testing
