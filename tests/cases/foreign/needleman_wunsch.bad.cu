// needleman_wunsch.cu with a fault: no barrier between diagonals.
// launch: --entry nw --grid 2 --block 16 --arg rand:s32[512] --arg out:2048 --arg s32:3 -DNO_SYNC
// expect: race shared
#include "needleman_wunsch.cu"
