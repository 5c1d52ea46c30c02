// Headers that NVRTC lacks and sources with device code include all the same, as texts.
#pragma once

#include <string>
#include <vector>

namespace assay::compile {

struct Header {
  std::string name, text;
};

// Of what device code may use, the device's version; of what only a host can use, nothing, so that
// a name from there is an error where it is used and not where its header is included.
const std::vector<Header>& host_headers();

// The one among them that stands before every source: what nvcc declares unasked and NVRTC does
// not. `uint`, INFINITY, INT_MAX, M_PI and std::sqrt need no #include there.
extern const char* const kUnasked;

} // namespace assay::compile
