file: --no-files corefiles/leak.core.zst
notreachableinrange 562f8f6e11e0 562f8f6e1230 --json
