#include "analysis/advice_wording.hpp"

namespace sonde::advice {
namespace {

constexpr Wording kPlain = {
    .load_data =
        "Load in parallel and ahead of use, on threads or processes of their own. Move decoding "
        "and augmentation to the device or do them once, before training.",
    .copy_less = "Copy less, from pinned memory, and while the device computes.",
    .launch_less = "fused kernels or graphs of them",
    .see_host_code =
        "Look at what the program does between operators: a profiler of its host code, such as "
        "perf or cProfile, shows it, and Sonde reads their files.",
    .find_waits =
        "Find what synchronises (copies to the host, explicit waits, reading of single values) "
        "and move it out of the step.",
    .fuse_kernels = "Fuse small kernels, launch them together as a graph, or raise the batch size.",
    .pin_memory = "Use pinned (page-locked) memory and copy asynchronously.",
    .overlap_communication =
        "Start communication earlier and in larger pieces, so that it runs beside the backward "
        "pass; accumulate gradients over several steps, and look for the slowest rank.",
    .use_tensor_cores = "Compute in mixed precision (bfloat16), or allow TF32 in matrix products.",
    .use_older_tensor_cores = "Compute in mixed precision (float16).",
};

constexpr Wording kPyTorch = {
    .load_data =
        "Load in parallel and ahead: DataLoader(num_workers=N, pin_memory=True, "
        "persistent_workers=True, prefetch_factor=4). Move decoding and augmentation to the GPU "
        "or do them once, before training.",
    .copy_less = "Copy less, from pinned memory, with non_blocking=True.",
    .launch_less = "torch.compile or CUDA graphs",
    .see_host_code =
        "Look at the Python code between operators; record with with_stack=True to see it.",
    .find_waits =
        "Find what synchronises (copies to the host, torch.cuda.synchronize(), nonzero(), "
        "boolean masks) with torch.cuda.set_sync_debug_mode(\"warn\") and move it out of "
        "the step.",
    .fuse_kernels =
        "Fuse small kernels (torch.compile; optimizers with fused=True or foreach=True), capture "
        "the step in a CUDA graph, or raise the batch size.",
    .pin_memory =
        "Use pinned memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with "
        "tensor.to(device, non_blocking=True).",
    .overlap_communication =
        "Start communication earlier and in larger pieces (DDP bucket_cap_mb, "
        "gradient_as_bucket_view, FSDP prefetch), accumulate gradients over several steps "
        "(no_sync()), and look for the slowest rank.",
    .use_tensor_cores =
        "Train in mixed precision (torch.autocast, bfloat16), or allow TF32: "
        "torch.set_float32_matmul_precision(\"high\").",
    .use_older_tensor_cores =
        "Train in mixed precision: torch.autocast with float16 and a GradScaler.",
};

constexpr Wording xla() {
  Wording out = kPlain;
  out.load_data =
      "Load in parallel and ahead of use: with tf.data, map(..., "
      "num_parallel_calls=tf.data.AUTOTUNE) and prefetch(tf.data.AUTOTUNE). Move decoding and "
      "augmentation to the device or do them once, before training.";
  out.launch_less =
      "more of the step inside one compiled function (jax.jit; tf.function with "
      "jit_compile=True)";
  out.find_waits =
      "Find what synchronises (block_until_ready(), numpy() or float() of an array, printing) "
      "and move it out of the step.";
  out.fuse_kernels =
      "Compile more of the step in one piece (jax.jit; tf.function with jit_compile=True), so "
      "that XLA fuses small kernels, or raise the batch size.";
  return out;
}

constexpr Wording paddle() {
  Wording out = kPlain;
  out.load_data =
      "Load in parallel and ahead: paddle.io.DataLoader(num_workers=N, "
      "persistent_workers=True, prefetch_factor=4). Move decoding and augmentation to the GPU "
      "or do them once, before training.";
  out.launch_less = "paddle.jit.to_static or CUDA graphs";
  out.fuse_kernels =
      "Fuse small kernels (paddle.jit.to_static), capture the step in a CUDA graph, or raise "
      "the batch size.";
  out.overlap_communication =
      "Start communication earlier and in larger pieces (paddle.DataParallel "
      "comm_buffer_size), accumulate gradients over several steps (no_sync()), and look for "
      "the slowest rank.";
  out.use_tensor_cores = "Train in mixed precision: paddle.amp.auto_cast with bfloat16.";
  out.use_older_tensor_cores =
      "Train in mixed precision: paddle.amp.auto_cast with float16 and a GradScaler.";
  return out;
}

constexpr Wording mxnet() {
  Wording out = kPlain;
  out.load_data =
      "Load in parallel and ahead: gluon.data.DataLoader(num_workers=N, pin_memory=True). Move "
      "decoding and augmentation to the GPU or do them once, before training.";
  out.launch_less = "hybridize(static_alloc=True, static_shape=True)";
  out.find_waits =
      "Find what synchronises (asnumpy(), asscalar(), wait_to_read(), mx.nd.waitall()) and "
      "move it out of the step.";
  out.fuse_kernels =
      "Let MXNet run operators in bulk (hybridize(static_alloc=True, static_shape=True)), or "
      "raise the batch size.";
  return out;
}

constexpr Wording onnxruntime() {
  Wording out = kPlain;
  out.launch_less = "graph optimisations and, with CUDA, enable_cuda_graph";
  out.find_waits =
      "Find what synchronises (inputs and outputs copied at each run) and keep them on the "
      "device with I/O binding.";
  out.fuse_kernels =
      "Turn on all graph optimisations, which fuse operators, or raise the batch size.";
  return out;
}

constexpr Wording kXla = xla();
constexpr Wording kPaddle = paddle();
constexpr Wording kMXNet = mxnet();
constexpr Wording kOnnxRuntime = onnxruntime();

}  // namespace

Framework framework_of(const Trace& trace) {
  const std::string& format = trace.meta().format;
  if (format == "kineto" || format == "execution_trace" || format.starts_with("memory_"))
    return Framework::PyTorch;
  if (format == "xplane" || format == "tensorflow-json") return Framework::Xla;
  if (format == "paddle") return Framework::Paddle;
  if (format == "mxnet") return Framework::MXNet;
  if (format == "onnxruntime") return Framework::OnnxRuntime;
  return Framework::Unknown;
}

const Wording& wording_for(const Trace& trace) {
  switch (framework_of(trace)) {
    case Framework::PyTorch:
      return kPyTorch;
    case Framework::Xla:
      return kXla;
    case Framework::Paddle:
      return kPaddle;
    case Framework::MXNet:
      return kMXNet;
    case Framework::OnnxRuntime:
      return kOnnxRuntime;
    case Framework::Unknown:
      break;
  }
  return kPlain;
}

std::string_view device_word(const Trace& trace) {
  const std::string& family = trace.meta().device_family;
  const bool own_word = family == "TPU" || family == "XPU" || family == "MTIA";
  return own_word ? std::string_view(family) : "GPU";
}

std::string_view runtime_word(const Trace& trace) {
  const std::string& family = trace.meta().device_family;
  if (family.empty() || family == "CUDA") return "CUDA";
  return family == "ROCm" ? "HIP" : "runtime";
}

}  // namespace sonde::advice
