# cmake -P FetchSbeTool.cmake: has Maven fetch the SBE tool that is pinned in ShoveSbe.cmake, where it is not there yet.
include(${CMAKE_CURRENT_LIST_DIR}/ShoveSbe.cmake)
shove_sbe_pinned_tool(artifact hash file)
if(EXISTS ${file})
  file(SHA256 ${file} found)
  if(found STREQUAL hash)
    return()
  endif()
endif()

get_filename_component(folder ${file} DIRECTORY)
string(RANDOM LENGTH 12 unique)
set(work ${folder}/fetch-${unique})
file(MAKE_DIRECTORY ${work})
execute_process(
  COMMAND mvn -q -B -ntp org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy
          -Dartifact=${artifact} -DoutputDirectory=${work}
  WORKING_DIRECTORY ${work} INPUT_FILE /dev/null
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
get_filename_component(name ${file} NAME)
set(found nothing)
if(EXISTS ${work}/${name})
  file(SHA256 ${work}/${name} found)
endif()
if(found STREQUAL hash)
  file(RENAME ${work}/${name} ${file})
endif()
file(REMOVE_RECURSE ${work})
if(failed)
  message(FATAL_ERROR "Maven could not fetch ${artifact} (${failed}):\n${output}")
elseif(NOT found STREQUAL hash)
  message(FATAL_ERROR "${artifact} is not the file that is pinned: SHA-256 ${found}, not ${hash}")
endif()
message(STATUS "fetched ${artifact}")
