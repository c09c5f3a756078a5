# Uses ccache where it is found, in a way that lets clones at other paths share results.
find_program(SHOVE_CCACHE ccache)
if(SHOVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SHOVE_CCACHE})
endif()
