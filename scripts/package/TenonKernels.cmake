# tenon_add_kernels(NAME GENERATOR program TARGETS "llvm -mcpu=..." ... [SHARED] [STANDALONE])
#
# defines the library NAME of kernels, which the program GENERATOR writes during the build
# (tenon/driver/kernel_library.h) for each of the targets. At the first call, the last target that the running
# processor supports is chosen. Programs that link NAME include "NAME.h" (C) or "NAME.hpp" (C++ with types and
# extents). With STANDALONE, the library contains the runtime functions that kernels call, so that a program links
# nothing else; otherwise NAME links tenon::runtime.
function(tenon_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;STANDALONE" "GENERATOR" "TARGETS")
  if(NOT TARGET "${arg_GENERATOR}")
    message(FATAL_ERROR "tenon_add_kernels(${name}): GENERATOR must be a program of this project, `${arg_GENERATOR}` is none.")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT C IN_LIST languages)
    message(FATAL_ERROR "tenon_add_kernels(${name}): the project must have the language C as well.")
  endif()
  if(NOT arg_TARGETS)
    message(FATAL_ERROR "tenon_add_kernels(${name}): TARGETS are missing, such as \"llvm -mcpu=x86-64-v3\".")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_kernels(${name}): `${arg_UNPARSED_ARGUMENTS}` is not known.")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels)
  file(MAKE_DIRECTORY ${folder})
  set(files ${folder}/${name}.o ${folder}/${name}.c ${folder}/${name}.h ${folder}/${name}.hpp)
  add_custom_command(OUTPUT ${files}
      COMMAND ${arg_GENERATOR} ${name} ${folder} ${arg_TARGETS}
      DEPENDS ${arg_GENERATOR} COMMENT "Compiling the kernels of ${name}" VERBATIM)
  set(kind STATIC)
  if(arg_SHARED)
    set(kind SHARED)
  endif()
  add_library(${name} ${kind} ${files})
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${name} PUBLIC ${folder})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
  if(arg_STANDALONE)
    find_package(Threads REQUIRED)
    get_property(runtime GLOBAL PROPERTY TENON_STANDALONE_RUNTIME)
    get_property(include GLOBAL PROPERTY TENON_INCLUDE_DIR)
    target_sources(${name} PRIVATE ${runtime}/runtime/standalone/standalone.c)
    # "NAME.hpp" needs C++20. Without STANDALONE, tenon::runtime requires it.
    target_compile_features(${name} PRIVATE c_std_11 INTERFACE cxx_std_20)
    target_include_directories(${name} PRIVATE ${runtime} PUBLIC ${include})
    target_link_libraries(${name} PUBLIC Threads::Threads m)
  else()
    target_link_libraries(${name} PUBLIC tenon::runtime m)
  endif()
endfunction()
