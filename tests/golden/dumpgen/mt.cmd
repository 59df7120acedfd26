file: --no-files corefiles/leak.core.zst
dumpgen gen0 -mt 7f0f798373e8
