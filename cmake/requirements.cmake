# Looks for what Heddle is built with, and where something is missing or too old says what was found, what is needed and how to have it.

# heddle_missing(WHAT DEBIAN [FOUND]): ends with what is needed, what was found instead, and Debian's package that has it.
function(heddle_missing what debian)
  set(found "it was not found")
  if(ARGC GREATER 2)
    set(found "found was ${ARGV2}")
  endif()
  message(FATAL_ERROR "Heddle needs ${what}; ${found}.\n"
    "Debian: apt-get install ${debian}. Where it lies elsewhere: -DCMAKE_PREFIX_PATH=FOLDER.")
endfunction()

# heddle_require(PACKAGE MINIMUM DEBIAN): a package of CMake's; DEBIAN is the one of Debian's that has it.
macro(heddle_require package minimum debian)
  find_package(${package} ${minimum} QUIET)
  if(NOT ${package}_FOUND)
    list(JOIN ${package}_CONSIDERED_VERSIONS ", " heddle_versions)
    heddle_missing("${package} ${minimum} or a later one" ${debian} ${heddle_versions})
  endif()
endmacro()

# heddle_require_library(VARIABLE NAME DEBIAN): a library that brings no package of CMake's.
function(heddle_require_library variable name debian)
  find_library(${variable} ${name})
  if(NOT ${variable})
    heddle_missing("the library ${name}" ${debian})
  endif()
endfunction()

# heddle_require_header(VARIABLE HEADER DEBIAN): a library of headers alone.
function(heddle_require_header variable header debian)
  find_path(${variable} ${header})
  if(NOT ${variable})
    heddle_missing("the header ${header}" ${debian})
  endif()
endfunction()

# heddle_loaded_as(VARIABLE LIBRARY): the name by which the loader finds a shared library, libx.so.6; where it lies in a folder that the
# loader does not look into, with that folder.
function(heddle_loaded_as variable library)
  file(REAL_PATH ${library} file)
  get_filename_component(name ${file} NAME)
  if(NOT name MATCHES "^lib[a-z]+\\.so\\.[0-9]+")
    message(FATAL_ERROR "Heddle needs a shared library; ${library} is none.")
  endif()
  set(loaded ${CMAKE_MATCH_0})
  get_filename_component(folder ${library} DIRECTORY)
  file(REAL_PATH ${folder} folder)
  set(known ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
  list(TRANSFORM known REPLACE "/+$" "")
  if(NOT folder IN_LIST known)
    get_filename_component(folder ${library} DIRECTORY)
    set(loaded ${folder}/${loaded})
  endif()
  set(${variable} ${loaded} PARENT_SCOPE)
endfunction()

function(heddle_require_compiler)
  set(GNU_minimum 12)
  set(Clang_minimum 14)
  set(minimum ${${CMAKE_CXX_COMPILER_ID}_minimum})
  if(NOT minimum)
    message(WARNING "Heddle is tested with g++ and clang++; this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.")
  elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS minimum)
    message(FATAL_ERROR "Heddle needs g++ ${GNU_minimum}, clang++ ${Clang_minimum} or a later one; "
      "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.\n"
      "Another is named in a fresh build folder: -DCMAKE_CXX_COMPILER=PROGRAM.")
  endif()
endfunction()

# oneDNN by its header and library: Debian 12's package of CMake's asks for OpenCL, which the CPU build does not need.
function(heddle_require_onednn)
  set(minimum 2.6)
  set(elsewhere "Debian: apt-get install libdnnl-dev. Where it lies elsewhere: -DCMAKE_PREFIX_PATH=FOLDER, with include/ and lib/ in it.")
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp HINTS ENV DNNLROOT PATH_SUFFIXES include)
  find_library(DNNL_LIBRARY dnnl HINTS ENV DNNLROOT PATH_SUFFIXES lib)
  if(NOT DNNL_INCLUDE_DIR OR NOT DNNL_LIBRARY)
    message(FATAL_ERROR "Heddle needs oneDNN ${minimum} or a later one; it was not found.\n${elsewhere}")
  endif()
  file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h lines REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH)")
  list(TRANSFORM lines REPLACE "[^0-9]" "")
  list(JOIN lines "." version)
  if(version VERSION_LESS minimum)
    message(FATAL_ERROR "Heddle needs oneDNN ${minimum} or a later one; ${DNNL_INCLUDE_DIR} has ${version}.\n${elsewhere}")
  endif()
  # Heddle runs primitives on threads of its own, one thread each (runtime/host/onednn.cpp).
  file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_config.h runtime REGEX "define DNNL_CPU_THREADING_RUNTIME")
  if(NOT runtime MATCHES "DNNL_RUNTIME_(OMP|SEQ)$")
    string(REGEX REPLACE ".*DNNL_RUNTIME_" "" runtime "${runtime}")
    message(FATAL_ERROR "Heddle needs oneDNN built for OpenMP; ${DNNL_INCLUDE_DIR} has ${version} built for ${runtime}.\n${elsewhere}")
  endif()
  message(STATUS "Found oneDNN: ${DNNL_LIBRARY} (version ${version})")
  add_library(heddle_onednn UNKNOWN IMPORTED GLOBAL)
  set_target_properties(heddle_onednn PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endfunction()
