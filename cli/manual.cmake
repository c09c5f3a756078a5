# The manual page and the completions, which the command prints itself, made whenever it is linked. Not where what is
# built may not run here.
if(SHOVE_SANITIZE OR CMAKE_CROSSCOMPILING)
  return()
endif()
set(SHOVE_MANUAL_DIR ${CMAKE_CURRENT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${SHOVE_MANUAL_DIR})
add_custom_command(TARGET shove POST_BUILD
  COMMAND $<TARGET_FILE:shove> man > shove.1
  COMMAND $<TARGET_FILE:shove> completion bash > shove
  COMMAND $<TARGET_FILE:shove> completion zsh > _shove
  COMMAND $<TARGET_FILE:shove> completion fish > shove.fish
  WORKING_DIRECTORY ${SHOVE_MANUAL_DIR})
if(SHOVE_INSTALL)
  install(FILES ${SHOVE_MANUAL_DIR}/shove.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${SHOVE_MANUAL_DIR}/shove DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${SHOVE_MANUAL_DIR}/_shove DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${SHOVE_MANUAL_DIR}/shove.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
