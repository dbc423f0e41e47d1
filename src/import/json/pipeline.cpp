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

// Blocks on their way: empty ones to the splitter, full ones to the workers.
class BlockQueue {
 public:
  explicit BlockQueue(std::size_t blocks) : blocks_(blocks) {
    for (EventBlock& block : blocks_) empty_.push_back(&block);
  }

  EventBlock* take_empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !empty_.empty(); });
    EventBlock* block = empty_.front();
    empty_.pop_front();
    return block;
  }

  EventBlock* take_full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || ended_; });
    if (full_.empty()) return nullptr;
    EventBlock* block = full_.front();
    full_.pop_front();
    return block;
  }

  void give_empty(EventBlock* block) { give(empty_, block); }
  void give_full(EventBlock* block) { give(full_, block); }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

 private:
  void give(std::deque<EventBlock*>& queue, EventBlock* block) {
    {
      const std::lock_guard lock(mutex_);
      queue.push_back(block);
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<EventBlock> blocks_;
  std::deque<EventBlock*> empty_;
  std::deque<EventBlock*> full_;
  bool ended_ = false;
};

// Brings parts back into file order. A block goes round again only when its part is appended, so
// that no more parts wait than there are blocks.
class OrderedSink {
 public:
  OrderedSink(BlockQueue& queue, const std::function<void(void*)>& append)
      : queue_(queue), append_(append) {}

  void add(EventBlock* block, std::shared_ptr<void> part) {
    std::unique_lock lock(mutex_);
    waiting_.emplace(block->sequence, Waiting{block, std::move(part)});
    if (appending_) return;  // whoever appends takes this one too
    appending_ = true;
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      Waiting ready = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
      lock.unlock();
      append_(ready.part.get());
      ready.part.reset();
      queue_.give_empty(ready.block);
      lock.lock();
    }
    appending_ = false;
  }

 private:
  struct Waiting {
    EventBlock* block;
    std::shared_ptr<void> part;
  };

  BlockQueue& queue_;
  const std::function<void(void*)>& append_;
  std::mutex mutex_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_ = 0;
  bool appending_ = false;
};

}  // namespace

Result<bool> run_block_pipeline(
    EventSplitter& splitter, std::size_t workers,
    const std::function<std::shared_ptr<void>(std::size_t, const EventBlock&)>& read,
    const std::function<void(void*)>& append, const std::function<void()>& tick) {
  BlockQueue queue(workers * 2 + 2);
  OrderedSink sink(queue, append);
  std::optional<Error> failure;

  std::jthread split([&] {
    for (;;) {
      EventBlock* block = queue.take_empty();
      Result<bool> more = splitter.next(*block);
      if (tick) tick();
      if (!more) failure = more.error();
      if (!more || !*more) break;
      queue.give_full(block);
    }
    queue.end();
  });
  const auto work = [&](std::size_t worker) {
    while (EventBlock* block = queue.take_full()) sink.add(block, read(worker, *block));
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t worker = 1; worker < workers; ++worker) helpers.emplace_back(work, worker);
    work(0);
  }
  split.join();
  if (failure) return *failure;
  return true;
}

}  // namespace sonde
