file: --no-files corefiles/nativeaot10.core.zst
exit: 3
ip2md 559394313b67
