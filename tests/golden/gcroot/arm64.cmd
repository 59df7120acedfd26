file: --no-files corefiles/arm64-11.core.zst
gcroot -type Node -limit 3
