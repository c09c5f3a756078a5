# shove_add_backend(<name> SOURCES <files> [PRIVATE <libs>])
#
# All that a backend's CMakeLists.txt has to say. Makes shove::<name> from include/ and src/, and enters
# the backend into shove::open, the installation and the packages.
#   SOURCES   the files under src/
#   PRIVATE   the client library's targets
function(shove_add_backend name)
  cmake_parse_arguments(arg "" "" "SOURCES;PRIVATE" ${ARGN})
  shove_add_library(${name} HEADERS include SOURCES ${arg_SOURCES} PUBLIC shove::core PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY SHOVE_BACKENDS ${name})
endfunction()
