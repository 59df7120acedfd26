file: corefiles/leak.core.zst
retained -type webshop.*page$
