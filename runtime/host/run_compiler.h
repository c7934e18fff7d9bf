// One call of the system compiler, and what its result depends on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/temporary.h"

namespace heddle::runtime {

// Kernels are compiled with the fast options. Where a compiler gets known answers wrong with them, with the plain ones.
enum class CompilerOptions { fast, plain };
const std::vector<std::string>& compiler_options(CompilerOptions which);

// Names a result: of this text, these options, this compiler (path, size, date) and this processor (model, flags).
std::string compile_key(const std::string& source, const std::string& compiler,
                        const std::vector<std::string>& options);

// The bytes of the shared object. Throws UserError when the compiler fails or takes too long.
std::string compile_shared_object(const std::string& source, const std::string& compiler,
                                  const std::vector<std::string>& options);

// Loads a copy with a name of its own: the loader would take an old object for a new one of the same name, and a cache
// entry that is overwritten in place would pull the code from under a running process. Stays loaded.
void* load_shared_object(std::string_view content);

// Written whole: a compiler or loader that is given half a file makes something else of it. Throws UserError.
void write_temporary(const std::string& path, std::string_view content);
// A compiler that finds no room cannot always say so in a log that lies beside its files: throws
// UserError where there is none.
void require_room(const TemporaryFolder& folder);

// The compiler's first errors with the lines of `source` around them, numbered.
std::string numbered_errors(std::string_view log, std::string_view source);

}  // namespace heddle::runtime
