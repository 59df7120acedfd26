file: --no-files corefiles/hang11.core.zst
gcroot 7f439181f560
