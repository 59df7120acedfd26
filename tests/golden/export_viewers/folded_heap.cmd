file: corefiles/leak.core.zst
export - --format folded
