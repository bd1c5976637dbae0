# SPDX-License-Identifier: GPL-3.0-or-later
# The packages that cpack makes, one per install component: libbucketing1 (the shared library), libbucketing-dev and
# bucketlab. `cmake --preset debian` configures for /usr, where packages install.
set(BUCKETLAB_CONTACT "The bucketlab authors <bucketlab@localhost>" CACHE STRING "Who answers for the packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR bucketlab)
# Each package has a separate description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_CONTACT "${BUCKETLAB_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
set(CPACK_BUCKETLAB_SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
get_target_property(abi bucketing_shared SOVERSION)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbucketing${abi})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "buckets for partition keys of Cassandra, shared library
libbucketing splits an endless stream of rows into partitions: by time, by
count, by chance, by bytes or by a hash, for one writer or for several that
agree. It does no I/O and allocates nothing.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libbucketing-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libbucketing${abi} (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "buckets for partition keys of Cassandra, development files
Headers, the static library, and the files by which pkg-config and CMake find
libbucketing.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME bucketlab)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION database)
# The font of the texts in charts.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS fonts-dejavu-core)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "bucketing strategies for Cassandra, tried before production
bucketlab runs strategies that split a stream of rows into Cassandra
partitions over the same rows, synthetic or from a trace, and shows the sizes
of partitions, the cost of writes and the number of partitions per read.")
include(CPack)
