# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DINPUTS=file|file -DNAME=array -DHEADER=array.h -DOUTPUT=file.c -P embed.cmake: writes the bytes of the files,
# in order, as the array NAME that HEADER declares, and their number as NAME_size. A zero follows them, which NAME_size
# does not count.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(bytes "")
foreach(input IN LISTS inputs)
  file(READ ${input} part HEX)
  string(APPEND bytes "${part}")
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT}.part "#include \"${HEADER}\"\nconst unsigned char ${NAME}[] = {\n${bytes}\n0};\n"
                          "const size_t ${NAME}_size = sizeof ${NAME} - 1;\n")
file(RENAME ${OUTPUT}.part ${OUTPUT})
