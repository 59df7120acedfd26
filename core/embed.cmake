# Write a C file with the bytes of text files, and the SHA-256 of each in base64, as a Content-Security-Policy wants it:
#   cmake -DOUTPUT=FILE.c -DHEADER=FILE.h -DINPUTS=name=PATH,name=PATH -P embed.cmake
set(ALPHABET ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)

# 64 hexadecimal digits: 10 times 3 bytes, and 2 bytes, which end in one "=".
function(to_base64 hex ret)
	set(text "")
	foreach(i RANGE 0 60 6)
		string(SUBSTRING "${hex}00" ${i} 6 part)
		math(EXPR bits "0x${part}")
		foreach(shift 18 12 6 0)
			math(EXPR index "(${bits} >> ${shift}) & 63")
			string(SUBSTRING "${ALPHABET}" ${index} 1 digit)
			string(APPEND text "${digit}")
		endforeach()
	endforeach()
	string(SUBSTRING "${text}" 0 43 text)
	set(${ret} "${text}=" PARENT_SCOPE)
endfunction()

set(code "#include \"${HEADER}\"\n")
string(REPLACE "," ";" INPUTS "${INPUTS}")
foreach(input ${INPUTS})
	string(REGEX MATCH "^([a-z_]+)=(.*)$" unused "${input}")
	set(name ${CMAKE_MATCH_1})
	set(path ${CMAKE_MATCH_2})
	file(READ "${path}" hex HEX)
	file(SHA256 "${path}" hash)
	to_base64(${hash} hash)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
	string(APPEND code "const char ${name}[] = {${bytes}0};\n"
		"const char ${name}_hash[] = \"sha256-${hash}\";\n")
endforeach()
file(WRITE "${OUTPUT}" "${code}")
