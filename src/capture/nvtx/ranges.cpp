#include "capture/nvtx/ranges.hpp"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

namespace sonde::capture::nvtx {
namespace {

struct Open {
  sonde_scope scope;
  Domain* domain;
  Event event;
};

// What a thread has pushed. The first ones lie with the thread, more in memory of their own.
struct Stack {
  Open* open;
  std::uint32_t count;
  std::uint32_t room;
};
constexpr std::uint32_t kFirstRoom = 64;  // a page
__thread Stack stack;

// Ranges from a start to an end, by number. 0 is no range.
struct Started {
  sonde_task task;
  Domain* domain;
  Event event;
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
  return event.category != 0 || event.has_color || event.payload_type != PayloadType::None;
}

void add_payload(sonde_arguments* arguments, const Event& event) {
  const std::uint64_t bits = event.payload;
  const auto low = static_cast<std::uint32_t>(bits);
  double real = 0;
  float small = 0;
  switch (event.payload_type) {
    case PayloadType::Unsigned64:
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

void list_arguments(const Domain& domain, const Event& event, sonde_arguments* out) {
  sonde_no_arguments(out);
  add_payload(out, event);
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

void close(Open& open) {
  if (!has_arguments(open.event)) return sonde_end(&open.scope);
  sonde_arguments arguments;
  list_arguments(*open.domain, open.event, &arguments);
  sonde_end_with(&open.scope, &arguments);
}

void close_stack() {
  while (stack.count > 0) close(stack.open[--stack.count]);
}

void stop(Started& range) {
  if (has_arguments(range.event)) {
    sonde_arguments arguments;
    list_arguments(*range.domain, range.event, &arguments);
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
  open.event = event;
  sonde_begin_id(&open.scope, event.name, &domain->domain, SONDE_KIND_RANGE);
  return depth;
}

int pop(const Domain* domain) {
  // Domains nest each for itself.
  std::uint32_t at = stack.count;
  while (at > 0 && stack.open[at - 1].domain != domain) --at;
  if (at == 0) return -1;
  close(stack.open[at - 1]);
  int depth = 0;
  for (std::uint32_t i = 0; i + 1 < at; ++i) depth += stack.open[i].domain == domain;
  memmove(stack.open + at - 1, stack.open + at, (stack.count - at) * sizeof(Open));
  --stack.count;
  return depth;
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
    range->event = event;
    range->task.start = 0;
    if (event.name != 0) sonde_task_start(&range->task, &name, &domain->domain);
  }
  pthread_mutex_unlock(&mutex);
  return number;
}

void end(std::uint64_t number) {
  pthread_mutex_lock(&mutex);
  Started* const range = started && number ? &started[number % kMostStarted] : nullptr;
  if (range && range->number == number) stop(*range);
  pthread_mutex_unlock(&mutex);
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
    if (started[i].number != 0) stop(started[i]);
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

Event read_event(const EventAttributes* given) {
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
  if (attributes.reserved == 0 && attributes.payload_type >= PayloadType::Unsigned64 &&
      attributes.payload_type <= PayloadType::Float) {
    event.payload_type = attributes.payload_type;
    event.payload = attributes.payload;
  }
  return event;
}

}  // namespace sonde::capture::nvtx
