file: --no-files corefiles/nativeaot10_arm64.core.zst
clrstack -all
