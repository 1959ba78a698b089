import { expect, test } from 'vitest';
import { convertCpuProfile } from './cpu-profile.ts';
import { convertHeapProfile } from './heap-profile.ts';
import { PprofProfile } from './pprof-profile.ts';
import { decodePprof } from './test-pprof.ts';

const frame = (functionName: string, line = 0, url = 'file:///app/dist/command.cjs') => ({
  functionName,
  scriptId: '1',
  url,
  lineNumber: line,
  columnNumber: 6,
});

test('samples of one stack are added up, values and labels survive', () => {
  const profile = new PprofProfile({
    sampleTypes: [{ type: 'cpu', unit: 'nanoseconds' }],
    periodType: { type: 'cpu', unit: 'nanoseconds' },
    period: 10,
    timeMs: 1,
  });
  profile.add([{ name: 'inner' }, { name: 'outer' }], [2 ** 40]);
  profile.add([{ name: 'inner' }, { name: 'outer' }], [5]);
  profile.add([{ name: 'outer' }], [1], [['verb', 'get']]);
  expect(decodePprof(profile.encode())).toEqual({
    sampleTypes: ['cpu/nanoseconds'],
    comments: [],
    period: 10,
    durationMs: 0,
    samples: [
      { stack: ['inner', 'outer'], values: [2 ** 40 + 5] },
      { stack: ['outer'], values: [1] },
    ],
  });
});

test('a CPU profile of V8: idle time is none, functions without a name are known by their place', () => {
  const nodes = [
    { id: 1, callFrame: frame('(root)', -1, ''), children: [2, 4] },
    { id: 2, callFrame: frame('serve'), children: [3] },
    { id: 3, callFrame: frame('', 16) },
    { id: 4, callFrame: frame('(idle)', -1, '') },
  ];
  const profile = convertCpuProfile({ nodes, startTime: 0, endTime: 50_000, samples: [3, 4, 3, 2], timeDeltas: [10_000, 10_000, 5_000, -1] }, 0);
  expect(decodePprof(profile.encode())).toMatchObject({
    sampleTypes: ['samples/count', 'cpu/nanoseconds'],
    durationMs: 50,
    samples: [
      { stack: ['(anonymous command.cjs:17:7)', 'serve'], values: [2, 15_000_000] },
      { stack: ['serve'], values: [1, 0] },
    ],
  });
});

test('a heap profile of V8', () => {
  const leaf = { id: 2, callFrame: frame('decode'), selfSize: 300, children: [] };
  const head = { id: 1, callFrame: frame('(root)', -1, ''), selfSize: 0, children: [leaf] };
  const samples = [
    { nodeId: 2, size: 100 },
    { nodeId: 2, size: 200 },
  ];
  const profile = convertHeapProfile({ head, samples }, 'allocs', { timeMs: 0, durationMs: 1 });
  expect(decodePprof(profile.encode())).toMatchObject({
    sampleTypes: ['alloc_objects/count', 'alloc_space/bytes'],
    samples: [{ stack: ['decode'], values: [2, 300] }],
  });
});
