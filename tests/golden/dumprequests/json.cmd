file: corefiles/hang.core.zst
dumprequests --json
