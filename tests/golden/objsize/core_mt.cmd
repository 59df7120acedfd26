file: --no-files corefiles/leak.core.zst
objsize -mt 7f0f79550c38 -stat
