# cmake --install: the libraries, their headers, and what finds them (a CMake package, pkg-config files).
#
#   component runtime   libtenon_runtime.so.<version>: all that a program needs that only runs exported code
#   component dev       headers, the compiler's libraries, libtenon_runtime.so, the CMake package, pkg-config
#
# A user's project: find_package(Tenon) and tenon::tenon, or tenon::runtime alone.

include(CMakePackageConfigHelpers)

set(tenon_libraries ${tenon_rooms})
list(REMOVE_ITEM tenon_libraries runtime tooling)
list(TRANSFORM tenon_libraries PREPEND tenon_)
set_target_properties(tenon_llvm PROPERTIES EXPORT_NAME llvm)
set_target_properties(tenon_sanitizers PROPERTIES EXPORT_NAME sanitizers)

set(tenon_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
# Two export sets: the runtime's is usable where neither LLVM nor the compiler's libraries are.
install(TARGETS tenon_runtime tenon_sanitizers EXPORT TenonRuntimeTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS tenon tenon_llvm ${tenon_libraries} EXPORT TenonTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
foreach(set TenonRuntimeTargets TenonTargets)
  install(EXPORT ${set} NAMESPACE tenon:: DESTINATION ${tenon_package_dir} COMPONENT dev)
endforeach()

install(TARGETS tenon_measure DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tenon COMPONENT dev)
if(TARGET tenon_mpi)
  install(TARGETS tenon_mpi DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tenon COMPONENT dev)
endif()

# Debian keeps each LLVM in a folder of its own: the one that Tenon was built with is found again.
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TenonConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/TenonConfig.cmake INSTALL_DESTINATION ${tenon_package_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/TenonConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/TenonConfig.cmake
              ${PROJECT_BINARY_DIR}/package/TenonConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/TenonKernels.cmake
    DESTINATION ${tenon_package_dir} COMPONENT dev)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
    PATTERN tooling EXCLUDE)

# What tenon_add_kernels(... STANDALONE) compiles into a library of kernels.
install(FILES ${PROJECT_SOURCE_DIR}/runtime/processor_features.inc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/runtime COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/standalone/standalone.c
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/runtime/standalone COMPONENT dev)

# The archives name each other in a cycle-free order: users before what they use.
set(tenon_archives ${tenon_libraries})
list(REVERSE tenon_archives)
list(TRANSFORM tenon_archives PREPEND -l)
list(JOIN tenon_archives " " tenon_archives)
get_target_property(tenon_llvm_file LLVM LOCATION)
set(tenon_xgboost_file)
if(TENON_XGBOOST_INCLUDE AND TENON_XGBOOST)
  set(tenon_xgboost_file ${TENON_XGBOOST})
endif()
# From the folder of the .pc files to the prefix, wherever that is installed.
file(RELATIVE_PATH tenon_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name tenon tenon-runtime)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# ---- cpack -G DEB: libtenon-runtime and libtenon-dev -------------------------------------------------------

set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensor-expression compiler")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CONTACT "The Tenon authors <tenon@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtenon-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtenon-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtenon-runtime (= ${PROJECT_VERSION}), llvm-${LLVM_VERSION_MAJOR}-dev")
if(tenon_xgboost_file)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libxgboost-dev")
endif()
if(TARGET tenon_mpi)
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "openmpi-bin, libboost-mpi-dev")
endif()
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "What compiled tensor programs call: parallel loops, memory, devices")
set(CPACK_COMPONENT_DEV_DESCRIPTION "The compiler's libraries and headers")
include(CPack)
