file: --no-files corefiles/leak.core.zst
diff corefiles/leak.core.zst --no-files --json
