file: corefiles/hang.core.zst
sql --json "SELECT address, due, period, left_at_most, state_type, method FROM timers"
