file: --no-files corefiles/leak.core.zst
dq 7f0f7953e840 -count 2
