file: --no-files corefiles/growth_later.core.zst
exit: 1
report -minutes 30 -against corefiles/leak.core.zst -fail-on growth --top 1
