"""lit's format of shell tests, shorter where a test fails."""

import lit.formats


class FailedCommand(lit.formats.ShTest):
    """A test that fails prints the command that failed and that command's output, not the whole script before it."""

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        last = result.output.rfind('$ ":" "RUN: at line') if result.code.isFailure else -1
        if last >= 0:
            result.output = result.output[last:]
        return result
