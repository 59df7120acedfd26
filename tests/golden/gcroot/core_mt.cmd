file: --no-files corefiles/leak.core.zst
gcroot -mt 7f0f79554d90
