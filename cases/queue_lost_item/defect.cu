// Every even block puts fifteen numbered items into a queue, one thread of the block after it takes
// them out.
// Defect: a thread that finds nothing has drawn a ticket already, and goes away with it. The item that
// comes under this number later is lost.
// expect: nondeterministic global @T @P
struct Queue {
  unsigned head, tail, items[15];
};
__device__ Queue queues[64];

__global__ void work_off(unsigned* results) {
  if (threadIdx.x != 0) return;
  Queue& queue = queues[blockIdx.x / 2];
  volatile unsigned* tail = &queue.tail;
  if (blockIdx.x % 2 == 0) {
    for (unsigned n = 0; n < 15; ++n) {
      queue.items[n] = n + 100;
      __threadfence();
      *tail = n + 1; // @P
    }
    return;
  }
  for (;;) {
    unsigned ticket = atomicAdd(&queue.head, 1u);
    if (ticket >= 15) return;
    if (ticket >= *tail) return; // @T
    __threadfence();
    results[blockIdx.x / 2 * 15 + ticket] = queue.items[ticket] * queue.items[ticket];
  }
}
