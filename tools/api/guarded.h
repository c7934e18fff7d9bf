// guarded: wraps each function of tools/api/heddle.h, so that only heddle::Error leaves the library, and exceptions of
// the caller's own callbacks.
#pragma once
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"
#include "tools/api/heddle.h"

namespace heddle::api {

// Carries an exception that a callback of the calling program threw. It leaves the library unchanged, whatever its
// type.
struct CalledBack {
  std::exception_ptr thrown;
};
template <class F>
auto called_back(F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    throw CalledBack{std::current_exception()};
  }
}

template <class F>
auto guarded(F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (const CalledBack& program) {
    std::rethrow_exception(program.thrown);
  } catch (const UserError& error) {
    throw Error(error.what(), static_cast<int>(error.code()));
  } catch (const std::bad_alloc&) {
    throw Error("error: out of memory\n", static_cast<int>(ExitCode::limit));
  } catch (const std::system_error& error) {  // the system cannot start a thread
    throw Error(std::string("error: ") + error.what() + "\n", static_cast<int>(ExitCode::limit));
  }
}

runtime::data::ElementType element_type(const Array& array);
// Rows [first, first + count) of an array as a column that feeds the input. Throws UserError where they cannot.
runtime::data::Column column_of(const Array& array, const runtime::data::ColumnRequest& request, int64_t first,
                                int64_t count);

}  // namespace heddle::api
