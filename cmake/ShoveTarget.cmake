# What all of our targets have in common.

# Flags for targets of this repository only; nothing of it reaches a user.
function(shove_private_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees overlaps in std::string that are not there.
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(SHOVE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_compile_options(${target} PRIVATE -ffile-prefix-map=${shove_SOURCE_DIR}/=)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# Test code is hardly optimised: it takes a third less time to compile (sanitized: two thirds), and little longer
# to run.
function(shove_test_code_flags target)
  if(SHOVE_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# shove_add_library(<component> SOURCES <files> [COMPONENTS <components>] [PUBLIC <libs>] [PRIVATE <libs>]
#                   [FIND <find_dependency arguments>...] [PKG_CONFIG <modules>] [LIBS_PRIVATE <flags>]
#                   [HEADERS <dir>] [CMAKE <file>])
# A library of the product: target shove_<component>, alias shove::<component>, file libshove-<component>,
# its part of the CMake package and its shove-<component>.pc.
#   COMPONENTS  other components that it needs, linked PUBLIC
#   FIND        what an installed component looks for, e.g. "SQLite3" or "Boost 1.81"
#   PKG_CONFIG  the same for pkg-config
#   LIBS_PRIVATE  linker flags of libraries that have no module of pkg-config
#   HEADERS     folder of the public headers; default include
#   CMAKE       CMake functions that come with the installed component
function(shove_add_library component)
  cmake_parse_arguments(arg "" "HEADERS;CMAKE" "SOURCES;COMPONENTS;PUBLIC;PRIVATE;FIND;PKG_CONFIG;LIBS_PRIVATE" ${ARGN})
  if(NOT arg_HEADERS)
    set(arg_HEADERS include)
  endif()
  set(target shove_${component})
  add_library(${target} ${arg_SOURCES})
  add_library(shove::${component} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/${arg_HEADERS}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  list(TRANSFORM arg_COMPONENTS PREPEND shove:: OUTPUT_VARIABLE ours)
  target_link_libraries(${target} PUBLIC ${ours} ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME shove-${component}
    EXPORT_NAME ${component}
    POSITION_INDEPENDENT_CODE ON
    VERSION ${shove_VERSION}
    SOVERSION ${shove_VERSION_MAJOR}.${shove_VERSION_MINOR})
  shove_private_flags(${target})
  if(component STREQUAL "testkit")
    shove_test_code_flags(${target})
  elseif(SHOVE_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
  endif()
  shove_hide_symbols(${target})
  shove_product(${target})
  if(SHOVE_INSTALL)
    shove_install_component(${component}
      HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_HEADERS}
      COMPONENTS ${arg_COMPONENTS} FIND ${arg_FIND} PKG_CONFIG ${arg_PKG_CONFIG}
      LIBS_PRIVATE ${arg_LIBS_PRIVATE} CMAKE ${arg_CMAKE})
  endif()
endfunction()

# Enters a target into `product`: what `make build` builds, without tests and fuzzers.
function(shove_product target)
  if(NOT TARGET shove_product)
    add_custom_target(shove_product)
  endif()
  add_dependencies(shove_product ${target})
endfunction()

# Hides what is not ours. A static library is compiled with hidden visibility. A shared one exports
# namespace shove by a linker script, so that no class needs a macro; all else (Boost, SQLite, simdjson,
# the standard library's templates) stays inside.
function(shove_hide_symbols target)
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  elseif(kind STREQUAL "SHARED_LIBRARY")
    set(script ${shove_SOURCE_DIR}/cmake/shove.map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${script})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
  endif()
endfunction()
