file: --no-files corefiles/leak.core.zst
retained 7f039fc09b30
