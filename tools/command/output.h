// Writes results to standard output and messages to standard error. A result that cannot be written is always reported.
//
//   print_result("{}\n", json);          // throws where the disk is full or the reader has gone
//   print_note("epoch {}\n", epoch);     // never throws: a training goes on without a reader
//   return finish_output(code);          // flushes; 0 becomes 1 where anything was lost
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace heddle::tools {

void write_result(std::string_view text);
void flush_result();  // makes results visible to readers at once
void write_note(std::string_view text);

template <class... T>
void print_result(fmt::format_string<T...> format, T&&... values) {
  write_result(fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void print_note(fmt::format_string<T...> format, T&&... values) {
  write_note(fmt::format(format, std::forward<T>(values)...));
}

// Opens /dev/null on those of the descriptors 0, 1 and 2 that were closed at the start. Otherwise the first opened
// files would get these numbers, and messages would be written into them.
void open_standard_streams();
int finish_output(int code);

// Throws UserError unless a result of `heddle compile` can be written there: the file can be replaced, and is absent,
// empty, or an earlier result of `heddle compile`. Other files are never overwritten.
void require_result_path(const std::string& path);

// Throws UserError (wrong usage) when both paths are given and name the same file.
void require_different(const std::string& option, const std::string& path, const std::string& other_option,
                       const std::string& other_path);

}  // namespace heddle::tools
