file: corefiles/bubblecs.heap
do 1ce11f -limit 2
