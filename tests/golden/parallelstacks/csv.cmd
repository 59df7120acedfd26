file: --no-files corefiles/hang.core.zst
parallelstacks --format csv -noasync
