#include "capture/nvtx/ranges.hpp"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/nvtx/payloads.hpp"

namespace sonde::capture::nvtx {
namespace {

struct Open {
  sonde_scope scope;
  Domain* domain;
  Event event;
  sonde_arguments extended;
};

// What a thread has pushed. The first ones lie with the thread, more in memory of their own.
struct Stack {
  Open* open;
  std::uint32_t count;
  std::uint32_t room;
};
constexpr std::uint32_t kFirstRoom = 64;
__thread Stack stack;

// Ranges from a start to an end, by number. 0 is no range.
struct Started {
  sonde_task task;
  Domain* domain;
  Event event;
  sonde_arguments extended;
  std::uint64_t number;  // 0: free
};
constexpr std::uint64_t kMostStarted = 1 << 16;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Started* started;
std::uint64_t latest;

pthread_key_t thread_end;
pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

void close_stack();

void on_thread_end(void*) {
  close_stack();
  if (stack.open) munmap(stack.open, stack.room * sizeof(Open));
  stack = {};
}

void make_thread_end() { pthread_key_create(&thread_end, on_thread_end); }

bool grow() {
  const std::uint32_t room = stack.room ? stack.room * 2 : kFirstRoom;
  void* const memory = mmap(nullptr, room * sizeof(Open), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (stack.open) {
    memcpy(memory, stack.open, stack.count * sizeof(Open));
    munmap(stack.open, stack.room * sizeof(Open));
  } else {
    pthread_once(&thread_end_once, make_thread_end);
    pthread_setspecific(thread_end, &stack);
  }
  stack.open = static_cast<Open*>(memory);
  stack.room = room;
  return true;
}

bool has_arguments(const Event& event) {
  return event.category != 0 || event.has_color || event.payload_type != PayloadType::None ||
         event.extended;
}

void add_payload(sonde_arguments* arguments, const Event& event) {
  const std::uint64_t bits = event.payload;
  const auto low = static_cast<std::uint32_t>(bits);
  double real = 0;
  float small = 0;
  switch (event.payload_type) {
    case PayloadType::Unsigned64:
      if (bits > INT64_MAX) {
        char number[24];
        snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(bits));
        return sonde_add_text(arguments, "payload", number);
      }
      [[fallthrough]];
    case PayloadType::Signed64:
      return sonde_add_i64(arguments, "payload", static_cast<std::int64_t>(bits));
    case PayloadType::Unsigned32:
      return sonde_add_i64(arguments, "payload", low);
    case PayloadType::Signed32:
      return sonde_add_i64(arguments, "payload", static_cast<std::int32_t>(low));
    case PayloadType::Double:
      memcpy(&real, &bits, sizeof real);
      return sonde_add_f64(arguments, "payload", real);
    case PayloadType::Float:
      memcpy(&small, &bits, sizeof small);
      return sonde_add_f64(arguments, "payload", static_cast<double>(small));
    case PayloadType::None:
      return;
  }
}

// What has no room is counted by the recorder.
void add_all(sonde_arguments* out, const sonde_arguments* more) {
  for (std::uint32_t i = 0; more && i < more->count && out->count < SONDE_MAX_ARGUMENTS; ++i) {
    out->item[out->count++] = more->item[i];
  }
}

// Keeps what is valid during the call only.
void keep_event(const Event& event, Event* kept, sonde_arguments* extended) {
  *kept = event;
  sonde_no_arguments(extended);
  if (!event.extended) return;
  add_all(extended, event.extended);
  kept->extended = extended;
}

void list_arguments(const Domain& domain, const Event& event, sonde_arguments* out) {
  sonde_no_arguments(out);
  add_payload(out, event);
  add_all(out, event.extended);
  if (event.category != 0) {
    const char* const name = category_name(domain, event.category);
    if (name) {
      sonde_add_text(out, "category", name);
    } else {
      sonde_add_i64(out, "category", event.category);
    }
  }
  if (event.has_color) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    char text[10] = "#";
    for (int i = 0; i < 8; ++i) text[i + 1] = kDigits[event.color >> (28 - 4 * i) & 15];
    sonde_add_text(out, "color", text);
  }
}

void close(Open& open, const sonde_arguments* more) {
  if (!has_arguments(open.event) && !more) return sonde_end(&open.scope);
  // Ranges move in memory when others are closed before them.
  if (open.event.extended) open.event.extended = &open.extended;
  sonde_arguments arguments;
  list_arguments(*open.domain, open.event, &arguments);
  add_all(&arguments, more);
  sonde_end_with(&open.scope, &arguments);
}

void close_stack() {
  while (stack.count > 0) close(stack.open[--stack.count], nullptr);
}

void stop(Started& range, const sonde_arguments* more) {
  if (has_arguments(range.event) || more) {
    sonde_arguments arguments;
    list_arguments(*range.domain, range.event, &arguments);
    add_all(&arguments, more);
    sonde_task_stop_with(&range.task, &arguments);
  } else {
    sonde_task_stop(&range.task);
  }
  range.number = 0;
}

}  // namespace

int push(Domain* domain, const Event& event) {
  if (stack.count == stack.room && !grow()) return -1;
  int depth = 0;
  for (std::uint32_t i = 0; i < stack.count; ++i) depth += stack.open[i].domain == domain;
  Open& open = stack.open[stack.count++];
  open.domain = domain;
  keep_event(event, &open.event, &open.extended);
  sonde_begin_id(&open.scope, event.name, &domain->domain, SONDE_KIND_RANGE);
  return depth;
}

namespace {

int pop_one(const Domain* domain, const sonde_arguments* more) {
  // Domains nest each for itself.
  std::uint32_t at = stack.count;
  while (at > 0 && stack.open[at - 1].domain != domain) --at;
  if (at == 0) return -1;
  close(stack.open[at - 1], more);
  int depth = 0;
  for (std::uint32_t i = 0; i + 1 < at; ++i) depth += stack.open[i].domain == domain;
  memmove(stack.open + at - 1, stack.open + at, (stack.count - at) * sizeof(Open));
  --stack.count;
  return depth;
}

void end_one(std::uint64_t number, const sonde_arguments* more) {
  pthread_mutex_lock(&mutex);
  Started* const range = started && number ? &started[number % kMostStarted] : nullptr;
  if (range && range->number == number) stop(*range, more);
  pthread_mutex_unlock(&mutex);
}

}  // namespace

int pop(const Domain* domain) { return pop_one(domain, nullptr); }

int pop_with(const Domain* domain, const PayloadData* payloads, std::size_t count) {
  DecodedPayloads decoded;
  decode_payloads(*domain, payloads, count, false, &decoded);
  return pop_one(domain, &decoded.arguments);
}

std::uint64_t start(Domain* domain, const Event& event) {
  sonde_name name = {"", event.name};
  pthread_mutex_lock(&mutex);
  if (!started) {
    void* const memory = mmap(nullptr, kMostStarted * sizeof(Started), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) started = static_cast<Started*>(memory);
  }
  // A place is free again long before its turn comes; where it is not, the next one may be.
  std::uint64_t number = latest + 1;
  while (started && number < latest + kMostStarted && started[number % kMostStarted].number != 0) {
    ++number;
  }
  latest = number;
  Started* const range = started ? &started[number % kMostStarted] : nullptr;
  if (range && range->number == 0) {
    range->number = number;
    range->domain = domain;
    keep_event(event, &range->event, &range->extended);
    range->task.start = 0;
    if (event.name != 0) sonde_task_start(&range->task, &name, &domain->domain);
  }
  pthread_mutex_unlock(&mutex);
  return number;
}

void end(std::uint64_t number) { end_one(number, nullptr); }

void end_with(const Domain* domain, std::uint64_t number, const PayloadData* payloads,
              std::size_t count) {
  DecodedPayloads decoded;
  decode_payloads(*domain, payloads, count, false, &decoded);
  end_one(number, &decoded.arguments);
}

void mark(Domain* domain, const Event& event) {
  if (event.name == 0) return;
  sonde_name name = {"", event.name};
  if (!has_arguments(event)) return sonde_marker(&name, &domain->domain, 't');
  sonde_arguments arguments;
  list_arguments(*domain, event, &arguments);
  sonde_marker_with(&name, &domain->domain, 't', &arguments);
}

void close_open_ranges() {
  close_stack();
  pthread_mutex_lock(&mutex);
  for (std::uint64_t i = 0; started && i < kMostStarted && i <= latest; ++i) {
    if (started[i].number != 0) stop(started[i], nullptr);
  }
  pthread_mutex_unlock(&mutex);
}

Event named(const char* text) {
  Event event{};
  if (sonde_enabled()) event.name = sonde_intern(text ? text : "");
  return event;
}

Event named(const wchar_t* text) {
  if (!sonde_enabled()) return {};
  char utf8[kLongestText];
  narrow(text, utf8, sizeof utf8);
  return named(utf8);
}

Event read_event(const Domain& domain, const EventAttributes* given, sonde_arguments* extended) {
  Event event{};
  if (!given || !sonde_enabled()) return event;
  // An older program's structure may be shorter; what it has not is 0.
  EventAttributes attributes{};
  const std::size_t size = given->size < sizeof attributes ? given->size : sizeof attributes;
  memcpy(&attributes, given, size);
  switch (attributes.message_type) {
    case MessageType::Text:
      event = named(static_cast<const char*>(attributes.message));
      break;
    case MessageType::WideText:
      event = named(static_cast<const wchar_t*>(attributes.message));
      break;
    case MessageType::Registered: {
      const auto* const text = static_cast<const Text*>(attributes.message);
      // Registered while nothing was recorded: it has no number yet.
      if (text) event.name = text->name ? text->name : sonde_intern(text->text);
      break;
    }
    case MessageType::None:
      break;
  }
  if (event.name == 0) event = named("(no name)");
  event.category = attributes.category;
  event.has_color = attributes.color_type == 1;
  event.color = attributes.color;
  // A list of payloads (NVTX 3.1) has a type of its own and is no number.
  if (static_cast<std::int32_t>(attributes.payload_type) == kExtendedPayload) {
    DecodedPayloads decoded;
    const auto* const payloads = reinterpret_cast<const PayloadData*>(attributes.payload);
    const std::int32_t count = attributes.reserved > 0 ? attributes.reserved : 0;
    decode_payloads(domain, payloads, static_cast<std::size_t>(count), false, &decoded);
    *extended = decoded.arguments;
    if (extended->count > 0) event.extended = extended;
  }
  if (attributes.reserved == 0 && attributes.payload_type >= PayloadType::Unsigned64 &&
      attributes.payload_type <= PayloadType::Float) {
    event.payload_type = attributes.payload_type;
    event.payload = attributes.payload;
  }
  return event;
}

Event read_payloads(const Domain& domain, const PayloadData* payloads, std::size_t count,
                    sonde_arguments* extended) {
  Event event{};
  if (!sonde_enabled()) return event;
  DecodedPayloads decoded;
  decode_payloads(domain, payloads, count, true, &decoded);
  event = decoded.name != 0 ? Event{} : named("(no name)");
  if (decoded.name != 0) event.name = decoded.name;
  *extended = decoded.arguments;
  if (extended->count > 0) event.extended = extended;
  return event;
}

}  // namespace sonde::capture::nvtx
