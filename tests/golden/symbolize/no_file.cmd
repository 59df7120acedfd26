file: --no-files corefiles/leak.core.zst
exit: 3
symbolize tests/data/none.txt
