#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "import/json/event_splitter.hpp"

namespace sonde {

// `workers` threads share three kinds of work: one of them at a time splits the input into blocks,
// all turn blocks into parts, one at a time hands the parts on in file order. A fixed set of blocks
// goes round, so that the memory does not grow with the file.
template <class Part>
struct BlockPipeline {
  EventSplitter& splitter;
  std::size_t workers;
  std::function<std::unique_ptr<Part>(std::size_t worker, const EventBlock& block)> read;
  std::function<void(Part& part)> append;
  std::function<void()> tick;  // now and then, from whatever thread splits

  // Fails when the source does; what came before is appended by then.
  Result<bool> run();
};

// The type-free heart of it: `append` gets what `read` returned.
Result<bool> run_block_pipeline(
    EventSplitter& splitter, std::size_t workers,
    const std::function<std::shared_ptr<void>(std::size_t, const EventBlock&)>& read,
    const std::function<void(void*)>& append, const std::function<void()>& tick);

template <class Part>
Result<bool> BlockPipeline<Part>::run() {
  return run_block_pipeline(
      splitter, workers,
      [&](std::size_t worker, const EventBlock& block) -> std::shared_ptr<void> {
        return std::shared_ptr<Part>(read(worker, block));
      },
      [&](void* part) { append(*static_cast<Part*>(part)); }, tick);
}

}  // namespace sonde
