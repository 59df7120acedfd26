file: --no-files corefiles/hang.core.zst
taskstate -v 33555456
