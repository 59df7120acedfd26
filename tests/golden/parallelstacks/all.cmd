file: --no-files corefiles/hang.core.zst
pstacks -all -noasync
