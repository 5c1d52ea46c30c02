// The same without a fence between the stores and the word, and the result tells only whether all
// of them came late.
// launch: --entry twice --grid 2 --block 1 --arg zeros:u32[3] --arg zeros:u32[1] --launch --entry all --grid 1 --block 1 --arg same:0 --arg out:4
// expect: nondeterministic global @A @B
extern "C" __global__ void twice(volatile unsigned* place, volatile unsigned* said) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 3; ++i) place[i] = 5; // @A
    *said = 1;
  } else {
    while (*said == 0) {
    }
    __threadfence();
    for (int i = 0; i < 3; ++i) place[i] = 7; // @B
  }
}
extern "C" __global__ void all(unsigned* place, unsigned* late) {
  *late = place[0] == 5 && place[1] == 5 && place[2] == 5;
  for (int i = 0; i < 3; ++i) place[i] = 0;
}
