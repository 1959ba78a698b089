import { flag, flagSet } from './flag.ts';
import { bool, duration, file, float32, int, string } from './types.ts';

export const auditing = flagSet('auditing', {
  'audit-log-batch-buffer-size': flag(int, 'Events that may wait to be written, in batch mode.', { default: 10_000 }),
  'audit-log-batch-max-size': flag(int, 'Events in a batch at most, in batch mode.', { default: 1 }),
  'audit-log-batch-max-wait': flag(duration, 'How long a batch may wait to be filled, in batch mode.'),
  'audit-log-batch-throttle-burst': flag(int, 'Batches that may be written at once after a pause, in batch mode.'),
  'audit-log-batch-throttle-enable': flag(bool, 'Limit how often batches are written, in batch mode.'),
  'audit-log-batch-throttle-qps': flag(float32, 'Batches a second on average at most, in batch mode.'),
  'audit-log-compress': flag(bool, 'Compress rotated log files with gzip.'),
  'audit-log-format': flag(string, 'Form of a logged event: json, or legacy (one line of text).', { default: 'json' }),
  'audit-log-maxage': flag(int, 'Days to keep rotated log files. 0: no limit.', { default: 366 }),
  'audit-log-maxbackup': flag(int, 'Rotated log files to keep. 0: no limit.', { default: 100 }),
  'audit-log-maxsize': flag(int, 'Megabytes at which the log file is rotated. 0: never.', { default: 100 }),
  'audit-log-mode': flag(string, 'How events reach the log: batch (in the background), blocking, or blocking-strict (a failure to log fails the request).', {
    default: 'blocking',
  }),
  'audit-log-path': flag(string, "File to log events to; '-' for standard output."),
  'audit-log-truncate-enabled': flag(bool, 'Truncate events and batches that are too large for the log.'),
  'audit-log-truncate-max-batch-size': flag(int, 'Bytes of a batch at most; larger ones are split.', { default: 10_485_760 }),
  'audit-log-truncate-max-event-size': flag(int, 'Bytes of an event at most; of larger ones request and response are left out.', { default: 102_400 }),
  'audit-log-version': flag(string, 'API version of logged events.', { default: 'audit.k8s.io/v1' }),
  'audit-policy-file': flag(file, 'File that says which requests are audited, and how much of them.'),
  'audit-webhook-batch-buffer-size': flag(int, 'Events that may wait to be sent, in batch mode.', { default: 10_000 }),
  'audit-webhook-batch-initial-backoff': flag(duration, 'Pause before a failed sending is tried again.', {
    default: 10_000,
    deprecated: 'Deprecated, use --audit-webhook-initial-backoff instead.',
    isHidden: true,
  }),
  'audit-webhook-batch-max-size': flag(int, 'Events in a batch at most, in batch mode.', { default: 400 }),
  'audit-webhook-batch-max-wait': flag(duration, 'How long a batch may wait to be filled, in batch mode.', { default: 30_000 }),
  'audit-webhook-batch-throttle-burst': flag(int, 'Batches that may be sent at once after a pause, in batch mode.', { default: 15 }),
  'audit-webhook-batch-throttle-enable': flag(bool, 'Limit how often batches are sent, in batch mode.', { default: true }),
  'audit-webhook-batch-throttle-qps': flag(float32, 'Batches a second on average at most, in batch mode.', { default: 10 }),
  'audit-webhook-config-file': flag(file, 'Kubeconfig of the server that events are sent to.'),
  'audit-webhook-initial-backoff': flag(duration, 'Pause before a failed sending is tried again.', { default: 10_000 }),
  'audit-webhook-mode': flag(string, 'How events are sent: batch (in the background), blocking, or blocking-strict (a failure to send fails the request).', {
    default: 'batch',
  }),
  'audit-webhook-truncate-enabled': flag(bool, 'Truncate events and batches that are too large to send.'),
  'audit-webhook-truncate-max-batch-size': flag(int, 'Bytes of a batch at most; larger ones are split.', { default: 10_485_760 }),
  'audit-webhook-truncate-max-event-size': flag(int, 'Bytes of an event at most; of larger ones request and response are left out.', {
    default: 102_400,
  }),
  'audit-webhook-version': flag(string, 'API version of sent events.', { default: 'audit.k8s.io/v1' }),
});
