#include <sonde/sonde.h>

int main(void) {
  static sonde_name name = SONDE_NAME_INIT("name");
  static sonde_domain domain = SONDE_DOMAIN_INIT("domain");
  static sonde_counter counter = SONDE_COUNTER_INIT("counter", NULL);
  sonde_scope scope;
  sonde_task task;
  sonde_arguments arguments;
  char path[100];
  SONDE_SCOPE("main");
  SONDE_SCOPE_OF("inner", &domain, SONDE_KIND_MODULE);
  sonde_set_limit(1 << 20, SONDE_LIMIT_KEEP_LAST);
  sonde_start("folder");
  sonde_schedule(0, 0, 0, 1, 1);
  sonde_step();
  sonde_last_step();
  sonde_pause();
  sonde_resume();
  sonde_flush();
  sonde_dump_on_signal(0);
  sonde_dump(NULL);
  sonde_no_arguments(&arguments);
  sonde_add_i64(&arguments, "a", 1);
  sonde_add_f64(&arguments, "b", 1.5);
  sonde_add_text(&arguments, "c", "text");
  sonde_begin(&scope, &name, &domain, SONDE_KIND_OPERATOR);
  sonde_set_id(&scope, sonde_new_id());
  sonde_end(&scope);
  sonde_begin_id(&scope, sonde_intern("made"), NULL, SONDE_KIND_API);
  sonde_end_with(&scope, &arguments);
  sonde_task_start(&task, &name, &domain);
  sonde_task_stop(&task);
  sonde_frame_start(&task, &name, &domain);
  sonde_task_stop_with(&task, &arguments);
  sonde_event_start(&task, &name);
  sonde_task_stop(&task);
  sonde_async_begin(&name, &domain, 1);
  sonde_async_end(&name, &domain, 1);
  sonde_counter_set(&counter, 1);
  sonde_counter_add(&counter, 1);
  sonde_counter_set_f64(&counter, 1.5);
  sonde_marker(&name, &domain, 'p');
  sonde_marker_with(&name, &domain, 'g', &arguments);
  sonde_allocated(SONDE_DEVICE_GPU, 0, &domain, path, 8, &name);
  sonde_freed(SONDE_DEVICE_GPU, 0, &domain, path, 8, NULL);
  sonde_device_work(&name, &domain, SONDE_KIND_KERNEL, 0, 7, sonde_ticks(), sonde_ticks_from_ns(1),
                    1);
  sonde_link(1, 2);
  sonde_name_thread("thread");
  sonde_name_process("process");
  sonde_stop();
  return sonde_path(path, sizeof path) && sonde_enabled();
}
