// The part of heddle evaluate that runs graphs of IR text on given tensors.
#pragma once
#include <memory>
#include <string>

namespace heddle::tools {

class Command;
struct EvaluateArguments;

std::shared_ptr<EvaluateArguments> add_graph_arguments(Command& command);
// Whether the command is about IR text: the file is a .hir file, or --inputs or --outputs is given.
bool takes_graphs(const EvaluateArguments& a, const std::string& file);
void evaluate_graphs(const EvaluateArguments& a, const std::string& file);

}  // namespace heddle::tools
