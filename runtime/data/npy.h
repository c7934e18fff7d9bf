// Reads NumPy's npy files: a magic number, a version, a header that is a Python dictionary, then the elements row by
// row.
//
//   \x93NUMPY 1 0 | 118 | {'descr': '<f4', 'fortran_order': False, 'shape': (1000, 28, 28), } | 3136000 bytes
//     -> f32[1000,28,28], mapped where it lies
//
// Versions 1 to 3 (numpy.lib.format) are read. Types that columns do not have are widened: u2 becomes i32, u4 and u8
// become i64, f2 becomes f32, bool becomes u8. Big-endian elements are swapped. A converted column is a copy; else the
// file is mapped.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/input_file.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// The contents of the header.
struct NpyHeader {
  char kind = 'f';    // of the file's elements: f, i, u, b
  int64_t width = 4;  // bytes of an element
  bool big_endian = false;
  std::vector<int64_t> dims;   // the first counts the rows
  int64_t begin = 0;           // where the elements begin, in bytes from the beginning of the header
  ElementType stored() const;  // the column's type
  int64_t bytes() const;       // of all elements in the file
  bool as_it_lies() const;     // the file's bytes need no conversion
};

inline constexpr int64_t kMaxNpyHeader = 1 << 20;

// Parses the header. Throws UserError at `where`, with a message that begins with `name`, where the bytes are not an
// array that a column can hold. `start`: the first kMaxNpyHeader bytes of the array or more, or all. `size`: bytes of
// the array with its header.
NpyHeader parse_npy(std::string_view start, int64_t size, const std::string& name, const Location& where,
                    Rows rows = Rows::some);
// Fills the column with the elements, converted to its type.
void npy_elements(const NpyHeader& header, std::span<const std::byte> file_bytes, const std::string& name,
                  const Location& where, int64_t resident, Column& column);

// These read a file that holds one array.
NpyHeader read_npy_header(const std::filesystem::path& file, const std::string& name, const Location& where,
                          Rows rows = Rows::some);
Column read_npy(const std::filesystem::path& file, const std::string& name, const Location& where,
                int64_t resident = most_resident_bytes());

}  // namespace heddle::runtime::data
