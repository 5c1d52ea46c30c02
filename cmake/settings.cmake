# Compiler settings shared by every target.
# Strict IEEE arithmetic: no contraction, no fast-math, so that both compilers give the same bits.
add_library(assay_settings INTERFACE)
target_compile_options(assay_settings INTERFACE
  -Wall -Wextra -Wno-unused-parameter -ffp-contract=off -fno-math-errno
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
target_include_directories(assay_settings INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(ASSAY_SANITIZE)
  target_compile_options(assay_settings INTERFACE
    -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
