# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DINPUT=text -DOUTPUT=file.c -P embed.cmake: the bytes of a file as the array that starter.h declares.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT}.part "#include \"starter.h\"\nconst unsigned char cli_starter[] = {\n${bytes}\n};\n"
                          "const size_t cli_starter_size = sizeof cli_starter;\n")
file(RENAME ${OUTPUT}.part ${OUTPUT})
