#include "import/json/pipeline.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace sonde {
namespace {

// Three kinds of work on blocks: to split the next one off the input, to read one into its part, to
// append the part that is next in the order of the file. Splitting and appending are done by one
// thread at a time, reading by as many as there are. Each thread takes whatever there is to do, so
// that none waits as long as there is anything; a part is appended as soon as it can be, so that
// never more parts wait than there are blocks.
class BlockWork {
 public:
  using Read = std::function<std::shared_ptr<void>(std::size_t, const EventBlock&)>;

  BlockWork(EventSplitter& splitter, std::size_t workers, const Read& read,
            const std::function<void(void*)>& append, const std::function<void()>& tick)
      : splitter_(splitter), read_(read), append_(append), tick_(tick), blocks_(workers * 2 + 2) {
    for (EventBlock& block : blocks_) empty_.push_back(&block);
  }

  void run(std::size_t worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!appending_ && !parts_.empty() && parts_.begin()->first == next_part_) {
        append_next(lock);
      } else if (!splitting_ && !input_ended_ && !empty_.empty() && full_.size() < kAhead) {
        split_next(lock);
      } else if (!full_.empty()) {
        read_next(lock, worker);
      } else if (input_ended_ && !splitting_ && !appending_ && empty_.size() == blocks_.size()) {
        changed_.notify_all();
        return;
      } else {
        ++waiting_;
        changed_.wait(lock);
        --waiting_;
      }
    }
  }

  std::optional<Error> failure;

 private:
  // Blocks that are split and not yet taken: enough that a reader finds one while the next is
  // split.
  static constexpr std::size_t kAhead = 4;

  struct Part {
    EventBlock* block;
    std::shared_ptr<void> content;
  };

  void split_next(std::unique_lock<std::mutex>& lock) {
    EventBlock* block = empty_.front();
    empty_.pop_front();
    splitting_ = true;
    lock.unlock();
    Result<bool> more = splitter_.next(*block);
    if (tick_) tick_();
    lock.lock();
    splitting_ = false;
    if (more && *more) {
      full_.push_back(block);
    } else {
      if (!more) failure = more.error();
      input_ended_ = true;
      empty_.push_back(block);
    }
    wake();
  }

  void read_next(std::unique_lock<std::mutex>& lock, std::size_t worker) {
    EventBlock* block = full_.front();
    full_.pop_front();
    lock.unlock();
    std::shared_ptr<void> content = read_(worker, *block);
    lock.lock();
    parts_.emplace(block->sequence, Part{block, std::move(content)});
    wake();
  }

  void append_next(std::unique_lock<std::mutex>& lock) {
    Part part = std::move(parts_.begin()->second);
    parts_.erase(parts_.begin());
    ++next_part_;
    appending_ = true;
    lock.unlock();
    append_(part.content.get());
    part.content.reset();
    lock.lock();
    appending_ = false;
    empty_.push_back(part.block);
    wake();
  }

  void wake() {
    if (waiting_ > 0) changed_.notify_all();
  }

  EventSplitter& splitter_;
  const Read& read_;
  const std::function<void(void*)>& append_;
  const std::function<void()>& tick_;
  std::vector<EventBlock> blocks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EventBlock*> empty_;
  std::deque<EventBlock*> full_;
  std::map<std::uint64_t, Part> parts_;  // read and not yet appended
  std::uint64_t next_part_ = 0;
  bool splitting_ = false;
  bool appending_ = false;
  bool input_ended_ = false;
  int waiting_ = 0;
};

}  // namespace

Result<bool> run_block_pipeline(
    EventSplitter& splitter, std::size_t workers,
    const std::function<std::shared_ptr<void>(std::size_t, const EventBlock&)>& read,
    const std::function<void(void*)>& append, const std::function<void()>& tick) {
  BlockWork work(splitter, workers, read, append, tick);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t worker = 1; worker < workers; ++worker) {
      helpers.emplace_back([&work, worker] { work.run(worker); });
    }
    work.run(0);
  }
  if (work.failure) return *work.failure;
  return true;
}

}  // namespace sonde
