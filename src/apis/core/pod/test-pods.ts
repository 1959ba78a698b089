import { testWrite } from '../../testing/kind-tester.ts';
import { decode } from '../../../schema/decode.ts';
import { normalize } from '../../../schema/normalize.ts';
import type { RequestContext } from '../../../registry/request-context.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import type { JsonObject } from '../../../encoding/json-types.ts';
import type { Pod } from '../../facts/types/core-v1.ts';
import { pods } from './pod.ts';

/** Pods for tests, as the pipeline has them: decoded, defaulted, prepared, canonical. */
export const testContext = (warnings: string[] = []): RequestContext => ({
  user: { name: 'test', groups: [] } as unknown as RequestContext['user'],
  userAgent: '',
  warn: (text) => void warnings.push(text),
  annotateAudit() {},
  signal: undefined,
});

export function decodePod(spec: JsonObject, metadata: JsonObject = {}, status: JsonObject = {}): Pod {
  const body = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'shop', ...metadata },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec },
    status,
  };
  const pod = decode(pods.schema, body, undefined) as unknown as Pod;
  pods.served[0]!.default?.(pod);
  return canonicalPod(pod);
}

export const canonicalPod = (pod: Pod): Pod => normalize(pods.schema, pod as unknown as JsonObject) as unknown as Pod;

export function newPod(spec: JsonObject, metadata: JsonObject = {}, warnings: string[] = []): Pod {
  const pod = decodePod(spec, metadata);
  pods.prepareForCreate?.({ ...testWrite(pod), context: testContext(warnings) });
  return canonicalPod(pod);
}

/** `field: body` of each error, in order. */
export function errorsOf(check: (errors: FieldErrors) => void): string[] {
  const errors = new FieldErrors();
  check(errors);
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
}

export const createErrors = (spec: JsonObject, metadata: JsonObject = {}): string[] =>
  errorsOf((errors) => pods.validate!(testWrite(newPod(spec, metadata)), errors));
