import type { JsonObject } from '../../encoding/json-types.ts';
import { FlightReader } from '../flight-reader.ts';

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
