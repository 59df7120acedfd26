file: --no-files corefiles/hang11.core.zst
taskstate 7f439181f760
