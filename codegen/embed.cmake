# Writes FILES into OUT as a C++ expression, a sum of one raw string literal per file without `#pragma once`: compilers need not take literals
# of more than 64 KB, to which neighbours would be joined.
set(text "std::string()\n")
foreach(file ${FILES})
  file(READ ${file} content)
  string(REPLACE "#pragma once\n" "" content "${content}")
  string(APPEND text "+ R\"cuh(${content})cuh\"\n")
endforeach()
file(WRITE ${OUT} "${text}")
