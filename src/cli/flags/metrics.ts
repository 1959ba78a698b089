import { flag, flagSet } from './flag.ts';
import { file, string, stringToString, strings } from './types.ts';

const FILTERS = 'choosing metrics and labels';

export const metrics = flagSet('metrics', {
  'allow-metric-labels': flag(stringToString, 'Values that a label may take, others being shown as "unexpected": metric,label=value,value.', {
    later: FILTERS,
  }),
  'allow-metric-labels-manifest': flag(file, 'File with the same under allowListMapping.', { later: FILTERS }),
  'disabled-metrics': flag(strings, 'Metrics to leave out, comma separated, by their full names.', { later: FILTERS }),
  'show-hidden-metrics-for-version': flag(string, 'Show metrics that were hidden since this version, the previous minor one.', {
    noEffect: 'no metric is hidden',
  }),
});
