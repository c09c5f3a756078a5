# cmake -DSOURCE=<case.cpp> -P CompileFail.cmake -- <compiler and flags>
# A case compiles with -DFIXED, and without it fails with the message that its first line asks for:
#   // expect: <regular expression>
set(COMMAND)
set(past_dashes NO)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(past_dashes)
    list(APPEND COMMAND ${CMAKE_ARGV${i}})
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(past_dashes YES)
  endif()
endforeach()

file(STRINGS ${SOURCE} first LIMIT_COUNT 1)
if(NOT first MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must say '// expect: <regular expression>'")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND ${COMMAND} -DFIXED -fsyntax-only ${SOURCE} RESULT_VARIABLE rc ERROR_VARIABLE errors)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "the right spelling (-DFIXED) does not compile:\n${errors}")
endif()

execute_process(COMMAND ${COMMAND} -fsyntax-only ${SOURCE} RESULT_VARIABLE rc ERROR_VARIABLE errors)
if(rc EQUAL 0)
  message(FATAL_ERROR "the wrong spelling compiles")
endif()
if(NOT errors MATCHES "${expected}")
  message(FATAL_ERROR "refused, but not with a message that matches '${expected}':\n${errors}")
endif()
