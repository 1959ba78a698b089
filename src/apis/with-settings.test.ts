import { expect, test } from 'vitest';
import { ListTurns, settled } from '../util/pending.ts';
import { pods } from './core/pod/pod.ts';
import type { Pod } from './facts/types/core-v1.ts';
import { DEFAULT_SETTINGS } from './features.ts';
import { withSettings } from './with-settings.ts';

test('the defaults of a large object take turns, each item once', async () => {
  const containers = Array.from({ length: 30_000 }, (_, index) => ({ name: `c${index}`, image: `i${index}`, resources: {} }));
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers }, status: {} } as unknown as Pod;
  const served = withSettings(pods, DEFAULT_SETTINGS, () => new Date()).served[0]!;
  const turns = new ListTurns();
  let runs = 0;
  await settled(() => {
    runs++;
    turns.begin();
    served.default!(pod, { turns });
  });
  expect(runs).toBeGreaterThan(1);
  expect(pod.spec.containers!.every(({ imagePullPolicy }) => imagePullPolicy === 'Always')).toBe(true);
});
