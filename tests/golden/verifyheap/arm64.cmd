file: --no-files corefiles/arm64-11.core.zst
verifyheap
