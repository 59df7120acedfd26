file: --no-files corefiles/hang.core.zst
front: shell
setthread -all --json
