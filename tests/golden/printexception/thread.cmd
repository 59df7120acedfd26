file: --no-files corefiles/hang.core.zst
printexception -thread 4
