#include "tests/support/source_dir.h"

namespace heddle::testing {

// The one source that knows it: a definition of every test's command line would keep clones from sharing a compiler
// cache.
std::filesystem::path source_dir() { return HEDDLE_SOURCE_DIR; }

}  // namespace heddle::testing
