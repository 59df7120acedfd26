file: --no-files corefiles/leak.core.zst
exit: 1
diff corefiles/bubblecs.heap -limit 6
