file: --no-files corefiles/leak.core.zst
listnearobj 7f039d801e28
