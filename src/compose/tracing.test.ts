import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readTracingConfiguration } from './tracing.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-tracing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, apiVersion = 'apiserver.config.k8s.io/v1beta1') {
  const path = join(folder, 'tracing.yaml');
  writeFileSync(path, `apiVersion: ${apiVersion}\nkind: TracingConfiguration\n${text}`);
  return readTracingConfiguration(path);
}

test.each(['v1', 'v1beta1', 'v1alpha1'])('%s', async (version) => {
  expect(await read('endpoint: dns:///collector:4317\nsamplingRatePerMillion: 100\n', `apiserver.config.k8s.io/${version}`)).toMatchObject({
    endpoint: 'dns:///collector:4317',
    samplingRatePerMillion: 100,
  });
});

test.each([
  [
    'endpoint: "localhost:x"\nsamplingRatePerMillion: -1\n',
    'failed to validate tracing configuration: [samplingRatePerMillion: Invalid value: -1: sampling rate must be positive, endpoint: Invalid value: "dns://localhost:x": parse "dns://localhost:x": invalid port ":x" after host]',
  ],
  [
    'samplingRatePerMillion: 2000000\n',
    'failed to validate tracing configuration: samplingRatePerMillion: Invalid value: 2000000: sampling rate per million must be less than or equal to one million',
  ],
  [
    'endpoint: http://x\n',
    'failed to validate tracing configuration: endpoint: Invalid value: "http://x": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md',
  ],
  ['bogus: 1\n', 'failed to read tracing config: unable to decode tracing configuration data: strict decoding error: unknown field "bogus"'],
])('%j is refused', async (text, message) => await expect(read(text)).rejects.toThrow(message));

test('so is another group', async () => {
  await expect(read('', 'apiserver.k8s.io/v1beta1')).rejects.toThrow('no kind "TracingConfiguration" is registered for version "apiserver.k8s.io/v1beta1"');
});
