file: --no-files corefiles/leak.core.zst
dumpclass 7f0f79492238
