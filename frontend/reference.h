// The reference of what models may name, in Markdown, from the records themselves.
//
//   reference_table("optimizers")
//     -> | optimizer | settings (default) | |
//        |---|---|---|
//        | `sgd` | `lr` (0.001), `momentum` (0), ... | stochastic gradient descent, with momentum where given |
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::frontend {

// layers, losses, metrics, optimizers, schedules, initializers
const std::vector<std::string>& reference_kinds();
std::string reference_table(std::string_view kind);  // of one of these

}  // namespace heddle::frontend
