file: --no-files corefiles/leak.core.zst
types -retained -type WebShop.Page$ --json
