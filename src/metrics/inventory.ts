import type { Declarations } from './declaration.ts';
import { admissionMetrics } from './inventory/admission.ts';
import { aggregatorMetrics } from './inventory/aggregator.ts';
import { auditMetrics } from './inventory/audit.ts';
import { authenticationMetrics } from './inventory/authentication.ts';
import { authorizationMetrics } from './inventory/authorization.ts';
import { binnacleMetrics } from './inventory/binnacle.ts';
import { clientsMetrics } from './inventory/clients.ts';
import { encryptionMetrics } from './inventory/encryption.ts';
import { extensionsMetrics } from './inventory/extensions.ts';
import { flowControlMetrics } from './inventory/flow-control.ts';
import { healthMetrics } from './inventory/health.ts';
import { processMetrics } from './inventory/process.ts';
import { requestsMetrics } from './inventory/requests.ts';
import { resourcesMetrics } from './inventory/resources.ts';
import { storageMetrics } from './inventory/storage.ts';

/** All that `/metrics` shows. What upstream has and Binnacle has not is in docs/metrics.md, with the reason; inventory.test.ts compares both with the facts. */
export const INVENTORY = {
  ...requestsMetrics,
  ...flowControlMetrics,
  ...authenticationMetrics,
  ...authorizationMetrics,
  ...auditMetrics,
  ...admissionMetrics,
  ...resourcesMetrics,
  ...storageMetrics,
  ...encryptionMetrics,
  ...extensionsMetrics,
  ...aggregatorMetrics,
  ...clientsMetrics,
  ...processMetrics,
  ...binnacleMetrics,
} satisfies Declarations;

const { process_start_time_seconds } = processMetrics;

/** All that `/metrics/slis` shows. */
export const INDICATORS = { ...healthMetrics, process_start_time_seconds } satisfies Declarations;
