file: --no-files corefiles/leak.core.zst
maddress -summary -images
