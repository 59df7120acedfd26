file: --no-files corefiles/leak.core.zst
export - --format folded
