# Compiler settings shared by every target.
# Strict IEEE arithmetic: no contraction, no fast-math, so that both compilers give the same bits.
find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_CCACHE})
endif()

# The build type of the sanitizer presets: fast enough to run real kernels, stack traces with lines.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -gline-tables-only" CACHE STRING "" FORCE)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1" CACHE STRING "" FORCE)
endif()

add_library(assay_settings INTERFACE)
# g++ 12 and 13 see uninitialised strings in temporaries of std::variant and std::optional that are never
# read (GCC bug 105562 and its kin); clang and the sanitizers watch over the real thing.
target_compile_options(assay_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
target_compile_options(assay_settings INTERFACE
  -Wall -Wextra -Wno-unused-parameter -ffp-contract=off -fno-math-errno
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
# libstdc++ 12's own std::stable_sort uses what clang 19 calls deprecated; and `a & b ? x : y` is how code
# without branches is written here.
target_compile_options(assay_settings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations -Wno-bitwise-conditional-parentheses>)
target_include_directories(assay_settings INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(ASSAY_SANITIZE)
  target_compile_options(assay_settings INTERFACE
    -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
