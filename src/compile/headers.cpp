// See headers.hpp. What nvcc declares unasked was measured (13.0, g++ 12): its own headers include
// <limits.h>, <math.h> and <sys/types.h>. The values are those of C, of POSIX's <math.h> and of
// LP64; the integers' limits are spelled as in libcu++, which defines them again.
#include "compile/headers.hpp"

#include <fmt/format.h>

namespace assay::compile {
namespace {

constexpr const char* kUnaskedText = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN  (-SHRT_MAX - 1)
#define SHRT_MAX  0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN   (-INT_MAX - 1)
#define INT_MAX   0x7fffffff
#define UINT_MAX  0xffffffff
#define LONG_MIN  (-LONG_MAX - 1)
#define LONG_MAX  LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN  (-LLONG_MAX - 1)
#define LLONG_MAX  0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define INFINITY __builtin_bit_cast(float, 0x7f800000u)
#define NAN __builtin_bit_cast(float, 0x7fc00000u)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan;
using ::atan2; using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos;
using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs;
using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;
using ::frexp; using ::hypot; using ::ilogb; using ::isfinite; using ::isinf; using ::isnan;
using ::ldexp; using ::lgamma; using ::llrint; using ::llround; using ::log; using ::log10;
using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf;
using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::remquo;
using ::rint; using ::round; using ::scalbn; using ::signbit; using ::sin; using ::sinh;
using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;
using ::ptrdiff_t; using ::size_t;
}
)";

// CCCL declares the global fixed-width types too where NVRTC compiles, so its declarations are
// used.
constexpr const char* kIntegers = "#pragma once\n"
                                  "#include <cuda/std/cstdint>\n"
                                  "namespace std { using namespace ::cuda::std; }\n";
constexpr const char* kLimits = "#pragma once\n#include <cuda/std/climits>\n";
constexpr const char* kFloats = "#pragma once\n"
                                "#define FLT_RADIX 2\n"
                                "#define FLT_MANT_DIG 24\n"
                                "#define DBL_MANT_DIG 53\n"
                                "#define FLT_EPSILON 0x1p-23f\n"
                                "#define DBL_EPSILON 0x1p-52\n"
                                "#define FLT_MIN 0x1p-126f\n"
                                "#define DBL_MIN 0x1p-1022\n"
                                "#define FLT_MAX 0x1.fffffep127f\n"
                                "#define DBL_MAX 0x1.fffffffffffffp1023\n";
constexpr const char* kSizes = "#pragma once\n#include <cuda/std/cstddef>\n";
constexpr const char* kBuiltIn = "#pragma once\n";
constexpr const char* kHost = "#pragma once\nnamespace std {}\n";
// The driver's types that device code names; its functions are the host's.
constexpr const char* kDriver = "#pragma once\n"
                                "#define CUDA_VERSION "
                                "(__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)\n"
                                "typedef int CUdevice;\n"
                                "typedef unsigned long long CUdeviceptr;\n"
                                "typedef struct CUstream_st* CUstream;\n"
                                "typedef struct alignas(128) CUtensorMap_st {\n"
                                "  unsigned long long opaque[16];\n"
                                "} CUtensorMap;\n";

// What there is of the standard library for device code is libcu++'s; a version without the public
// header may have the parts of it that its own headers use.
std::string standard(const std::string& name) {
  return fmt::format("#pragma once\n"
                     "#if __has_include(<cuda/std/{0}>)\n"
                     "#include <cuda/std/{0}>\n"
                     "#elif __has_include(<cuda/std/__{0}_>)\n"
                     "#include <cuda/std/__{0}_>\n"
                     "#endif\n"
                     "namespace cuda {{ namespace std {{}} }}\n"
                     "namespace std {{ using namespace ::cuda::std; }}\n",
                     name);
}

} // namespace

const char* const kUnasked = "assay_unasked.h";

const std::vector<Header>& host_headers() {
  static const std::vector<Header> all = [] {
    std::vector<Header> out = {
        {kUnasked, kUnaskedText}, {"stdint.h", kIntegers}, {"cstdint", kIntegers},
        {"limits.h", kLimits},    {"climits", kLimits},    {"float.h", kFloats},
        {"cfloat", kFloats},      {"stddef.h", kSizes},    {"cstddef", kSizes},
        {"cuda.h", kDriver},
    };
    for (const char* name : {"stdio.h", "cstdio", "assert.h", "cassert", "math.h", "cmath",
                             "stdlib.h", "cstdlib", "string.h"})
      out.push_back({name, kBuiltIn});
    for (const char* name : {"algorithm", "array", "bit", "concepts", "cstring", "functional",
                             "initializer_list", "iterator", "limits", "numeric", "optional",
                             "ratio", "span", "tuple", "type_traits", "utility", "variant"})
      out.push_back({name, standard(name)});
    for (const char* name :
         {"chrono",    "ctime",         "deque",        "exception", "fstream", "iomanip",
          "iostream",  "istream",       "list",         "map",       "memory",  "mutex",
          "ostream",   "queue",         "random",       "set",       "sstream", "stack",
          "stdexcept", "string",        "sys/time.h",   "thread",    "time.h",  "unistd.h",
          "vector",    "unordered_map", "unordered_set"})
      out.push_back({name, kHost});
    return out;
  }();
  return all;
}

} // namespace assay::compile
