// CheckedMemory: a segment of planned memory that knows which element each byte belongs to.
//
//   write f32[2] at 0, then i32[1] at 2, then read f32[2] at 0  ->  poison, poison
//
// Elements keep the evaluator's precision; a byte only records which element wrote it. An element reads as poison (nan,
// or a conspicuous integer) unless the last write of each of its bytes was this element. So a wrong plan or a wrong
// view shows in the result.
#pragma once
#include "ir/evaluate/tensor.h"

namespace heddle::ir {

class CheckedMemory {
 public:
  explicit CheckedMemory(int64_t bytes);  // all poison
  void poison(int64_t begin, int64_t end);
  // Writes elements [first, first + count) of `from` at byte `at`.
  void write(int64_t at, const Tensor& from, int64_t first, int64_t count);
  Tensor read(int64_t at, const Type& type) const;

 private:
  struct Element {
    double real = 0;
    int64_t integer = 0;
    DType dtype = DType::f32;
  };
  bool intact(size_t at, size_t size, DType dtype) const;

  std::vector<int64_t> owner_;     // by byte: the first byte of its element; -1: poison
  std::vector<Element> elements_;  // by their first byte
};

}  // namespace heddle::ir
