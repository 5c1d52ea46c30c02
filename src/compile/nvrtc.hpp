// NVRTC as a loaded library: the dozen functions that Assay calls, by the prototypes of the NVRTC
// manual.
#pragma once

#include "base/result.hpp"
#include "compile/search.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace assay::compile {

struct Nvrtc {
  using Program = void*;
  const char* (*error_string)(int);
  int (*version)(int*, int*);
  int (*create)(Program*, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names);
  int (*destroy)(Program*);
  int (*add_name)(Program, const char*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*ptx_size)(Program, size_t*);
  int (*ptx)(Program, char*);
  int (*lowered_name)(Program, const char*, const char**);

  std::string path; // of the library
  int major = 0, minor = 0;
  std::string name() const; // `NVRTC 13.0`

  ~Nvrtc();
  Nvrtc() = default;
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;
  void* handle = nullptr;
};

// The first candidate that loads and has every function; an `environment` error names the command
// that installs NVRTC, and what was tried when the user chose a library.
Result<std::unique_ptr<Nvrtc>> load_nvrtc(const Surroundings& surroundings);

} // namespace assay::compile
