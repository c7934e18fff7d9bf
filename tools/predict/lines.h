// Lines: reads the lines of a file, plain or compressed, or of a descriptor as they arrive, without line ends.
#pragma once
#include <cstdint>
#include <string>

#include "runtime/data/input_file.h"
#include "tools/predict/row_source.h"

namespace heddle::tools {

class Lines {
 public:
  explicit Lines(const SourceRequest& asked);

  bool next(std::string& line);  // false at the end
  // Whether `next` returns without waiting: a whole line has been read, or the input has ended.
  bool ready();

  int64_t number = 0;  // of the line that was read last, counted from 1

 private:
  size_t end_line();
  bool more();

  runtime::data::InputFile in_;
  std::string text_;
  size_t at_ = 0, searched_ = 0;
  bool ended_ = false;
};

}  // namespace heddle::tools
