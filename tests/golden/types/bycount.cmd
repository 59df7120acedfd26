file: corefiles/bubblecs.heap
types -bycount -type System.Drawing
