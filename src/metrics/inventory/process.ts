import { counter, gauge } from '../declaration.ts';

/** The process, its build and its metrics themselves (component-base/metrics, component-base/version). */
export const processMetrics = {
  cardinality_enforcement_unexpected_categorizations_total: counter('ALPHA', 'Label values that were shown as "unexpected" because they are not allowed.'),
  disabled_metrics_total: counter('BETA', 'Metrics that are left out because a flag says so.'),
  hidden_metrics_total: counter('BETA', 'Metrics that are left out because they are deprecated or disabled.'),
  kubernetes_build_info: gauge('BETA', 'Always 1; the labels say which build runs, and where.', [
    'major',
    'minor',
    'git_version',
    'git_commit',
    'git_tree_state',
    'build_date',
    'go_version',
    'compiler',
    'platform',
  ]),
  kubernetes_feature_enabled: gauge('BETA', 'Whether a feature gate is on, by name and stage.', ['name', 'stage']),
  process_cpu_seconds_total: counter('ALPHA', 'Processor seconds used, by user and system together.'),
  process_max_fds: gauge('ALPHA', 'The most file descriptors that may be open.', [], { isPerProcess: true }),
  process_network_receive_bytes_total: counter('ALPHA', 'Bytes that the host received over IP, as the process sees it.'),
  process_network_transmit_bytes_total: counter('ALPHA', 'Bytes that the host sent over IP, as the process sees it.'),
  process_open_fds: gauge('ALPHA', 'Open file descriptors.', [], { isPerProcess: true }),
  process_resident_memory_bytes: gauge('ALPHA', 'Resident memory, in bytes.', [], { isPerProcess: true }),
  process_start_time_seconds: gauge('ALPHA', 'Start time of the process, in seconds since the Unix epoch.'),
  process_virtual_memory_bytes: gauge('ALPHA', 'Virtual memory, in bytes.', [], { isPerProcess: true }),
  process_virtual_memory_max_bytes: gauge('ALPHA', 'The most virtual memory that there may be, in bytes.', [], { isPerProcess: true }),
  registered_metrics_total: counter('BETA', 'Metrics there are, by stability and the version that deprecated them.', ['stability_level', 'deprecated_version']),
  version_info: gauge('ALPHA', 'Always 1: the version of the binary, the one it emulates, and the oldest it is compatible with.', [
    'component',
    'binary',
    'emulation',
    'min_compat',
  ]),
};
