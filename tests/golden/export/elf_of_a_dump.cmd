file: corefiles/bubblecs.heap
exit: 3
export code.elf
