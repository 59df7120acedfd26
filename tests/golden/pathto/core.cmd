file: --no-files corefiles/leak.core.zst
pathto 7f039fc09b30 7f039fe5a158
