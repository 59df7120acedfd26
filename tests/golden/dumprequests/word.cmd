file: corefiles/hang.core.zst
exit: 2
dumprequests 12
