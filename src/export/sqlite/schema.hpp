#pragma once

#include <string_view>

namespace sonde {

// docs/sqlite.md describes all of it for users; a test runs the queries there.

inline constexpr std::string_view kSqliteTables = R"sql(
CREATE TABLE meta(key TEXT, value TEXT);
CREATE TABLE devices(id INTEGER, name TEXT, memory_bytes INTEGER, compute_major INTEGER,
  compute_minor INTEGER, multiprocessors INTEGER, max_threads_per_multiprocessor INTEGER,
  warp_size INTEGER);
CREATE TABLE losses(name TEXT, severity TEXT, sentence TEXT, count INTEGER, first_offset INTEGER,
  example TEXT);
CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE tracks(id INTEGER PRIMARY KEY, type TEXT NOT NULL, pid INTEGER, tid INTEGER,
  device INTEGER, sort_index INTEGER, process TEXT, labels TEXT, name TEXT);
CREATE TABLE slice(id INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,
  name_id INTEGER NOT NULL, track_id INTEGER NOT NULL, parent_id INTEGER, depth INTEGER NOT NULL,
  kind_id INTEGER NOT NULL);
CREATE TABLE slice_category(slice_id INTEGER PRIMARY KEY, category_id INTEGER NOT NULL);
CREATE TABLE operator_facts(slice_id INTEGER PRIMARY KEY, external_id INTEGER, sequence INTEGER,
  forward_thread INTEGER, shapes_id INTEGER, types_id INTEGER, strides_id INTEGER,
  concrete_id INTEGER, stack_id INTEGER, module_id INTEGER, position INTEGER,
  is_annotation INTEGER NOT NULL);
CREATE TABLE launch_facts(slice_id INTEGER PRIMARY KEY, correlation INTEGER, external_id INTEGER,
  cbid INTEGER);
CREATE TABLE device_facts(slice_id INTEGER PRIMARY KEY, correlation INTEGER, external_id INTEGER,
  stream INTEGER, device INTEGER, context INTEGER, bytes INTEGER, registers INTEGER,
  shared_memory INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER,
  block_y INTEGER, block_z INTEGER, blocks_per_sm REAL, warps_per_sm REAL, occupancy_percent REAL,
  bandwidth_gb_per_s REAL);
CREATE TABLE python_facts(slice_id INTEGER PRIMARY KEY, python_id INTEGER, parent_id INTEGER,
  module_id INTEGER);
CREATE TABLE collective_facts(slice_id INTEGER PRIMARY KEY, collective TEXT, dtype TEXT,
  group_name TEXT, group_description TEXT, group_ranks TEXT, in_elements INTEGER,
  out_elements INTEGER, group_size INTEGER, sequence INTEGER);
CREATE TABLE arguments(owner TEXT NOT NULL, owner_id INTEGER NOT NULL, key_id INTEGER NOT NULL,
  value);
CREATE TABLE links(kind TEXT NOT NULL, from_id INTEGER NOT NULL, to_id INTEGER NOT NULL);
CREATE TABLE markers(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, track_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL, scope TEXT NOT NULL, category_id INTEGER);
CREATE TABLE counters(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, track_id INTEGER NOT NULL,
  counter_id INTEGER NOT NULL, series_id INTEGER, value REAL);
CREATE TABLE allocations(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL,
  track_id INTEGER NOT NULL, address INTEGER, bytes INTEGER NOT NULL, total_allocated INTEGER,
  total_reserved INTEGER, device_type INTEGER, device INTEGER, out_of_memory INTEGER NOT NULL,
  pool_id INTEGER, tag_id INTEGER, stack_id INTEGER);
CREATE TABLE stacks(id INTEGER PRIMARY KEY, caller_id INTEGER, function_id INTEGER NOT NULL,
  file_id INTEGER, line INTEGER);
CREATE TABLE sample_types(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,
  timed INTEGER NOT NULL);
CREATE TABLE samples(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, track_id INTEGER NOT NULL,
  stack_id INTEGER, type_id INTEGER NOT NULL, weight REAL);
CREATE TABLE cost_types(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL);
CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT, module TEXT,
  line INTEGER, calls INTEGER, primitive_calls INTEGER, qualified_name TEXT);
CREATE TABLE function_costs(function_id INTEGER NOT NULL, type_id INTEGER NOT NULL,
  self INTEGER NOT NULL, total INTEGER NOT NULL);
CREATE TABLE calls(id INTEGER PRIMARY KEY, caller_id INTEGER NOT NULL, callee_id INTEGER NOT NULL,
  line INTEGER, calls INTEGER, primitive_calls INTEGER);
CREATE TABLE call_costs(call_id INTEGER NOT NULL, type_id INTEGER NOT NULL, self INTEGER NOT NULL,
  total INTEGER NOT NULL);
CREATE TABLE function_lines(id INTEGER PRIMARY KEY, function_id INTEGER NOT NULL, file TEXT,
  line INTEGER, hits INTEGER);
CREATE TABLE line_costs(line_id INTEGER NOT NULL, type_id INTEGER NOT NULL, self INTEGER NOT NULL);
CREATE TABLE memory_sites(id INTEGER PRIMARY KEY, stack_id INTEGER, native INTEGER NOT NULL,
  allocations INTEGER NOT NULL, allocated_bytes INTEGER NOT NULL, frees INTEGER NOT NULL,
  freed_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL);
CREATE TABLE memory_lines(id INTEGER PRIMARY KEY, file TEXT, function TEXT, function_line INTEGER,
  line INTEGER, hits INTEGER, bytes INTEGER, increment_bytes INTEGER, peak_bytes INTEGER);
CREATE TABLE object_snapshots(id INTEGER PRIMARY KEY, label TEXT, time_ns INTEGER NOT NULL);
CREATE TABLE object_types(snapshot_id INTEGER NOT NULL, type TEXT NOT NULL, count INTEGER NOT NULL,
  bytes INTEGER NOT NULL);
)sql";

inline constexpr std::string_view kSqliteIndices = R"sql(
CREATE INDEX slice_by_track ON slice(track_id, start_ns);
CREATE INDEX slice_by_name ON slice(name_id);
CREATE INDEX slice_by_parent ON slice(parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX arguments_by_owner ON arguments(owner_id, owner);
CREATE INDEX links_by_from ON links(from_id);
CREATE INDEX links_by_to ON links(to_id);
CREATE INDEX counters_by_name ON counters(counter_id, time_ns);
CREATE INDEX samples_by_stack ON samples(stack_id);
)sql";

inline constexpr std::string_view kSqliteViews = R"sql(
CREATE VIEW slices AS
SELECT s.id, s.start_ns, s.duration_ns, s.start_ns + s.duration_ns AS end_ns, n.text AS name,
  k.name AS kind, c.text AS category, s.track_id, t.process, t.name AS track, t.device, s.parent_id,
  s.depth
FROM slice s JOIN strings n ON n.id = s.name_id JOIN kinds k ON k.id = s.kind_id
  JOIN tracks t ON t.id = s.track_id LEFT JOIN slice_category sc ON sc.slice_id = s.id
  LEFT JOIN strings c ON c.id = sc.category_id;

CREATE VIEW slice_arguments AS
SELECT a.owner_id AS slice_id, k.text AS key, a.value
FROM arguments a JOIN strings k ON k.id = a.key_id WHERE a.owner = 'slice';

CREATE VIEW counter_values AS
SELECT c.id, c.time_ns, n.text AS counter, s.text AS series, c.value, t.process, c.track_id
FROM counters c JOIN strings n ON n.id = c.counter_id LEFT JOIN strings s ON s.id = c.series_id
  JOIN tracks t ON t.id = c.track_id;

CREATE VIEW frames AS
SELECT f.id, f.caller_id, n.text AS function, p.text AS file, f.line
FROM stacks f JOIN strings n ON n.id = f.function_id LEFT JOIN strings p ON p.id = f.file_id;

CREATE VIEW memory_places AS
SELECT p.text AS file, f.line, n.text AS function, sum(m.allocations) AS allocations,
  sum(m.allocated_bytes) AS allocated_bytes, sum(m.allocated_bytes - m.freed_bytes) AS net_bytes,
  sum(m.peak_bytes) AS peak_bytes
FROM memory_sites m JOIN stacks f ON f.id = m.stack_id JOIN strings n ON n.id = f.function_id
  LEFT JOIN strings p ON p.id = f.file_id
GROUP BY f.file_id, f.line, f.function_id ORDER BY peak_bytes DESC;

CREATE VIEW steps AS
SELECT s.id, n.text AS name, s.start_ns, s.duration_ns, s.start_ns + s.duration_ns AS end_ns,
  s.track_id
FROM slice s JOIN strings n ON n.id = s.name_id
WHERE s.kind_id = (SELECT id FROM kinds WHERE name = 'step') ORDER BY s.start_ns;

CREATE VIEW kernels AS
SELECT n.text AS name, t.device, count(*) AS calls, sum(s.duration_ns) AS total_ns,
  avg(s.duration_ns) AS mean_ns, min(s.duration_ns) AS min_ns, max(s.duration_ns) AS max_ns
FROM slice s JOIN strings n ON n.id = s.name_id JOIN tracks t ON t.id = s.track_id
WHERE s.kind_id = (SELECT id FROM kinds WHERE name = 'kernel')
GROUP BY s.name_id, t.device ORDER BY total_ns DESC;

CREATE VIEW operators AS
SELECT n.text AS name, count(*) AS calls, sum(s.duration_ns) AS total_ns,
  sum(s.duration_ns - coalesce((SELECT sum(c.duration_ns) FROM slice c WHERE c.parent_id = s.id), 0))
    AS self_ns,
  sum(coalesce((SELECT sum(d.duration_ns) FROM links l JOIN links m ON m.from_id = l.to_id
      AND m.kind = 'launch_to_device' JOIN slice d ON d.id = m.to_id
      WHERE l.from_id = s.id AND l.kind = 'operator_to_launch'), 0)) AS device_self_ns
FROM slice s JOIN strings n ON n.id = s.name_id
WHERE s.kind_id IN (SELECT id FROM kinds WHERE name IN ('operator', 'operator inner', 'user range',
  'communication', 'data loader', 'forward', 'backward', 'optimizer'))
GROUP BY s.name_id ORDER BY device_self_ns DESC, self_ns DESC;
)sql";

}  // namespace sonde
