# Executes CODE with what the project's CMake files look for requirements with.
cmake_minimum_required(VERSION 3.25)
include(${SOURCE}/cmake/requirements.cmake)
cmake_language(EVAL CODE "${CODE}")
