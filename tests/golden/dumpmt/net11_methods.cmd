file: --no-files corefiles/hang11.core.zst
dumpmt -md 7f4f657aac40
