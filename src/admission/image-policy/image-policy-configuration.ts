import type { RemoteEndpoint } from '../../client/kubeconfig.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { formatDuration, formatNanoseconds } from '../../util/duration.ts';
import { isJsonObject, ownValue } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';

/** How images are reviewed elsewhere. */
export interface ImagePolicyConfiguration {
  endpoint: RemoteEndpoint;
  /** How long an answer is remembered; 0: not at all. */
  allowTtlMs: number;
  denyTtlMs: number;
  /** Before the second try. */
  retryDelayMs: number;
  /** What counts where there is no answer. */
  isAllowedOnFailure: boolean;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const NANOSECOND_MS = 1e-6;

interface DurationRule {
  unitMs: number;
  minMs: number;
  maxMs: number;
  defaultMs: number;
}

const RETRY: DurationRule = { unitMs: 1, minMs: NANOSECOND_MS, maxMs: 5 * MINUTE_MS, defaultMs: 500 };
const ALLOW: DurationRule = { unitMs: SECOND_MS, minMs: SECOND_MS, maxMs: 30 * MINUTE_MS, defaultMs: 5 * MINUTE_MS };
const DENY: DurationRule = { ...ALLOW, defaultMs: 30 * SECOND_MS };

/** The file has neither a kind nor a version, and fields that nobody knows are passed over. Throws in upstream's words (plugin/pkg/admission/imagepolicy/config.go). */
export async function readImagePolicy(text: string): Promise<ImagePolicyConfiguration> {
  const { parseYaml } = await import('../../encoding/yaml.ts');
  const file = parseYaml(text);
  const value = isJsonObject(file) ? (ownValue(file, 'imagePolicy') ?? {}) : {};
  if (!isJsonObject(value)) throw mismatch(value, 'imagePolicy', 'imagepolicy.imagePolicyWebhookConfig');
  const times = {
    retryDelayMs: durationOf(value, 'retryBackoff', RETRY),
    allowTtlMs: durationOf(value, 'allowTTL', ALLOW),
    denyTtlMs: durationOf(value, 'denyTTL', DENY),
  };
  const isAllowedOnFailure = ownValue(value, 'defaultAllow') ?? false;
  if (typeof isAllowedOnFailure !== 'boolean') throw mismatch(isAllowedOnFailure, 'imagePolicy.defaultAllow', 'bool');
  const path = ownValue(value, 'kubeConfigFile') ?? '';
  if (typeof path !== 'string') throw mismatch(path, 'imagePolicy.kubeConfigFile', 'string');
  if (path === '') throw new Error('invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable');
  return { endpoint: await loadKubeconfig(path), ...times, isAllowedOnFailure };
}

/** 0, or nothing, is the default, and -1 none at all. */
function durationOf(config: JsonObject, field: string, { unitMs, minMs, maxMs, defaultMs }: DurationRule): number {
  const value = ownValue(config, field) ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw mismatch(value, `imagePolicy.${field}`, 'time.Duration');
  if (value === -1) return 0;
  if (value === 0) return defaultMs;
  const durationMs = value * unitMs;
  if (durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const shown = minMs === NANOSECOND_MS ? formatNanoseconds(1n) : formatDuration(minMs);
  throw new Error(`valid value is between ${shown} and ${formatDuration(maxMs)}, got ${formatDuration(durationMs)}`);
}

const mismatch = (value: Json, field: string, goType: string): Error =>
  new Error(`json: cannot unmarshal ${goKind(value)} into Go struct field imagePolicyWebhookConfig.${field} of type ${goType}`);

function goKind(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
