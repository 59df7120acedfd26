file: --no-files corefiles/leak.core.zst
retained 7f0f74800008
