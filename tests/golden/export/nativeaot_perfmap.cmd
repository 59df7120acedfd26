file: corefiles/nativeaot8.core.zst
export /dev/null -format perfmap --json
