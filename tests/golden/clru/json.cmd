file: --no-files corefiles/leak.core.zst
clru 7f0f7953e850 --json
