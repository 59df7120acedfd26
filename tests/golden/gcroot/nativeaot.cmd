file: --no-files corefiles/nativeaot10.core.zst
gcroot -nostacks -type Fin
