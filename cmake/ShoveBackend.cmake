# shove_add_backend(<name> SOURCES <files> [PRIVATE <libs>] [FIND <packages>] [PKG_CONFIG <modules>]
#                   [LIBS_PRIVATE <flags>])
#
# All that a backend's CMakeLists.txt has to say. Makes shove::<name> from include/shove/<name>.hpp and src/,
# and enters the backend into shove::open, the installation and the packages. See shove_add_library.
function(shove_add_backend name)
  shove_add_library(${name} COMPONENTS core ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SHOVE_BACKENDS ${name})
  shove_add_header_tests(${CMAKE_CURRENT_SOURCE_DIR}/include LIBS shove::core)
endfunction()

# shove::open, for the backends added before.
function(shove_add_open)
  get_property(backends GLOBAL PROPERTY SHOVE_BACKENDS)
  list(TRANSFORM backends REPLACE "(.+)" "#include <shove/\\1.hpp>\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" includes)
  list(JOIN backends ", " tags)
  configure_file(${shove_SOURCE_DIR}/cmake/open.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/open.cpp @ONLY)
  shove_add_library(open SOURCES ${CMAKE_CURRENT_BINARY_DIR}/open.cpp COMPONENTS core ${backends})
endfunction()
