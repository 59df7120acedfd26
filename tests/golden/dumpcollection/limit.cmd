file: --no-files corefiles/leak.core.zst
dumpcollection 7f039fc0f268 -limit 3
