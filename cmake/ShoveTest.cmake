include(GoogleTest)

# shove_add_test(<name> LABEL <label> SOURCES <files> [LIBS <targets>] [TIMEOUT <seconds>] [INCLUDE <dirs>] [LONG]
#                [USUALLY <patterns>] [BROKER <kind>] [LOCK <resource>])
# A GoogleTest program. Each of its cases becomes one ctest entry `<name>.<suite>.<case>`.
#   LABEL     unit, conformance, integration, chaos or stress
#   TIMEOUT   of one case; default 60
#   LONG      it has suites named *_long: their cases get the label `long` instead, and an hour
#   USUALLY   patterns of cases, with colons between; all others are long ones
#   BROKER    it needs a real broker, which tools/brokers.sh starts; its kind is one more label
#   LOCK      what its cases have for themselves while they run: an instance that they break
function(shove_add_test name)
  cmake_parse_arguments(arg "LONG" "LABEL;TIMEOUT;USUALLY;BROKER;LOCK" "SOURCES;LIBS;INCLUDE" ${ARGN})
  if(NOT SHOVE_BUILD_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name}-test ${arg_SOURCES})
  target_link_libraries(${name}-test PRIVATE ${arg_LIBS} rapidcheck GTest::gmock GTest::gtest_main)
  target_include_directories(${name}-test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_INCLUDE})
  set_target_properties(${name}-test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/test)
  shove_private_flags(${name}-test)
  shove_test_code_flags(${name}-test)
  shove_precompile(${name}-test)
  set(more)
  if(arg_BROKER)
    # A second LABELS adds to the first; a list would be taken apart on its way to ctest.
    list(APPEND more LABELS ${arg_BROKER} ENVIRONMENT SHOVE_TEST_BROKERS=${shove_SOURCE_DIR}/tools/brokers.sh)
  endif()
  if(arg_LOCK)
    list(APPEND more RESOURCE_LOCK ${arg_LOCK})
  endif()
  set(common TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120)
  set(usual LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${more})
  if(arg_LONG)
    gtest_discover_tests(${name}-test ${common} TEST_FILTER -*_long.* PROPERTIES ${usual})
    gtest_discover_tests(${name}-test ${common} TEST_FILTER *_long.* PROPERTIES LABELS long TIMEOUT 3600 ${more})
  elseif(arg_USUALLY)
    gtest_discover_tests(${name}-test ${common} TEST_FILTER ${arg_USUALLY} PROPERTIES ${usual})
    gtest_discover_tests(${name}-test ${common} TEST_FILTER -${arg_USUALLY} PROPERTIES LABELS long TIMEOUT 3600 ${more})
  else()
    gtest_discover_tests(${name}-test ${common} PROPERTIES ${usual})
  endif()
endfunction()

# One precompiled header for all tests. For builds from nothing only: it hides an include that is missing, and leaves a
# compiler cache less to find. Not for g++ 12, to which what comes from one is no system header: it warns of overlaps in
# std::string that are not there.
function(shove_precompile target)
  if(NOT SHOVE_PRECOMPILE_TESTS OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(NOT TARGET shove-test-headers)
    file(WRITE ${CMAKE_BINARY_DIR}/test-headers.cpp "")
    add_library(shove-test-headers OBJECT ${CMAKE_BINARY_DIR}/test-headers.cpp)
    target_link_libraries(shove-test-headers PRIVATE shove::core rapidcheck GTest::gmock GTest::gtest_main)
    shove_private_flags(shove-test-headers)
    shove_test_code_flags(shove-test-headers)
    target_precompile_headers(shove-test-headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <shove/shove.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM shove-test-headers)
endfunction()

# -I flags of what a user of these targets gets to see.
function(shove_include_flags result)
  set(flags)
  foreach(target IN LISTS ARGN)
    set(folders $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    list(APPEND flags "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>")
  endforeach()
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# shove_add_header_tests(<folder> LIBS <targets>): each header below the folder compiles alone.
# The headers are globbed because one forgotten in a list is what this looks for.
function(shove_add_header_tests folder)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  if(NOT SHOVE_BUILD_TESTS OR SHOVE_SANITIZE)
    return()
  endif()
  shove_include_flags(includes ${arg_LIBS})
  file(GLOB_RECURSE headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.hpp)
  foreach(header IN LISTS headers)
    add_test(NAME header.${header}
      COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I${folder} "${includes}"
              -include ${header} -x c++ /dev/null
      COMMAND_EXPAND_LISTS)
    set_tests_properties(header.${header} PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endfunction()

# shove_add_compile_fail_tests(LIBS <targets> CASES <files>): see CompileFail.cmake.
function(shove_add_compile_fail_tests)
  cmake_parse_arguments(arg "" "" "LIBS;CASES" ${ARGN})
  if(NOT SHOVE_BUILD_TESTS OR SHOVE_SANITIZE)
    return()
  endif()
  shove_include_flags(includes ${arg_LIBS})
  foreach(file IN LISTS arg_CASES)
    cmake_path(GET file STEM name)
    add_test(NAME compile_fail.${name}
      COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -P ${shove_SOURCE_DIR}/cmake/CompileFail.cmake
              -- ${CMAKE_CXX_COMPILER} -std=c++20 "${includes}"
      COMMAND_EXPAND_LISTS)
    set_tests_properties(compile_fail.${name} PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endfunction()

# shove_add_fuzzer(<name> SOURCES <files> LIBS <targets> CORPUS <folder> [INCLUDE <dirs>])
# A libFuzzer program in bin/fuzz; the file beside it names its corpus. The corpus is also a unit test:
# every input that is kept is run once.
function(shove_add_fuzzer name)
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;LIBS;INCLUDE" ${ARGN})
  if(NOT SHOVE_BUILD_FUZZERS)
    return()
  endif()
  add_executable(fuzz-${name} ${arg_SOURCES})
  target_link_libraries(fuzz-${name} PRIVATE ${arg_LIBS})
  target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
  target_include_directories(fuzz-${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${arg_INCLUDE})
  set_target_properties(fuzz-${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fuzz)
  shove_private_flags(fuzz-${name})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/fuzz-corpus/${name} CONTENT "${CMAKE_CURRENT_SOURCE_DIR}/${arg_CORPUS}\n")
  if(SHOVE_BUILD_TESTS)
    add_test(NAME fuzz-corpus.${name} COMMAND fuzz-${name} -runs=0 ${CMAKE_CURRENT_SOURCE_DIR}/${arg_CORPUS})
    set_tests_properties(fuzz-corpus.${name} PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()
