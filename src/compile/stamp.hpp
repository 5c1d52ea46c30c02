// The stamp at the head of a committed case's PTX, which tells whether the PTX still belongs to its
// source:
//
//   // assay-compile: --gpu-architecture=sm_90 -lineinfo -DBLOCK=256 --entry=k<float> softmax.cu
//   // assay-hash: 0123456789abcdef0123456789abcdef
//
// The hash (XXH3, 128 bits) covers the compile line, the source and every file that it includes in
// quotes from its own folder or below. It needs no compiler, so that it can be checked on any
// machine.
#pragma once

#include "base/result.hpp"
#include "compile/compile.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay::compile {

struct PtxStamp {
  std::string command; // what stands after `assay-compile:`
  std::string hash;    // 32 hexadecimal digits
  bool operator==(const PtxStamp&) const = default;
};

// The stamp that PTX compiled now by this request would carry.
Result<PtxStamp> stamp_of(const CompileRequest& request);

// The stamp in the leading comment lines of a PTX text, if there is one.
std::optional<PtxStamp> read_stamp(std::string_view ptx);

// The PTX with this stamp; an older stamp is replaced.
std::string with_stamp(std::string_view ptx, const PtxStamp& stamp);

enum class Freshness { fresh, stale, unstamped };

// Does this PTX come from the request's source, flags and entries as they are now?
Result<Freshness> check_stamp(std::string_view ptx, const CompileRequest& request);

} // namespace assay::compile
