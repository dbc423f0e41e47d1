// From the driver's first call to the trace, with a driver and a CUPTI that are made up.

#include "tests/gpu/recorded_programs.hpp"

namespace sonde::testing {
namespace {

std::uint64_t losses(const Trace& trace, std::string_view name) {
  const LossLedger::Entry* const entry = trace.losses().find(name);
  return entry ? entry->count : 0;
}

TEST(CudaRecording, EveryPieceOfWorkIsThereAndLinkedToItsCall) {
  const RunFolder folder;
  const ProcessResult run = run_fake(folder, {"work", "100", "graph", "sync", "overhead", "memory"},
                                     {{"SONDE_CUDA_KINDS", "all"}});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "done\n");
  EXPECT_EQ(run.err, "");
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 102u);
  EXPECT_EQ(slices_of(trace, SliceKind::Memcpy).size(), 100u);
  EXPECT_EQ(slices_of(trace, SliceKind::Memset).size(), 100u);
  EXPECT_EQ(slices_named(trace, "Memcpy HtoD (Pageable -> Device)").size(), 100u);
  EXPECT_EQ(slices_named(trace, "Memset (Device)").size(), 100u);
  EXPECT_EQ(slices_named(trace, "void my_kernel<1>(float*)").size(), 33u);
  EXPECT_EQ(slices_named(trace, "cudaLaunchKernel").size(), 100u);
  EXPECT_EQ(slices_named(trace, "cudaGraphLaunch").size(), 1u);
  // Calls that only ask are not recorded, and neither are the recorder's own.
  EXPECT_TRUE(slices_named(trace, "cudaGetDevice").empty());
  EXPECT_TRUE(slices_of(trace, SliceKind::Driver).empty());
  EXPECT_EQ(trace.launch_to_device().size(), 302u);
  for (const SliceId kernel : slices_of(trace, SliceKind::Kernel)) {
    const SliceId call = trace.launch_to_device().source(kernel);
    ASSERT_TRUE(call.valid());
    EXPECT_EQ(trace.track(trace.slices().track(call)).type, TrackType::Thread);
    EXPECT_EQ(trace.track(trace.slices().track(kernel)).type, TrackType::Stream);
    EXPECT_EQ(trace.track(trace.slices().track(kernel)).tid, 7);
    EXPECT_GE(trace.slices().start(kernel), trace.slices().start(call));
  }
  const std::vector<SliceId> syncs = slices_of(trace, SliceKind::Sync);
  ASSERT_EQ(syncs.size(), 1u);
  EXPECT_EQ(trace.name(syncs.front()), "Stream Sync");
  ASSERT_EQ(slices_of(trace, SliceKind::Overhead).size(), 1u);
  EXPECT_EQ(trace.name(slices_of(trace, SliceKind::Overhead).front()), "Buffer Flush");
  ASSERT_EQ(trace.allocations().size(), 2u);
  EXPECT_EQ(trace.allocations()[0].total_allocated, 4096);
  EXPECT_EQ(trace.allocations()[1].total_allocated, 0);
  EXPECT_EQ(losses(trace, "gpu_unclean_end"), 0u);
}

TEST(CudaRecording, WaitingAndOverheadMustBeAskedFor) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "5", "sync", "overhead", "memory"}).status, 0);
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 5u);
  EXPECT_TRUE(slices_of(trace, SliceKind::Sync).empty());
  EXPECT_TRUE(slices_of(trace, SliceKind::Overhead).empty());
  EXPECT_EQ(slices_named(trace, "cudaStreamSynchronize").size(), 1u);
  EXPECT_EQ(trace.allocations().size(), 2u);
}

TEST(CudaRecording, KindsCanBeChosen) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "5"}, {{"SONDE_CUDA_KINDS", "kernel,runtime"}}).status, 0);
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 5u);
  EXPECT_TRUE(slices_of(trace, SliceKind::Memcpy).empty());
  EXPECT_EQ(slices_of(trace, SliceKind::Runtime).size(), 15u);
}

TEST(CudaRecording, KernelsHaveTheirShapeAndOccupancy) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "1", "graph"}).status, 0);
  const Trace trace = load_only(folder);
  ASSERT_EQ(trace.meta().devices.size(), 1u);
  EXPECT_EQ(trace.meta().devices[0].name, "Fake H200");
  EXPECT_EQ(trace.meta().devices[0].multiprocessors, 132);
  EXPECT_EQ(trace.meta().device_family, "CUDA");
  const std::vector<SliceId> kernels = slices_of(trace, SliceKind::Kernel);
  ASSERT_EQ(kernels.size(), 3u);
  for (const SliceId kernel : kernels) {
    const DeviceRow* const row = trace.device_work().find(kernel);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->registers, 188);
    EXPECT_EQ(row->shared_memory, 49152);
    EXPECT_EQ(row->grid[0], 1056);
    EXPECT_EQ(row->block[0], 64);
    EXPECT_FLOAT_EQ(row->blocks_per_sm, 8);
    EXPECT_FLOAT_EQ(row->warps_per_sm, 16);
    EXPECT_FLOAT_EQ(row->occupancy, 13);  // 12.5, as PyTorch's profiler rounds it
    const ArgumentValue exact =
        find_argument(trace, kernel, trace.strings().find("corrected occupancy %"));
    EXPECT_DOUBLE_EQ(exact.number(trace, -1), 12.5);
  }
  const SliceId node = slices_named(trace, "graph_second").at(0);
  EXPECT_EQ(find_argument(trace, node, trace.strings().find("graph id")).integer(trace, -1), 5);
  EXPECT_EQ(find_argument(trace, node, trace.strings().find("graph node id")).integer(trace, -1),
            0x500000002);
}

TEST(CudaRecording, AKilledProgramKeepsWhatCuptiHadWritten) {
  const RunFolder folder;
  EXPECT_EQ(run_fake(folder, {"work", "20", "sleep", "300", "work", "20", "half", "kill"}).status,
            128 + 9);
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 40u);
  EXPECT_EQ(slices_named(trace, "void my_kernel<2>(float*)").size(), 12u);
  EXPECT_EQ(losses(trace, "gpu_unfinished"), 1u);
  EXPECT_GE(losses(trace, "gpu_unclean_end"), 100u);
  EXPECT_EQ(losses(trace, "gpu_damaged_records"), 0u);
}

TEST(CudaRecording, ExitWithoutHandlersKeepsTheRecordsToo) {
  const RunFolder folder;
  EXPECT_EQ(run_fake(folder, {"work", "10", "sleep", "200", "work", "10", "leave"}).status, 0);
  EXPECT_EQ(slices_of(load_only(folder), SliceKind::Kernel).size(), 20u);
}

TEST(CudaRecording, AForkedChildDoesNotDisturbItsParent) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "10", "fork", "work", "10"}).status, 0);
  ASSERT_EQ(folder.files(".cupti").size(), 1u);
  const std::string stem =
      folder.files(".cupti").front().substr(0, folder.files(".cupti").front().size() - 6);
  Result<Trace> trace = load_trace(stem + ".sonde", {});
  ASSERT_TRUE(trace);
  EXPECT_EQ(slices_of(*trace, SliceKind::Kernel).size(), 20u);
  EXPECT_EQ(trace->losses().find("gpu_damaged_records"), nullptr);
}

TEST(CudaRecording, DroppedAndUnknownRecordsAreCounted) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "5", "drop", "17", "unknown", "unknown", "work", "5"}).status,
            0);
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 10u);
  EXPECT_EQ(losses(trace, "gpu_dropped_records"), 17u);
  EXPECT_EQ(losses(trace, "gpu_unknown_records"), 2u);
}

TEST(CudaRecording, TheSizeLimitEndsTheRecordingAndNotTheProgram) {
  const RunFolder folder;
  const ProcessResult run = run_fake(folder, {"work", "20000", "sleep", "200", "work", "1000"},
                                     {{"SONDE_MAX_SIZE", "6M"}});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "done\n");
  EXPECT_LE(std::filesystem::file_size(folder.files(".cupti").front()), 6u << 20);
  const Trace trace = load_only(folder);
  EXPECT_GT(slices_of(trace, SliceKind::Kernel).size(), 500u);
  EXPECT_LT(slices_of(trace, SliceKind::Kernel).size(), 21000u);
  EXPECT_GE(losses(trace, "gpu_limit"), 1u);
}

TEST(CudaRecording, KeepLastKeepsTheLast) {
  const RunFolder folder;
  ASSERT_EQ(run_fake(folder, {"work", "40000", "graph"}, {{"SONDE_KEEP_LAST", "12M"}}).status, 0);
  EXPECT_LE(std::filesystem::file_size(folder.files(".cupti").front()), 13u << 20);
  const Trace trace = load_only(folder);
  EXPECT_LT(slices_of(trace, SliceKind::Kernel).size(), 40000u);
  EXPECT_EQ(slices_named(trace, "graph_second").size(), 1u);
  EXPECT_EQ(losses(trace, "gpu_damaged_records"), 0u);
}

TEST(CudaRecording, AToolThatIsThereAlreadyIsNamed) {
  const RunFolder folder;
  const ProcessResult run =
      run_fake(folder, {"work", "5"}, {{"FAKE_CUPTI_OTHER_TOOL", "Old Profiler"}});
  EXPECT_EQ(run.status, 0);
  const Trace trace = load_only(folder);
  const LossLedger::Entry* const entry = trace.losses().find("no_gpu_data");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->sentence, "No GPU data: another tool (Old Profiler) uses CUPTI in this process");
}

TEST(CudaRecording, AToolThatComesLaterIsNoticedAndSondeGoesOnBehindIt) {
  const RunFolder folder;
  const ProcessResult run =
      run_fake(folder, {"work", "5", "sleep", "300", "take", "work", "3", "sleep", "2000",
                        "release", "sleep", "500", "work", "2"});
  EXPECT_EQ(run.status, 0);
  const Trace trace = load_only(folder);
  EXPECT_EQ(slices_of(trace, SliceKind::Kernel).size(), 7u);
  const LossLedger::Entry* const entry = trace.losses().find("gpu_other_tool");
  ASSERT_NE(entry, nullptr);
  EXPECT_NE(entry->sentence.find("(Some Profiler)"), std::string::npos) << entry->sentence;
}

TEST(CudaRecording, SaysWhyThereIsNothing) {
  const auto reason = [](const Environment& environment) {
    const RunFolder folder;
    EXPECT_EQ(run_fake(folder, {"work", "5"}, environment).status, 0);
    const Trace trace = load_only(folder);
    EXPECT_TRUE(slices_of(trace, SliceKind::Kernel).empty());
    const LossLedger::Entry* const entry = trace.losses().find("no_gpu_data");
    return entry ? entry->sentence : std::string();
  };
  EXPECT_EQ(reason({{"SONDE_CUPTI_PATH", "/nowhere/libcupti.so"}}),
            "No GPU data: CUPTI (libcupti.so) was not found");
  EXPECT_EQ(reason({{"FAKE_CUPTI_ENABLE_STATUS", "35"}}),
            "No GPU data: CUPTI does not trace kernels here: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
  EXPECT_EQ(reason({{"SONDE_CUPTI_PATH", SONDE_FAKE_FOLDER "/libcupti.so.13"},
                    {"FAKE_CUPTI_VERSION", "12"}}),
            "No GPU data: this CUPTI is older than CUDA 11");
}

TEST(CudaRecording, WithoutARecordingNothingHappens) {
  const ProcessResult run = run_process(
      {SONDE_FAKE_PROGRAM, "work", "5"}, {},
      {{"LD_LIBRARY_PATH", SONDE_FAKE_FOLDER}, {"CUDA_INJECTION64_PATH", SONDE_CUDA_LIBRARY}});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
}

TEST(CudaRecording, KnowsItsPlaceInAGroupOfProcesses) {
  const RunFolder folder;
  ASSERT_EQ(
      run_fake(folder, {"work", "1"}, {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}})
          .status,
      0);
  const Trace trace = load_only(folder);
  EXPECT_EQ(trace.meta().rank, 3);
  EXPECT_EQ(trace.meta().world_size, 8);
}

TEST(CudaRecording, TheProgramRunsItAndTheReportsShowIt) {
  const RunFolder folder;
  const std::string out = folder.path() + "/run";
  const ProcessResult run = run_process(
      {SONDE_BINARY, "run", "--gpu", "on", "-o", out, "--", SONDE_FAKE_PROGRAM, "work", "30"}, {},
      {{"LD_LIBRARY_PATH", SONDE_FAKE_FOLDER}});
  ASSERT_EQ(run.status, 0) << run.err;
  const ProcessResult kernels = run_process({SONDE_BINARY, "report", "--view", "kernels", out});
  EXPECT_EQ(kernels.status, 0) << kernels.err;
  EXPECT_NE(kernels.out.find("void my_kernel<0>(float*)"), std::string::npos) << kernels.out;
  const ProcessResult copies = run_process({SONDE_BINARY, "report", "--view", "memcpy", out});
  EXPECT_NE(copies.out.find("HtoD"), std::string::npos) << copies.out;
}

}  // namespace
}  // namespace sonde::testing
