file: --no-files corefiles/nativeaot10.core.zst
exit: 3
name2ee truth Program.Main
