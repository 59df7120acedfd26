file: --no-files corefiles/growth.core.zst
exit: 1
report -minutes 30 -against corefiles/growth_later.core.zst
