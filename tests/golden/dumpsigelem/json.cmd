file: --no-files corefiles/leak.core.zst
dumpsigelem 7f0ff80220ee 7f0f79538438 --json
