file: --no-files corefiles/leak.core.zst
fq -detail -limit 3
