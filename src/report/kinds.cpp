// The table of kinds; see kinds.hpp. A table may be longer than other files.
#include "report/kinds.hpp"

namespace assay::report {
namespace {

const std::vector<Kind>* make() {
  static const std::vector<Kind> table = {
      {"race", false, "two accesses to the same bytes that nothing orders",
       "Two threads (or an asynchronous copy and a thread) access overlapping bytes, at least one "
       "of them writes, "
       "and no barrier, fence pattern or other edge of the PTX memory model puts one before the "
       "other. The "
       "hardware may run them in either order. That a run gave the right result says nothing: "
       "another GPU, "
       "another compiler or another load on the machine can turn the order around.",
       "  tile[threadIdx.x] = x[i];          // every thread writes one cell\n"
       "  float v = tile[threadIdx.x ^ 32];  // and reads a cell that another warp writes",
       "Put a barrier between the two accesses: __syncthreads() within a block, __syncwarp() "
       "within a warp. Between blocks: a flag that is stored behind __threadfence() and awaited "
       "before one (or cuda::atomic_ref at cuda::thread_scope_device with release and acquire), a "
       "grid-wide barrier, or a second launch. After an asynchronous copy: cp.async.wait_group by "
       "the thread that copied (__pipeline_wait_prior()), then __syncthreads(). Or let the threads "
       "use separate cells."},
      {"race-without-consequence", false, "a race whose both orders left the same bytes",
       "The accesses race as in `race`, and both orders were run and left the same bytes for this "
       "input. It is "
       "still a defect of the program: other inputs, or a compiler that relies on the absence of "
       "races, can "
       "make it visible. `determinism` reports it as a warning, `check` fails.",
       "  flag[0] = 1;              // written twice with the same value,\n"
       "  if (flag[0]) n += 1;      // read by others without a barrier",
       "Order the two accesses with a barrier, or make both atomic if order is really of no "
       "account."},
      {"nondeterministic", false, "two legal schedules leave different bytes",
       "The same launch with the same inputs left different bytes under two schedules that the "
       "hardware may both "
       "choose. The accesses involved are atomic or otherwise strong, so this is no race, but the "
       "result depends "
       "on their order. Or the result follows a clock, or the place on the machine where a thread "
       "runs (%clock64, %smid, %warpid).",
       "  atomicAdd(&sum, x[i]);             // float addition is not associative\n"
       "  int slot = atomicAdd(&count, 1);   // which thread gets which slot?",
       "Reduce in a fixed order (a tree over threads, one block at the end), use integers, or sort "
       "what was "
       "appended."},
      {"deadlock", false, "no thread can go on",
       "Every thread that has not finished waits for something that can no longer happen: a "
       "barrier that some "
       "threads never reach, or a flag that no running block will set. The finding lists what each "
       "waits for.",
       "  if (warp == 0) asm volatile(\"bar.sync 1, 64;\");   // waits for two warps\n"
       "  if (warp == 1) asm volatile(\"bar.sync 2, 64;\");   // so does this one, elsewhere",
       "Let the same set of threads reach each barrier, with the count that it names."},
      {"barrier-divergence", false, "threads meet at a barrier that not all of them can reach",
       "Some threads of a warp wait at a barrier while others of the same warp wait at a different "
       "one or went "
       "round it and exited, or two sites of one barrier are paired although one follows the "
       "other. The "
       "programming model leaves the behaviour undefined; real hardware hangs or lets threads "
       "through early.",
       "  if (threadIdx.x < n) {\n"
       "    tile[threadIdx.x] = x[i];\n"
       "    __syncthreads();            // only some threads get here\n"
       "  }",
       "Move the barrier out of the branch so that every thread of the block executes it, and keep "
       "only the work "
       "inside the branch."},
      {"hang", false, "the kernel runs for ever without progress",
       "Over a full fair round of the scheduler no byte changed, no thread left its loop, and "
       "nothing was "
       "pending: the kernel spins on a condition that nobody will make true.",
       "  while (flag == 0) { }   // not volatile, and set by nobody",
       "Check who sets the condition, and that the spinning thread reads it with a volatile or "
       "atomic access."},
      {"out-of-bounds", false, "an access outside every buffer",
       "A thread reads or writes bytes that belong to no buffer, or goes past the end of its "
       "shared memory. "
       "Bounds are exact to the byte. The finding names the buffer and the offset nearest to the "
       "address.",
       "  y[i] = x[i];            // without: if (i < n)",
       "Guard the access (if (i < n)), or give the buffer or the shared memory the size that the "
       "kernel uses."},
      {"misaligned", false, "an address that is no multiple of the access's size",
       "PTX requires each access to be aligned to its own size, vectors included. Hardware raises "
       "an error for "
       "it, on some paths only.",
       "  float4 v = *(float4*)(x + 1);   // 16 bytes at an offset of 4",
       "Align the pointer to the access (16 bytes for float4), or use narrower loads where it is "
       "not."},
      {"uninitialised-read", false, "the result depends on memory that nobody wrote",
       "A thread reads bytes that no input, launch or thread has written, and running again with "
       "other contents "
       "changed an output, a branch or an address.",
       "  __shared__ float tile[33];      // cell 32 is padding that nobody fills\n"
       "  sum += tile[threadIdx.x + 1];",
       "Initialise the memory (shared memory is never zero by itself), or do not read beyond what "
       "was written."},
      {"unwritten-output", false, "bytes of an output that nobody wrote",
       "The kernel ended and some bytes of an output buffer still hold what was there before. For "
       "a bare kernel "
       "under `exec` this is a note.",
       "  if (i < n - n % 4) y[i] = x[i];   // the tail is left alone",
       "Write every element, or declare the output `written = \"partial\"` in the case file when "
       "that is "
       "intended."},
      {"invalid-lane-mask", false,
       "a warp operation whose mask leaves out the lane that executes it",
       "The member mask of a .sync operation (shfl, vote, match, redux, bar.warp.sync) must "
       "contain every lane "
       "that executes it. The programming model leaves the behaviour undefined otherwise.",
       "  if (lane < 16) v = __shfl_sync(0xffff0000, v, 0);   // lanes 0-15 are not in the mask",
       "Compute the mask from the lanes that take part, for example with __ballot_sync before the "
       "branch, not "
       "with __activemask inside it."},
      {"empty-kernel", false, "the kernel accesses no memory at all",
       "No thread read or wrote a single byte. A test that compares buffers filled by an earlier "
       "run would "
       "still pass.",
       "  __global__ void k(float* y) { }",
       "Check that the intended kernel was built and launched."},
      {"trap", false, "the kernel executed trap",
       "A thread executed the trap instruction, which aborts the kernel. Compilers emit it for "
       "__trap() and for "
       "code that they can prove undefined.",
       "  if (bad) __trap();",
       "Look at the condition that leads to the trap; the finding names the thread."},
      {"assert", false, "a device assert failed",
       "A thread called assert() with a false condition.", "  assert(i < n);",
       "Look at the condition; the finding names the thread and the text of the assertion."},
      {"unspecified-value", false, "a value that the manual leaves open reached memory",
       "Some results are unspecified: a register that was never written, integer division by zero, "
       "shfl from a lane that takes no part, what a driver puts into %envregN, %gridid and their "
       "kin. The kernel was run again with other values in their place and left other bytes.",
       "  v = __shfl_sync(mask, v, 31);   // lane 31 is not in mask\n"
       "  y[i] = x[i] / n;                // and n is 0",
       "Give the variable a value on every path, guard the case, or take the value from a lane "
       "that "
       "takes part."},
      {"illegal-operation", false, "an operation that the machine forbids",
       "A thread wrote to constants or kernel parameters, called through a bad function pointer, "
       "overflowed its "
       "stack, took different ways at a branch that promises uniformity (bra.uni), or used an "
       "operand outside "
       "its range.",
       "", "The finding says which rule was broken and where."},
      {"input-modified", false, "the kernel wrote to an input",
       "A buffer that the case declares as `in` was written. For a bare kernel this is a note.",
       "  x[i] = x[i] * 2;   // and x is an input",
       "Write to an output instead, or declare the argument as `inout`."},
      {"wrong-value", false, "a result that differs from what was wanted",
       "A buffer does not hold the bytes given with --want (or // want). The first differing "
       "elements are shown.",
       "", "Compare the shown element with what the kernel should compute there."},
      {"value-race", true, "racing writes that all store the same bits",
       "Several threads write the same bits to one place without order, and no racing read can see "
       "two values. "
       "The outcome cannot depend on it, so it decides nothing; --fail-on=value-race makes it an "
       "error.",
       "  if (x[i] > 0) *any = 1;",
       "Nothing needs to be done; an atomic or one chosen thread would make it formal."},
      {"order-conflict", true, "strong operations on one place that nothing orders",
       "Two atomic, volatile or relaxed operations conflict and causality does not order them. "
       "That is no defect "
       "in itself: both orders were run and left the same bytes.",
       "  atomicAdd(&count, 1);   // integers: every order gives the same sum",
       "Nothing needs to be done."},
      {"relies-on-residency", true, "needs several blocks to be resident at once",
       "The kernel ends only if enough blocks run at the same time, as grid-wide barriers and "
       "persistent kernels "
       "do.",
       "", "Use a cooperative launch, which guarantees it, and size the grid by occupancy."},
      {"relies-on-cta-order", true, "needs blocks to start in index order",
       "The kernel ends only if blocks start in the order of their index, which no document "
       "promises.",
       "", "Take the block's number from an atomic counter instead of blockIdx."},
      {"relies-on-vector-atomicity", true, "needs a vector access to be one access",
       "The result depends on a vector load or store happening as a whole.", "",
       "Use an atomic of that width, or order the accesses."},
      {"released-by-exit", true, "a barrier completed because threads had exited",
       "Some threads returned early and the others waited at a barrier; the hardware counts exited "
       "threads as "
       "arrived. It is allowed, and easy to break by a later change.",
       "  if (i >= n) return;\n  __syncthreads();",
       "Nothing needs to be done; keep the threads and guard the work instead if the barrier must "
       "hold for all."},
      {"uninitialised-padding", true, "memory that nobody wrote was read, and no difference seen",
       "A thread read bytes that nobody wrote, and running again with other contents (like a NaN, "
       "small numbers, small indices, all zero) changed no output, branch or address: most likely "
       "the value is masked away. A comparison with a constant that none of them holds would not "
       "have been noticed.",
       "", "Nothing needs to be done where the value is masked away; else initialise the memory."},
      {"unspecified-unused", true,
       "a value that the manual leaves open was used and did not matter",
       "As in `unspecified-value`, but running again with other values in its place left the same "
       "bytes. Nothing is proved for an input with which that happens.",
       "", "Nothing needs to be done."},
      {"time-unused", true, "a clock or a place on the machine was read and did not matter",
       "A thread read a clock, %smid, %warpid or the like, and running again with other clocks and "
       "places left the same bytes, as a time-out or a back-off should. Nothing is proved for an "
       "input with which that happens.",
       "", "Nothing needs to be done."},
      {"foreign-local-address", true, "another thread's address of a local variable was used",
       "A thread used an address of local memory that another thread had passed to it. It means "
       "the thread's own "
       "local memory, which is rarely what was wanted.",
       "", "Pass the data through shared or global memory."},
      {"fp-atomic-order", true, "floating-point atomics in another order round differently",
       "Two schedules differ in bits, and agree when all floating-point atomics to one address are "
       "applied in "
       "one order. A case file may allow it with a reason.",
       "  atomicAdd(&sum, x[i]);",
       "Reduce in a fixed order, or allow it: allow = {fp-atomic-order = \"why\"}."},
  };
  return &table;
}

} // namespace

const std::vector<Kind>& kinds() { return *make(); }

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

} // namespace assay::report
