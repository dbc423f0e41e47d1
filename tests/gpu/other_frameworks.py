"""A little work in JAX, CuPy or Triton: other_frameworks.py jax|cupy|triton. Prints what was computed."""

import sys


def with_jax():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x, w):
        return jnp.tanh(x @ w) + 1

    x = jnp.ones((512, 512))
    w = jnp.full((512, 512), 0.01)
    for _ in range(20):
        x = step(x, w)
    print("jax", float(x.block_until_ready()[0, 0]), jax.devices())


def with_cupy():
    import cupy

    kernel = cupy.RawKernel(
        'extern "C" __global__ void cupy_known(float* x, int n) '
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }",
        "cupy_known",
    )
    x = cupy.zeros(1 << 20, dtype=cupy.float32)
    for _ in range(20):
        kernel((4096,), (256,), (x, x.size))
        y = cupy.sqrt(x) * 2
    print("cupy", float(y[0]))


def with_triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def triton_known(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(x + at, tl.load(x + at, mask=mask) + 1, mask=mask)

    x = torch.zeros(1 << 20, device="cuda")
    for _ in range(20):
        triton_known[(1024,)](x, x.numel(), BLOCK=1024)
    torch.cuda.synchronize()
    print("triton", float(x[0]))


{"jax": with_jax, "cupy": with_cupy, "triton": with_triton}[sys.argv[1]]()
