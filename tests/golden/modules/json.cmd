file: --no-files corefiles/leak.core.zst
modules -name coreclr -verbose --json
