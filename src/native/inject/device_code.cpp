// Device code inside the library: the assembler takes in the files that nvcc made. Local symbols,
// so that nothing can clash.
#include "native/inject/device.hpp"

#ifndef ASSAY_PATCHES_FILE
#error "the build names the compiled device code"
#endif

// clang-format off
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "assay_patches_image: .incbin \"" ASSAY_PATCHES_FILE "\"\n"
    ".balign 16\n"
    "assay_helpers_image: .incbin \"" ASSAY_HELPERS_FILE "\"\n"
    ".balign 16\n"
    ".popsection\n");
// clang-format on

extern "C" {
extern const unsigned char assay_patches_image[] __attribute__((visibility("hidden")));
extern const unsigned char assay_helpers_image[] __attribute__((visibility("hidden")));
}

namespace assay::native {

const void* patches_image() { return assay_patches_image; }
const void* helpers_image() { return assay_helpers_image; }

} // namespace assay::native
