# Writes FILES into OUT as one C++ raw string literal per file, without `#pragma once`.
set(text "")
foreach(file ${FILES})
  file(READ ${file} content)
  string(REPLACE "#pragma once\n" "" content "${content}")
  string(APPEND text "R\"cuh(${content})cuh\"\n")
endforeach()
file(WRITE ${OUT} "${text}")
