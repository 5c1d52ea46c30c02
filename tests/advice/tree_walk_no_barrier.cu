// All climb a tree, then each flattens its own path: no barrier stands between. The climbing loop is
// no poll, since it looks at another place each turn.
// launch: --grid 1 --block 64 --arg inlist:u32[0,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]
// help: add __syncthreads() between
// not: turn
__global__ void flatten(unsigned* parent) {
  unsigned i = threadIdx.x / 4, root = i, next;
  while ((next = ((volatile unsigned*)parent)[root]) != root) root = next; // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x % 4 == 0) parent[i] = root; // @B
}
