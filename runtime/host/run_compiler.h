// Runs the system compiler once. Also makes the cache key of the result, and loads the result.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/temporary.h"

namespace heddle::runtime {

// Kernels are compiled with the fast options; where a compiler fails the check (compiler_check.h) with them, with the
// plain options.
enum class CompilerOptions { fast, plain };
const std::vector<std::string>& compiler_options(CompilerOptions which);

// The cache key of a result. It depends on the text, the options, the compiler (path, size, date) and the processor
// (model, flags).
std::string compile_key(const std::string& source, const std::string& compiler,
                        const std::vector<std::string>& options);

// Returns the bytes of the shared object. Throws UserError when the compiler fails or takes too long.
std::string compile_shared_object(const std::string& source, const std::string& compiler,
                                  const std::vector<std::string>& options);

// Loads a copy under a unique name, for two reasons. The loader would return an old object for a new one of the same
// name. And a cache entry that is overwritten in place would change the code of a running process. The object stays
// loaded.
void* load_shared_object(std::string_view content);

// Writes the whole file or throws UserError: a compiler or loader must not get a part of a file.
void write_temporary(const std::string& path, std::string_view content);
// Throws UserError where there is no room on the disk. A compiler without room may be unable to say so, because its log
// lies on the same disk.
void require_room(const TemporaryFolder& folder);

// The compiler's first errors, with the numbered lines of `source` around them.
std::string numbered_errors(std::string_view log, std::string_view source);

}  // namespace heddle::runtime
