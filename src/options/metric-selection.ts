import { readFileSync } from 'node:fs';
import type { MetricSelection } from '../metrics/selection.ts';
import { type FieldError, FieldErrors, summarize } from '../api/field-errors.ts';
import { isJsonObject } from '../encoding/json.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';

const METRIC_NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL_NAME = '[a-zA-Z_][a-zA-Z0-9_]*';
const metricName = new RegExp(`^${METRIC_NAME}$`);
const metricAndLabel = new RegExp(`^${METRIC_NAME},${LABEL_NAME}$`);

/** The only minor version whose hidden metrics may be asked for: the one before ours. */
const PREVIOUS_MINOR = '1.35';

type MetricFlags = Pick<CompletedOptions, 'showHiddenMetricsForVersion' | 'disabledMetrics' | 'allowMetricLabels' | 'allowMetricLabelsManifest'>;

/** What is wrong with the flags, in upstream's words and order (component-base/metrics/api/v1/config.go). The manifest itself is read at start. */
export function validateMetricFlags({
  showHiddenMetricsForVersion: version,
  disabledMetrics,
  allowMetricLabels,
  allowMetricLabelsManifest,
}: MetricFlags): string[] {
  const errors = new FieldErrors();
  const at = errors.at('metrics');
  if (version !== '' && version !== PREVIOUS_MINOR)
    at.at('showHiddenMetricsForVersion').invalid(version, `must be omitted or have the value '${PREVIOUS_MINOR}'; only the previous minor version is allowed`);
  const misnamed = disabledMetrics.find((name) => !metricName.test(name));
  if (misnamed !== undefined)
    at.at('disabledMetrics').invalid(disabledMetrics, `must be fully qualified metric names matching "^${METRIC_NAME}$", got ${JSON.stringify(misnamed)}`);
  validateLabels(allowMetricLabels, at.at('allowListMapping'));
  if (allowMetricLabels.size > 0 && allowMetricLabelsManifest !== '') {
    const written = {
      ...(version !== '' && { showHiddenMetricsForVersion: version }),
      ...(disabledMetrics.length > 0 && { disabledMetrics }),
      allowListMapping: Object.fromEntries(allowMetricLabels),
      allowListMappingManifest: allowMetricLabelsManifest,
    };
    at.invalid(written, 'cannot specify both allowListMapping and allowListMappingManifest');
  }
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
}

function validateLabels(labels: ReadonlyMap<string, string>, errors: FieldErrors): void {
  if ([...labels.keys()].some((key) => !metricAndLabel.test(key)))
    errors.invalid(
      Object.fromEntries(labels),
      `must have keys with format \`metricName,labelName\` where metricName matches "${METRIC_NAME}" and labelName matches "${LABEL_NAME}"`,
    );
}

/** Throws a CommandError where the manifest is not one. */
export async function openMetricSelection(options: MetricFlags): Promise<MetricSelection> {
  const labels = options.allowMetricLabelsManifest === '' ? options.allowMetricLabels : await readManifest(options.allowMetricLabelsManifest);
  const allowedValues = new Map<string, Map<string, Set<string>>>();
  for (const [key, values] of labels) {
    const [metric, label] = key.split(',') as [string, string];
    const ofMetric = allowedValues.get(metric) ?? new Map<string, Set<string>>();
    allowedValues.set(metric, ofMetric.set(label, new Set(values.split(','))));
  }
  return { disabled: new Set(options.disabledMetrics), allowedValues, showsHidden: options.showHiddenMetricsForVersion !== '' };
}

/** YAML that maps `metric,label` to `value,value`. */
async function readManifest(path: string): Promise<ReadonlyMap<string, string>> {
  const errors = new FieldErrors();
  const at = errors.at('metrics', 'allowListMappingManifest');
  try {
    const labels = await parseManifest(readFileSync(path, 'utf8'));
    validateLabels(labels, at);
    if (errors.isEmpty) return labels;
    const [{ field, body }] = errors.list.splice(0) as [FieldError];
    at.invalid(path, `invalid allow list mapping in manifest: [${field}: ${body}]`);
  } catch (error) {
    at.invalid(path, `failed to parse allow list manifest: ${(error as Error).message}`);
  }
  throw new CommandError(summarize(errors.list));
}

async function parseManifest(text: string): Promise<ReadonlyMap<string, string>> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  const value = parseYaml(text);
  if (!isJsonObject(value)) throw new Error('it must map "metric,label" to "value,value"');
  return new Map(
    Object.entries(value).map(([key, values]) => {
      if (typeof values === 'object') throw new Error(`what ${JSON.stringify(key)} maps to must be a string`);
      return [key, String(values)];
    }),
  );
}
