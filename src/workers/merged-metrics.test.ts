import { expect, test } from 'vitest';
import { mergeMetrics } from './merged-metrics.ts';

const page = (requests: number, seconds: number, objects: number, started: number): string => `# HELP apiserver_request_total [STABLE] Requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",verb="GET"} ${requests}
apiserver_request_total{code="404",verb="GET"} 1
# HELP apiserver_storage_objects [STABLE] Objects.
# TYPE apiserver_storage_objects gauge
apiserver_storage_objects{resource="pods"} ${objects}
# HELP process_cpu_seconds_total CPU.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total ${seconds}
# HELP process_start_time_seconds Start.
# TYPE process_start_time_seconds gauge
process_start_time_seconds ${started}
`;

const PRIMARY = `# HELP process_cpu_seconds_total CPU.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 0.25
# HELP process_resident_memory_bytes Memory.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes 4096
# HELP apiserver_storage_size_bytes [STABLE] File.
# TYPE apiserver_storage_size_bytes gauge
apiserver_storage_size_bytes 512
`;

test('counts are added up, what all see alike is shown once, and each process is named', async () => {
  const merged = await mergeMetrics([{ worker: 0, text: page(2, 0.5, 7, 100) }, { worker: 1, text: page(3, 1.5, 8, 90) }, { text: PRIMARY }]);
  expect(merged.split('\n').filter((line) => !line.startsWith('#') && line !== '')).toEqual([
    'apiserver_request_total{code="200",verb="GET"} 5',
    'apiserver_request_total{code="404",verb="GET"} 2',
    'apiserver_storage_objects{resource="pods"} 8',
    'process_cpu_seconds_total 2.25',
    'process_start_time_seconds 100',
    'process_resident_memory_bytes 4096',
    'apiserver_storage_size_bytes 512',
    'binnacle_worker_requests_total{worker="0"} 3',
    'binnacle_worker_requests_total{worker="1"} 4',
    'binnacle_worker_cpu_seconds_total{worker="0"} 0.5',
    'binnacle_worker_cpu_seconds_total{worker="1"} 1.5',
    'binnacle_worker_resident_memory_bytes{worker="0"} 0',
    'binnacle_worker_resident_memory_bytes{worker="1"} 0',
    'binnacle_primary_cpu_seconds_total 0.25',
    'binnacle_primary_resident_memory_bytes 4096',
  ]);
  expect(merged.match(/# TYPE apiserver_request_total/g)).toHaveLength(1);
});
