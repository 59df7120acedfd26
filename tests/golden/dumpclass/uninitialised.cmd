file: --no-files corefiles/hang.core.zst
dumpclass System.RuntimeType
