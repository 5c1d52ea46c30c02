// One block writes three places and says so, the other one writes them again when it hears of it:
// the fence puts all of the first block's stores first.
// launch: --entry twice --grid 2 --block 1 --arg zeros:u32[3] --arg zeros:u32[1]
// want 0 u32: 7 7 7
// expect: pass
extern "C" __global__ void twice(volatile unsigned* place, volatile unsigned* said) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 3; ++i) place[i] = 5;
    __threadfence();
    *said = 1;
  } else {
    while (*said == 0) {
    }
    __threadfence();
    for (int i = 0; i < 3; ++i) place[i] = 7;
  }
}
