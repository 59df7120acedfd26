file: corefiles/nativeaot10.core.zst
export /dev/null -format elf
