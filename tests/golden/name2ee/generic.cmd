file: --no-files corefiles/leak.core.zst
name2ee * System.Collections.Generic.List.Add
