file: --no-files corefiles/leak.core.zst
do 7f039fe5a158 -nofields
