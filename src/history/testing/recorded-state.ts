import type { JsonObject } from '../../encoding/json-types.ts';
import type { RecordedResource } from '../flight-format.ts';
import { FlightReader } from '../flight-reader.ts';

/** For tests: a resource of objects in namespaces. */
export const recordedResource = (group: string, version: string, plural: string, kind: string): RecordedResource => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
  shortNames: [],
});

/** For tests: what a recording has of every object at a time, by `configmaps default/a`. */
export async function recordedState(path: string, timeMs = Infinity): Promise<Map<string, JsonObject>> {
  const reader = await FlightReader.open(path);
  const state = new Map<string, JsonObject>();
  try {
    for await (const { timeMs: changedMs, resource, key, after } of reader.changes()) {
      if (changedMs > timeMs) break;
      if (after === undefined) state.delete(`${resource.plural} ${key}`);
      else state.set(`${resource.plural} ${key}`, after);
    }
  } finally {
    await reader.close();
  }
  return state;
}
