file: corefiles/leak.core.zst
referrers -mt System.String -limit 4
