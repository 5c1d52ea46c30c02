// Speed of the virtual GPU on one core. A thread-instruction is one executed PTX instruction times
// the lanes that execute it; G/s is thousands of millions a second. Detection off and on leave
// equal digests.
#include "harness.hpp"

#include <fmt/format.h>

using namespace assay::bench;

int main() {
  fmt::print("processor     {}\n", processor());
  fmt::print("vector level  {}\n", vector_level());
  const double peak = peak_gflops();
  fmt::print("f32 peak      {:.1f} GFLOP/s on one core: {:.1f} G multiply-adds/s\n", peak,
             peak / 2);
  return 0;
}
