# The installed package: one CMake component and one .pc file per library.
include(CMakePackageConfigHelpers)

set(SHOVE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/shove)

# Called by shove_add_library; its arguments are explained there.
function(shove_install_component component)
  cmake_parse_arguments(arg "" "HEADERS;CMAKE" "COMPONENTS;FIND;PKG_CONFIG;LIBS_PRIVATE" ${ARGN})
  install(TARGETS shove_${component} EXPORT shove-${component}-targets)
  install(DIRECTORY ${arg_HEADERS}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
  install(EXPORT shove-${component}-targets NAMESPACE shove:: DESTINATION ${SHOVE_PACKAGE_DIR})

  set(needs)
  foreach(other IN LISTS arg_COMPONENTS)
    string(APPEND needs "include(\${CMAKE_CURRENT_LIST_DIR}/shove-${other}.cmake)\n")
  endforeach()
  foreach(package IN LISTS arg_FIND)
    string(APPEND needs "find_dependency(${package})\n")
  endforeach()
  if(arg_CMAKE)
    install(FILES ${arg_CMAKE} DESTINATION ${SHOVE_PACKAGE_DIR})
    cmake_path(GET arg_CMAKE FILENAME functions)
    string(APPEND needs "include(\${CMAKE_CURRENT_LIST_DIR}/${functions})\n")
  endif()
  set(file ${CMAKE_BINARY_DIR}/package/shove-${component}.cmake)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
include_guard(DIRECTORY)
@needs@include(${CMAKE_CURRENT_LIST_DIR}/shove-@component@-targets.cmake)
]])
  install(FILES ${file} DESTINATION ${SHOVE_PACKAGE_DIR})

  list(TRANSFORM arg_COMPONENTS PREPEND shove-)
  list(TRANSFORM arg_COMPONENTS APPEND " = ${shove_VERSION}")
  list(JOIN arg_COMPONENTS ", " requires)
  list(JOIN arg_PKG_CONFIG ", " requires_private)
  list(PREPEND arg_LIBS_PRIVATE -pthread)
  list(JOIN arg_LIBS_PRIVATE " " libs_private)
  file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${shove_SOURCE_DIR}/cmake/shove.pc.in ${CMAKE_BINARY_DIR}/package/shove-${component}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/shove-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# What all components share; once, at the top.
function(shove_install_package)
  configure_package_config_file(${shove_SOURCE_DIR}/cmake/shoveConfig.cmake.in
    ${CMAKE_BINARY_DIR}/package/shoveConfig.cmake INSTALL_DESTINATION ${SHOVE_PACKAGE_DIR})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/shoveConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/package/shoveConfig.cmake ${CMAKE_BINARY_DIR}/package/shoveConfigVersion.cmake
    DESTINATION ${SHOVE_PACKAGE_DIR})
  install(FILES ${shove_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
