file: corefiles/hang.core.zst
dumprequests
