#include "import/sonde_run/tables/tables.hpp"

#include <cstring>
#include <string>

#include "import/sonde_run/tables/memory_tables.hpp"
#include "import/sonde_run/tables/profile_tables.hpp"
#include "import/sonde_run/tables/table_codes.hpp"
#include "import/sonde_run/tables/tables_file.hpp"

namespace sonde {
namespace {

void add_header_losses(const tables::FileHeader& header, const CompanionContext& context) {
  LossLedger& losses = context.builder.losses();
  if (header.clean_end != 1 && context.clean_end) {
    losses.add(
        "tables_unclean_end", Severity::Info,
        "The program ended before its sums and samples were closed; everything up to then is "
        "here");
  }
  if (header.dropped_rows == 0) return;
  const std::string reason = header.drop_reason == 0
                                 ? "the size limit of the recording was reached"
                                 : std::string("there was no more space (") +
                                       std::strerror(static_cast<int>(header.drop_reason)) + ")";
  losses.add("dropped_rows", Severity::Warning,
             "Sums and samples that could not be kept, since " + reason, header.dropped_rows);
}

TickClock nanosecond_clock() {
  file::FileHeader header{};
  header.ticks_per_second = 1'000'000'000;
  return TickClock(header);
}

class TablesReader : public Companion {
 public:
  explicit TablesReader(bool gives_places) : gives_places_(gives_places) {}

  void read(ByteSource& source, const CompanionContext& recording) override {
    const TablesFile file = read_tables_file(source, recording.builder);
    const TickClock nanoseconds = nanosecond_clock();
    const bool own_clock = file.header.clock == tables::Clock::Nanoseconds;
    const CompanionContext context{own_clock ? nanoseconds : recording.clock,
                                   recording.tracks,
                                   recording.builder,
                                   recording.options,
                                   recording.clean_end,
                                   recording.places};
    if (file.row_count > 0) {
      TableCodes codes(file, context.builder);
      add_properties(file, codes, context);
      add_call_profile(file, codes, context);
      add_samples(file, codes, context);
      add_process_memory(file, codes, context);
      if (gives_places_ && context.places != nullptr) {
        for (WaitingPlaces::Place& place : context.places->all()) {
          place.stack = codes.stack(place.frame);
        }
      }
      codes.tell_losses();
    }
    add_header_losses(file.header, context);
    context.builder.meta().file_events += file.row_count;
    context.builder.meta().input_bytes += file.bytes;
  }

 private:
  bool gives_places_;
};

}  // namespace

bool looks_like_tables(std::string_view head) {
  return head.starts_with(std::string_view(tables::kMagic, sizeof tables::kMagic));
}

std::unique_ptr<Companion> make_tables_reader() { return std::make_unique<TablesReader>(true); }
std::unique_ptr<Companion> make_samples_reader() { return std::make_unique<TablesReader>(false); }

Result<Trace> refuse_tables(const ImportInput& input) {
  return Error{ErrorCode::Unsupported,
               "the sums and samples that belong to a recording; alone they have no clock",
               input.path,
               {},
               "open the .sonde file of the same name, or the folder of the run"};
}

}  // namespace sonde
