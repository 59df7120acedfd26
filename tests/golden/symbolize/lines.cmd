file: --no-files --symbols corefiles/symbols corefiles/hang.core.zst
symbolize tests/data/crash_log.txt
