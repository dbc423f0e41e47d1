#include "capture/recorder.hpp"

namespace sonde::capture {
namespace {

struct Schedule {
  std::uint32_t skip = 0;
  std::uint32_t wait = 0;
  std::uint32_t warm_up = 0;
  std::uint32_t active = 0;  // 0: there is no schedule
  std::uint32_t repeat = 0;
};

Schedule schedule;
std::uint64_t steps_begun;
std::uint64_t step_start;  // 0: none runs, or it is not recorded

// Whether a step with this number, from 0, is recorded.
bool is_active(std::uint64_t step) {
  if (schedule.active == 0) return true;
  if (step < schedule.skip) return false;
  step -= schedule.skip;
  const std::uint64_t before = std::uint64_t{schedule.wait} + schedule.warm_up;
  const std::uint64_t cycle = before + schedule.active;
  if (schedule.repeat && step / cycle >= schedule.repeat) return false;
  return step % cycle >= before;
}

void end_step(bool begin_next) {
  static sonde_name name = SONDE_NAME_INIT("step");
  file::Record record{};
  {
    const Guard guard;
    if (!guard) return count_drop(true);
    const Lock lock;
    const std::uint64_t now = sonde_ticks();
    if (step_start) record = {step_start, now, steps_begun - 1, 0};
    if (begin_next) ++steps_begun;
    update_recording();
    step_start = begin_next && sonde_enabled() ? now : 0;
  }
  if (record.a == 0) return;
  const std::uint32_t id = sonde_name_id_(&name);
  if (id == 0) return;
  record.word = file::make_word(id, 0, file::RecordType::Slice, SONDE_KIND_STEP);
  write_group(&record, 1);
}

}  // namespace

// Before the first step counts as that step.
bool schedule_active() { return is_active(steps_begun ? steps_begun - 1 : 0); }

void forget_steps() { step_start = 0; }

}  // namespace sonde::capture

using namespace sonde::capture;

void sonde_schedule(std::uint32_t skip, std::uint32_t wait, std::uint32_t warm_up,
                    std::uint32_t active, std::uint32_t repeat) {
  const Guard guard;
  if (!guard) return;
  const Lock lock;
  schedule = {skip, wait, warm_up, active, repeat};
  steps_begun = 0;
  step_start = 0;
  update_recording();
}

void sonde_step() { end_step(true); }

void sonde_last_step() { end_step(false); }
