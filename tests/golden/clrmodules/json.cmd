file: --no-files corefiles/leak.core.zst
assemblies -name System.Private --json
