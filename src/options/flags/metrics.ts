import { flag, flagSet } from './flag.ts';
import { file, string, stringToString, strings } from './types.ts';

export const metrics = flagSet('metrics', {
  'allow-metric-labels': flag(stringToString, 'Values that a label may take, others being shown as "unexpected": metric,label=value,value.'),
  'allow-metric-labels-manifest': flag(file, 'YAML file that maps the same: "metric,label": "value,value".'),
  'disabled-metrics': flag(strings, 'Metrics to leave out, comma separated, by their full names.'),
  'show-hidden-metrics-for-version': flag(string, 'Show metrics that were hidden since this version, the previous minor one.'),
});
