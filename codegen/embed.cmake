# Writes FILES into OUT as a C++ expression, a string of one raw literal per file without `#pragma once`. They are put together at run
# time: compilers need not take literals of more than 64 KB, to which neighbours would be joined. A sum of them would do, but of
# operator+ of long texts g++ 12 shows a warning with all of the text (GCC bug 105651).
set(text "[] {\nstd::string all;\nfor (const char* part : {\n")
foreach(file ${FILES})
  file(READ ${file} content)
  string(REPLACE "#pragma once\n" "" content "${content}")
  string(APPEND text "R\"cuh(${content})cuh\",\n")
endforeach()
string(APPEND text "}) all += part;\nreturn all;\n}()\n")
file(WRITE ${OUT} "${text}")
