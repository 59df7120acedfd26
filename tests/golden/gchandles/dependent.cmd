file: --no-files corefiles/leak.core.zst
gchandles -type Dependent -perdomain
