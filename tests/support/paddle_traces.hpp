#pragma once

#include <string>
#include <utility>

#include "tests/support/paddle_writer.hpp"

namespace sonde::test {

// Two steps of a small training with everything that Paddle's summary has a place for: two threads,
// two devices, streams that overlap, nested operators, phases, communication, copies, user ranges
// and memory of two places. `length` is what the second step begins behind: far away, every time is
// rounded.
inline PaddleWriter paddle_training(std::uint64_t far = 0) {
  using P = PaddleWriter;
  PaddleWriter writer;
  P::Thread& main = writer.thread(100, "main");
  std::uint32_t id = 1000;
  for (int step = 0; step < 2; ++step) {
    const std::uint64_t at = step == 0 ? 0 : 5'000'000 + far;
    const auto t = [&](std::uint64_t micros, std::uint64_t nanos = 0) {
      return at + micros * 1000 + nanos;
    };
    P::Node& root = main.root.child("ProfileStep#" + std::to_string(step + 7), P::ProfileStep, at,
                                    t(4800 + 100 * static_cast<std::uint64_t>(step)));
    root.children.reserve(16);
    root.child("_DataLoaderIterMultiProcess", P::Dataloader, t(10), t(210, 250));

    P::Node& forward = root.child("LeNet", P::Forward, t(300), t(1900));
    forward.children.reserve(8);
    forward.child("Conv2D", P::Forward, t(310), t(390));
    P::Node& amp = forward.child("matmul dygraph", P::Operator, t(400), t(1200));
    amp.shapes = {{"x", {{4, 8}}}, {"y", {{8, 2}}}};
    amp.children.reserve(4);
    P::Node& inner = amp.child("matmul dygraph", P::Operator, t(420), t(1190));
    inner.shapes = amp.shapes;
    inner.children.reserve(4);
    inner.child("matmul infer_meta", P::OperatorInner, t(430), t(430, 900));
    P::Node& compute = inner.child("matmul compute", P::OperatorInner, t(431), t(1000));
    compute.launch(++id, t(440), t(450),
                   {P::Kernel, "void gemm::kernel<float, 64>(float*, int)", t(460), t(960), 0, 7});
    compute.launch(++id, t(500), t(505), {P::Memset, "MEMSET", t(961), t(963), 0, 7, 512});
    compute.memory.push_back(
        {t(435, 100), 0, 4096, 8192, "Place(gpu:0)", 8192, 65536, 8192 * (step + 1), 65536});
    compute.memory.push_back(
        {t(436), 2, 65536, 65536, "Place(gpu:0)", 8192, 65536, 8192 * (step + 1), 65536});
    inner
        .child("matmul kernel launch with a name that is much too long for it",
               P::DygraphKernelLaunch, t(1000), t(1100))
        .launch(++id, t(1010), t(1020),
                {P::Kernel, "phi::SplitKernel(int, float const*)", t(1050), t(1150), 0, 9});
    P::Node& relu = forward.child("elementwise_add", P::Operator, t(1300), t(1500));
    relu.shapes = {{"X", {{4, 1, 8}}}, {"Y", {{2, 8}}}};
    relu.stack = "  File 'net.py', line 12, in forward\\n    x = x + y";
    relu.launch(++id, t(1310), t(1320),
                {P::Kernel, "phi::AddKernel<float, phi::Broadcast<int>(*)(int)>(float*)", t(1400),
                 t(1600), 1, 3});
    relu.memory.push_back({t(1450), 1, 4096, -4096, "Place(gpu:0)", 4096, 65536, 8192, 65536});
    relu.memory.push_back({t(1460), 0, 64, 100, "Place(cpu)", 100, 0, 100, 0});
    P::Node& loss = forward.child("LeNet::loss", P::PythonUserDefined, t(1600), t(1800));
    loss.child("nested range", P::PythonUserDefined, t(1610), t(1700));

    P::Node& backward = root.child("Gradient Backward", P::Backward, t(2000), t(3000));
    backward.children.reserve(4);
    P::Node& grad = backward.child("MatmulGradNode", P::Operator, t(2010), t(2800));
    grad.child("matmul_grad compute", P::OperatorInner, t(2020), t(2700))
        .launch(++id, t(2030), t(2040),
                {P::Kernel, "void gemm::kernel<float, 64>(float*, int)", t(2100), t(2900), 0, 7});
    P::Node& reduce = backward.child("c_allreduce_sum", P::Operator, t(2810), t(2900));
    reduce.launch(
        ++id, t(2820), t(2830),
        {P::Kernel, "ncclKernel_AllReduce_Sum_float(ncclWorkElem)", t(2850), t(3350), 0, 20});

    P::Node& update = root.child("Optimization Step", P::Optimization, t(3100), t(3600));
    update.child("sgd_ dygraph", P::Operator, t(3110), t(3500))
        .launch(++id, t(3120), t(3130),
                {P::Kernel, "void phi::SGDKernel<float, float>(float*)", t(3300), t(3450), 0, 7});
    root.child("send parameters", P::Communication, t(3700), t(3900))
        .launch(++id, t(3710), t(3720), {P::Kernel, "copyToPeer(char*)", t(3750), t(3800), 1, 3});
    root.child("GpuMemcpySync:GPU->CPU", P::UserDefined, t(4000), t(4200))
        .launch(++id, t(4010), t(4190),
                {P::Memcpy, "MEMCPY_DtoH", t(4020), t(4180), 0, 7, 3'000'000'000});
    root.child("conv2d pybind_imperative_func", P::UserDefined, t(4300), t(4400));
    root.child("my memset", P::PythonUserDefined, t(4500), t(4600));
  }
  // A call outside of every host event: its kernel is in the table of kernels alone.
  main.root.launch(++id, 4'910'000, 4'920'000, {P::Kernel, "warmUp()", 4'930'000, 4'940'000, 0, 7});

  P::Thread& reader = writer.thread(200, "reader");
  reader.root.children.reserve(4);
  reader.root.child("BufferedReader:MemoryCopy", P::UserDefined, 100'000, 400'000)
      .launch(++id, 110'000, 120'000, {P::Memcpy, "MEMCPY_HtoD", 130'000, 380'000, 1, 4, 4096});
  reader.root.child("cast dygraph", P::Operator, 500'000, 900'000)
      .launch(++id, 510'000, 520'000, {P::Kernel, "phi::CastKernel(int)", 550'000, 850'000, 0, 21});
  reader.root.child("decode", P::PythonUserDefined, 950'000, 1'450'000);
  return writer;
}

}  // namespace sonde::test
