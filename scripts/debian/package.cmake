# SPDX-License-Identifier: MIT
# Debian packages of a build, by CPack: scripts/package.sh calls it. "heapdump" has what users need, "heapdump-dev" what
# programs need that are built with the library, "python3-heapdump" a link by which Python finds the package in "heapdump".
set(HD_DEBIAN ${CMAKE_SOURCE_DIR}/scripts/debian)
set(HD_MAINTAINER "heapdump contributors <maintainers@heapdump.invalid>" CACHE STRING "Maintainer of the packages")

# Only a package has these; the files in HD_STAGE are made by scripts/package.sh.
set(HD_STAGE ${CMAKE_BINARY_DIR}/packages/stage)
install(FILES ${HD_DEBIAN}/heapdump.py DESTINATION /etc/gdb/gdbinit.d
	COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${HD_STAGE}/lldbinit DESTINATION share/heapdump/lldb COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${HD_STAGE}/heapdump.1.gz DESTINATION share/man/man1 COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_SOURCE_DIR}/core/cli/completion/_heapdump
	DESTINATION share/zsh/vendor-completions COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/copyright ${HD_DEBIAN}/README.Debian ${HD_STAGE}/changelog.Debian.gz
	${HD_STAGE}/heapdump.spdx.json
	DESTINATION share/doc/heapdump COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/heapdump.lintian-overrides RENAME heapdump
	DESTINATION share/lintian/overrides COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/copyright ${HD_STAGE}/changelog.Debian.gz
	DESTINATION share/doc/heapdump-dev COMPONENT debian_dev EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/heapdump-dev.lintian-overrides RENAME heapdump-dev
	DESTINATION share/lintian/overrides COMPONENT debian_dev EXCLUDE_FROM_ALL)
install(DIRECTORY ${HD_STAGE}/python3/ DESTINATION lib/python3/dist-packages
	COMPONENT debian_python EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/copyright ${HD_STAGE}/changelog.Debian.gz
	DESTINATION share/doc/python3-heapdump COMPONENT debian_python EXCLUDE_FROM_ALL)
install(FILES ${HD_DEBIAN}/python3-heapdump.lintian-overrides RENAME python3-heapdump
	DESTINATION share/lintian/overrides COMPONENT debian_python EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heapdump)
set(CPACK_PACKAGE_CONTACT ${HD_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_COMPONENTS_ALL program debian dev debian_dev debian_python)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_PROGRAM_GROUP heapdump)
set(CPACK_COMPONENT_DEBIAN_GROUP heapdump)
set(CPACK_COMPONENT_DEV_GROUP dev)
set(CPACK_COMPONENT_DEBIAN_DEV_GROUP dev)
set(CPACK_COMPONENT_DEBIAN_PYTHON_GROUP python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_HEAPDUMP_PACKAGE_NAME heapdump)
set(CPACK_DEBIAN_HEAPDUMP_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_HEAPDUMP_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_HEAPDUMP_PACKAGE_SUGGESTS "gdb, lldb, python3")
set(CPACK_DEBIAN_HEAPDUMP_PACKAGE_CONTROL_EXTRA ${HD_DEBIAN}/conffiles ${HD_DEBIAN}/triggers
	${HD_DEBIAN}/postinst ${HD_DEBIAN}/prerm ${HD_DEBIAN}/postrm)
set(CPACK_DEBIAN_HEAPDUMP_DESCRIPTION
	"look into the garbage-collected heap of .NET programs
heapdump reads the managed heap of a core file, a running process or a heap
dump file, and says what is in it and what keeps it alive: objects by type,
roots, the shortest paths to an object, damage.
.
It answers the same commands in the shell, in GDB and in LLDB, as text, JSON
or SQL rows. It needs neither a .NET SDK nor symbols, and runs nothing that a
core names.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME heapdump-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "heapdump (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_DEV_DESCRIPTION
	"look into the garbage-collected heap of .NET programs - headers
heapdump reads the managed heap of a core file, a running process or a heap
dump file, and says what is in it and what keeps it alive.
.
This package has the headers and the link to the library, for C and C++
programs that ask the same questions.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-heapdump)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.8), heapdump (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION
	"look into the garbage-collected heap of .NET programs - Python
heapdump reads the managed heap of a core file, a running process or a heap
dump file, and says what is in it and what keeps it alive.
.
This package lets Python import heapdump: all commands as methods, rows as
dicts, and the objects of the program as objects of Python.")
include(CPack)
