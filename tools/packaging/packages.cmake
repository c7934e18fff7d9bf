# What is installed beside the programs and the library, and the packages of it: tools/package makes them.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/models
  FILES_MATCHING PATTERN "*.json" PATTERN "*.csv" PATTERN "*.safetensors" PATTERN "*.jpg" PATTERN "*.jpeg" PATTERN "*.png" PATTERN "*.bmp"
  PATTERN "*.webp" PATTERN "*.tif" PATTERN "*.gif")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE packaging/copyright
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/api/example DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.cpp" PATTERN CMakeLists.txt)

# Shell completion, from the program's own tables. The build makes it: where packages are made nothing of them is executed.
set(completions ${CMAKE_CURRENT_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
foreach(shell bash zsh fish)
  add_custom_command(TARGET heddle POST_BUILD COMMAND $<TARGET_FILE:heddle> completion ${shell} > ${completions}/heddle.${shell} VERBATIM)
endforeach()
install(FILES ${completions}/heddle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heddle)
install(FILES ${completions}/heddle.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _heddle)
install(FILES ${completions}/heddle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The manual page likewise.
add_custom_command(TARGET heddle POST_BUILD COMMAND $<TARGET_FILE:heddle> help --man > ${CMAKE_CURRENT_BINARY_DIR}/heddle.1 VERBATIM)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(CPACK_GENERATOR TGZ)
# The one knows which packages the libraries come from, with the other CPack finds out which files are programs.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(FILE_PROGRAM file)
if(DPKG_SHLIBDEPS AND FILE_PROGRAM)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR Heddle)
set(CPACK_PACKAGE_CONTACT "Heddle maintainers <maintainers@heddle.invalid>")  # no address: reports are issues
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime that train and apply neural networks")
set(CPACK_PACKAGE_DESCRIPTION "Heddle compiles a model written in JSON into one program of its whole
training step, and runs it. There is no Python in it. This package holds the
command line, the C++ library libheddle with its header and CMake package, the
models that belong to it, and the documents. Kernels are compiled on the
machine, with g++ or clang++. A GPU needs NVIDIA's driver and NVRTC 13, too.")
set(CPACK_PACKAGE_FILE_NAME heddle-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The host device compiles every program. `clang` is the package that has clang++ by this name.
# The libraries of pictures are opened, not linked: dpkg-shlibdeps does not see them (runtime/data/picture_library.h).
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ (>= 4:12) | clang (>= 1:14), libgif7, libtiff6, libwebp7, libwebpdemux2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, libcuda1, cuda-nvrtc-13-0")
include(CPack)
