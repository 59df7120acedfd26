file: --no-files corefiles/leak.core.zst
symbolize tests/data/perf_script.txt --json
