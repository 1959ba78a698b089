import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { complete } from './completion.ts';
import { parseFlags } from './flags/parser.ts';
import { openMetricSelection } from './metric-selection.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-metrics-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function manifest(content: string): string {
  const path = join(folder, 'manifest.yaml');
  writeFileSync(path, content);
  return path;
}

const optionsOf = (...flags: string[]) => complete(parseFlags(['--storage-backend=memory', ...flags]));

test('flags become a selection', async () => {
  const options = optionsOf(
    '--disabled-metrics=a,b',
    '--allow-metric-labels=m,x=1,2',
    '--allow-metric-labels="m,y=3"',
    '--show-hidden-metrics-for-version=1.35',
  );
  expect(await openMetricSelection(options)).toEqual({
    disabled: new Set(['a', 'b']),
    allowedValues: new Map([
      [
        'm',
        new Map([
          ['x', new Set(['1', '2'])],
          ['y', new Set(['3'])],
        ]),
      ],
    ]),
    showsHidden: true,
  });
  expect(options.warnings.filter((warning) => warning.includes('no effect'))).toEqual([]);
});

test('so does a manifest', async () => {
  const options = optionsOf(`--allow-metric-labels-manifest=${manifest('"m,x": "1,2"\n"m,y": ""\n"n,z": 3\n')}`);
  const { allowedValues } = await openMetricSelection(options);
  expect(allowedValues.get('m')!.get('x')).toEqual(new Set(['1', '2']));
  expect(allowedValues.get('m')!.get('y')).toEqual(new Set(['']));
  expect(allowedValues.get('n')!.get('z')).toEqual(new Set(['3']));
});

// Upstream documents this form, and refuses it.
test.each([
  [
    'allowListMapping:\n  "m,x": "1"\n',
    /^metrics\.allowListMappingManifest: Invalid value: ".*": failed to parse allow list manifest: what "allowListMapping" maps to must be a string$/,
  ],
  ['- a\n', /failed to parse allow list manifest: it must map/],
  [
    '"x y": z\n',
    /^metrics\.allowListMappingManifest: Invalid value: ".*": invalid allow list mapping in manifest: \[metrics\.allowListMappingManifest: Invalid value: \{"x y":"z"\}: must have keys with format `metricName,labelName` where metricName matches "\[a-zA-Z_:\]\[a-zA-Z0-9_:\]\*" and labelName matches "\[a-zA-Z_\]\[a-zA-Z0-9_\]\*"\]$/,
  ],
])('a manifest of %j is refused', async (content, message) => {
  await expect(openMetricSelection(optionsOf(`--allow-metric-labels-manifest=${manifest(content)}`))).rejects.toThrow(message);
});

test.each([
  [
    ['--disabled-metrics=a-b,c'],
    'metrics.disabledMetrics: Invalid value: ["a-b","c"]: must be fully qualified metric names matching "^[a-zA-Z_:][a-zA-Z0-9_:]*$", got "a-b"',
  ],
  [['--allow-metric-labels=a=c'], 'metrics.allowListMapping: Invalid value: {"a":"c"}: must have keys with format `metricName,labelName`'],
  [['--show-hidden-metrics-for-version=1.34'], 'metrics.showHiddenMetricsForVersion: Invalid value: "1.34": must be omitted or have the value \'1.35\''],
  [
    ['--allow-metric-labels=a,b=c', `--allow-metric-labels-manifest=${manifest('')}`],
    `metrics: Invalid value: {"allowListMapping":{"a,b":"c"},"allowListMappingManifest":"${join(folder, 'manifest.yaml')}"}: cannot specify both allowListMapping and allowListMappingManifest`,
  ],
])('%j is refused', (flags, message) => expect(() => optionsOf(...flags)).toThrow(message));
