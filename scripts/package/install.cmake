# cmake --install: the libraries, their headers, a CMake package and pkg-config files.
#
#   component runtime    libtenon_runtime.so.<version>: sufficient for programs that only run exported code
#   component compiler   libtenon.so.<version>, and the program that runs a tuner's candidates
#   component mpi        the library for tuning on several machines, if it was built with MPI
#   component dev        headers, libtenon.so, libtenon_runtime.so, the compiler's archives, the CMake package, pkg-config
#
# A user's project calls find_package(Tenon) and links tenon::tenon, tenon::runtime alone, or
# tenon::tenon_static.

include(CMakePackageConfigHelpers)

set(tenon_libraries ${tenon_rooms})
list(REMOVE_ITEM tenon_libraries runtime tooling)
list(TRANSFORM tenon_libraries PREPEND tenon_)
set_target_properties(tenon_llvm PROPERTIES EXPORT_NAME llvm)
set_target_properties(tenon_sanitizers PROPERTIES EXPORT_NAME sanitizers)

set(tenon_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
# Three export sets: the runtime's works without the compiler, and the compiler's works without LLVM's
# headers.
install(TARGETS tenon_runtime tenon_sanitizers EXPORT TenonRuntimeTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS tenon_shared EXPORT TenonTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler NAMELINK_COMPONENT dev)
set_target_properties(tenon_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS tenon_static tenon_llvm ${tenon_libraries} EXPORT TenonStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
foreach(set TenonRuntimeTargets TenonTargets TenonStaticTargets)
  install(EXPORT ${set} NAMESPACE tenon:: DESTINATION ${tenon_package_dir} COMPONENT dev)
endforeach()

install(TARGETS tenon_measure DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tenon COMPONENT compiler)
if(TARGET tenon_mpi)
  install(TARGETS tenon_mpi DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tenon COMPONENT mpi)
endif()

# Debian installs each version of LLVM in its own folder; the package looks in the one that Tenon was built
# with.
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

# The sources that tenon_add_kernels(... STANDALONE) compiles into a library of kernels.
install(FILES ${PROJECT_SOURCE_DIR}/runtime/processor_features.inc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/runtime COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/standalone/standalone.c
    DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/runtime/standalone COMPONENT dev)

# The archives in link order: users precede their dependencies.
set(tenon_archives ${tenon_libraries})
list(REVERSE tenon_archives)
list(TRANSFORM tenon_archives PREPEND -l)
list(JOIN tenon_archives " " tenon_archives)
get_target_property(tenon_llvm_file LLVM LOCATION)
# The relative path from the folder of the .pc files to the prefix, which makes the installation relocatable.
file(RELATIVE_PATH tenon_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name tenon tenon-static tenon-runtime)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# ---- cpack -G DEB: libtenon-runtime, libtenon, libtenon-mpi and libtenon-dev -------------------------------

set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensor-expression compiler")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CONTACT "The Tenon authors <tenon@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime compiler dev)
if(TARGET tenon_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
# The folder where dpkg-shlibdeps finds Tenon's own libraries, on which packages declare their dependencies
# explicitly.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtenon-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME libtenon)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "libtenon-runtime (= ${PROJECT_VERSION})")
if(TARGET tenon_mpi)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS libtenon-mpi)
endif()
set(CPACK_DEBIAN_MPI_PACKAGE_NAME libtenon-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libtenon (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtenon-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libtenon (= ${PROJECT_VERSION}), libtenon-runtime (= ${PROJECT_VERSION})")
# Programs that link the archives also link their dependencies.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "llvm-${LLVM_VERSION_MAJOR}-dev")
if(tenon_xgboost_file)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS ", libxgboost-dev")
endif()
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "What compiled tensor programs call: parallel loops, memory, devices")
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "The compiler, as a library")
set(CPACK_COMPONENT_MPI_DESCRIPTION "Tuning on many machines")
set(CPACK_COMPONENT_DEV_DESCRIPTION "The compiler's headers and archives")
include(CPack)
