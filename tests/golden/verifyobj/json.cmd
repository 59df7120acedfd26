file: --no-files corefiles/leak.core.zst
verifyobj 7f039fe5a158 --json
