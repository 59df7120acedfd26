file: --no-files corefiles/hang.core.zst
front: shell
threads
