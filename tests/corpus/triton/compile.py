"""compile.py OUT CAPABILITY…: writes the PTX of every variant in kernels.py for each capability.

Runs Triton's compiler alone: no GPU and no torch. A variant that a capability does not have
(fp8 on sm_80, say) is left out and named on stderr.
"""
import os
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels


def main():
    out = sys.argv[1]
    for capability in map(int, sys.argv[2:]):
        for name, kernel, signature, constants, options in kernels.variants():
            path = os.path.join(out, f"triton_{name}_sm{capability}.ptx")
            if os.path.exists(path):
                continue
            source = ASTSource(fn=kernel, signature=signature, constexprs={(list(signature).index(k),): v for k, v in constants.items()})
            try:
                compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
            except Exception as error:  # the compiler's own exceptions, of many types
                print(f"{os.path.basename(path)}: left out: {str(error).strip().splitlines()[-1:] or type(error)}", file=sys.stderr)
                continue
            with open(path, "w") as file:
                file.write(compiled.asm["ptx"])


main()
