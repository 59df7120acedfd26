file: corefiles/leak.core.zst
export /dev/null -format arrows -table roots
