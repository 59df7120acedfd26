file: --no-files corefiles/nativeaot10.core.zst
symbolize tests/data/aot_frames.txt
