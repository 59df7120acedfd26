file: --no-files corefiles/growth_later.core.zst
exit: 1
report -minutes 30 -against corefiles/growth.core.zst corefiles/growth.core.zst
