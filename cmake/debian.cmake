# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the folders that cpack will pack conform to Debian's policy: licences and changes are in share/doc, texts are
# compressed, and static libraries have no sections that only this compiler can read.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# A licence as a field of debian/copyright: each line begins with a space; an empty line is a dot.
function(licence_field variable file)
  file(READ ${file} text)
  string(STRIP "${text}" text)
  string(REPLACE "\n\n" "\n.\n" text "${text}")
  string(REPLACE "\n" "\n " text "${text}")
  set(${variable} "License: Expat\n ${text}\n" PARENT_SCOPE)
endfunction()

function(document folder package)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${folder}/changelog.Debian
       "bucketlab (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Packed by cpack from the source of version ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${folder}/changelog.Debian)
  set(head "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: bucketlab\n")
  set(ours "Copyright: 2026 The bucketlab authors\n")
  licence_field(core ${CPACK_BUCKETLAB_SOURCE_DIR}/core/LICENSE)
  if(NOT package STREQUAL bucketlab)
    file(WRITE ${folder}/copyright "${head}\nFiles: *\n${ours}${core}")
    return()
  endif()
  licence_field(tweets ${CPACK_BUCKETLAB_SOURCE_DIR}/scenarios/traces/tweets.LICENSE)
  file(WRITE ${folder}/copyright "${head}\nFiles: *\n${ours}License: GPL-3+\n On Debian systems the GNU General Public "
       "License, version 3, is in\n /usr/share/common-licenses/GPL-3; this program comes under it, or at your\n choice "
       "any later version.\n\nFiles: core/*\n${ours}${core}\nFiles: scenarios/traces/tweets*\nCopyright: 2014-2024 Numenta Inc.\n${tweets}")
  file(REMOVE ${folder}/LICENSE)
  file(RENAME ${folder}/CHANGELOG.md ${folder}/changelog)
  compress(${folder}/changelog)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  document(${root}/share/doc/${package} ${package})
  file(GLOB pages ${root}/share/man/*/*)
  foreach(page IN LISTS pages)
    compress(${page})
  endforeach()
  file(GLOB_RECURSE archives ${root}/*.a)
  foreach(archive IN LISTS archives)
    execute_process(COMMAND strip --strip-debug --remove-section=.comment --remove-section=.note --enable-deterministic-archives
                            --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* ${archive} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
