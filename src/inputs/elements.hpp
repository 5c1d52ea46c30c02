// The families' values, by kind of type. Internal to inputs.
#pragma once

#include "inputs/family.hpp"

namespace assay::inputs {

uint64_t float_element(const Source& source, uint64_t index);
uint64_t integer_element(const Source& source, uint64_t index);
uint64_t structure_element(const Source& source, uint64_t index); // for every type

// A bijection of [0, 2^bits): distinct indices give distinct results. bits ≤ 64.
uint64_t permute_bits(uint64_t index, unsigned bits, uint64_t seed);
// A bijection of [0, n) by walking the cycle of permute_bits.
uint64_t permute(uint64_t index, uint64_t n, uint64_t seed);
// An integer in [0, n), n > 0, without noticeable bias.
uint64_t below(uint64_t random, uint64_t n);

} // namespace assay::inputs
