file: --no-files corefiles/growth_later.core.zst
front: shell
exit: 1
report -minutes 30 -against corefiles/growth_later.core.zst
