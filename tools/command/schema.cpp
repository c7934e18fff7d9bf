// heddle schema: the JSON Schema of the model format, for editors.
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/model_schema.h"
#include "tools/command/output.h"

namespace heddle::tools {

void add_schema(CommandLine& line) {
  Command command =
      line.add_subcommand("schema", "the JSON Schema of model files, by which editors complete and check");
  command.run([] { write_result(model_schema()); });
}

}  // namespace heddle::tools
