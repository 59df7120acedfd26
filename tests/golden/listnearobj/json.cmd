file: --no-files corefiles/leak.core.zst
listnearobj 7f039fe5a158 --json
