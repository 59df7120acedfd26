file: --no-files corefiles/hang.core.zst
dso -all -verify --format csv
