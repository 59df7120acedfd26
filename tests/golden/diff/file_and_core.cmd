file: corefiles/bubblecs.heap
exit: 1
diff corefiles/leak.core.zst --no-files -limit 6
