// The half of heddle evaluate that runs graphs of IR text on given tensors.
#pragma once
#include <memory>
#include <string>

namespace heddle::tools {

class Command;
struct EvaluateArguments;

std::shared_ptr<EvaluateArguments> add_graph_arguments(Command& command);
// Whether it is IR text that is asked for: a .hir file, or --inputs and --outputs are given.
bool takes_graphs(const EvaluateArguments& a, const std::string& file);
void evaluate_graphs(const EvaluateArguments& a, const std::string& file);

}  // namespace heddle::tools
