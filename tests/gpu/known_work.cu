// A program that does a known amount of work on a GPU, and says so: launches, copies and sets on several streams, and the same
// again from a CUDA graph. It times long kernels by CUDA events. Standard output is one JSON object.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t status = (call);                                                  \
    if (status != cudaSuccess) {                                                        \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));              \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (false)

__global__ void known_spin(long long nanoseconds) {
  long long start;
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

__global__ void known_add(float* values, int count, float summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += summand;
}

__global__ void known_scale(float* values, int count, float factor) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < count ? values[i] : 0;
  __syncthreads();
  if (i < count) values[i] = tile[threadIdx.x] * factor;
}

int main() {
  constexpr int kStreams = 4;
  constexpr int kRounds = 25;
  constexpr int kTimed = 20;
  constexpr int kGraphLaunches = 10;
  constexpr int kCount = 1 << 20;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  const int grid = kCount / 256;

  std::vector<cudaStream_t> streams(kStreams);
  std::vector<float*> device(kStreams);
  std::vector<float*> host(kStreams);
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device[s], kBytes));
    CHECK(cudaMallocHost(&host[s], kBytes));
  }
  float* spare = nullptr;
  CHECK(cudaMalloc(&spare, kBytes));
  CHECK(cudaDeviceSynchronize());

  int adds = 0, scales = 0, spins = 0, to_device = 0, to_host = 0, on_device = 0, sets = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int s = 0; s < kStreams; ++s) {
      CHECK(cudaMemsetAsync(device[s], 0, kBytes, streams[s]));
      ++sets;
      CHECK(cudaMemcpyAsync(device[s], host[s], kBytes, cudaMemcpyHostToDevice, streams[s]));
      ++to_device;
      known_add<<<grid, 256, 0, streams[s]>>>(device[s], kCount, 1.0f);
      ++adds;
      known_scale<<<grid, 256, 0, streams[s]>>>(device[s], kCount, 2.0f);
      ++scales;
      CHECK(cudaMemcpyAsync(host[s], device[s], kBytes, cudaMemcpyDeviceToHost, streams[s]));
      ++to_host;
    }
    CHECK(cudaMemcpyAsync(spare, device[0], kBytes, cudaMemcpyDeviceToDevice, streams[0]));
    ++on_device;
  }
  CHECK(cudaDeviceSynchronize());

  cudaEvent_t first, last;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&last));
  std::vector<float> timed(kTimed);
  for (int i = 0; i < kTimed; ++i) {
    CHECK(cudaEventRecord(first, streams[0]));
    known_spin<<<1, 1, 0, streams[0]>>>(2'000'000LL + 100'000LL * i);
    ++spins;
    CHECK(cudaEventRecord(last, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    CHECK(cudaEventElapsedTime(&timed[i], first, last));
  }

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(streams[1], cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(device[1], 0, kBytes, streams[1]));
  known_add<<<grid, 256, 0, streams[1]>>>(device[1], kCount, 3.0f);
  known_scale<<<grid, 256, 0, streams[1]>>>(device[1], kCount, 0.5f);
  known_add<<<grid, 256, 0, streams[1]>>>(device[1], kCount, 4.0f);
  CHECK(cudaMemcpyAsync(spare, device[1], kBytes, cudaMemcpyDeviceToDevice, streams[1]));
  CHECK(cudaStreamEndCapture(streams[1], &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < kGraphLaunches; ++i) CHECK(cudaGraphLaunch(executable, streams[1]));
  CHECK(cudaDeviceSynchronize());

  void* pooled = nullptr;
  CHECK(cudaMallocAsync(&pooled, kBytes, streams[2]));
  CHECK(cudaFreeAsync(pooled, streams[2]));
  CHECK(cudaDeviceSynchronize());

  std::printf("{\"known_add\": %d, \"known_scale\": %d, \"known_spin\": %d, \"to_device\": %d, \"to_host\": %d, "
              "\"on_device\": %d, \"sets\": %d, \"graph_launches\": %d, \"graph_adds\": %d, \"graph_scales\": %d, "
              "\"graph_sets\": %d, \"graph_copies\": %d, \"copy_bytes\": %zu, \"event_ms\": [",
              adds, scales, spins, to_device, to_host, on_device, sets, kGraphLaunches, 2 * kGraphLaunches,
              kGraphLaunches, kGraphLaunches, kGraphLaunches, kBytes);
  for (int i = 0; i < kTimed; ++i) std::printf("%s%.4f", i ? ", " : "", timed[i]);
  std::printf("]}\n");
  return 0;
}
