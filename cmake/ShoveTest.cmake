include(GoogleTest)

# shove_add_test(<name> LABEL <label> SOURCES <files> [LIBS <targets>] [TIMEOUT <seconds>] [INCLUDE <dirs>])
# A GoogleTest program. Each of its cases becomes one ctest entry `<name>.<suite>.<case>`.
#   LABEL     unit, conformance, integration, chaos, stress, package or long
#   TIMEOUT   of one case; default 60
function(shove_add_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBS;INCLUDE" ${ARGN})
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
  gtest_discover_tests(${name}-test
    TEST_PREFIX ${name}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()
