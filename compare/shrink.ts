import { isJsonObject } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { shapeOf } from './groups.ts';
import { type Finding, type Pair, runSteps } from './run.ts';
import type { Step } from './step.ts';

/** The fewest and smallest requests that still show a difference of the same shape. */
export interface Shrunk {
  steps: Step[];
  finding: Finding;
}

const MAX_RUNS = 150;
const MAX_DURATION_MS = 30_000;
/** What was cut out may be what a step waits for. */
const WAIT_LIMIT_MS = 2000;
const REPEATS = 3;

/** Cuts out steps, then parts of what is left, as long as the difference stays. Undefined where it does not come again at all. */
export async function shrink(pair: Pair, steps: readonly Step[], finding: Finding): Promise<Shrunk | undefined> {
  const shape = shapeOf(steps[finding.stepIndex]!, finding.differences);
  let runs = 0;
  const endMs = performance.now() + MAX_DURATION_MS;
  const attempt = async (candidate: readonly Step[]): Promise<Shrunk | undefined> => {
    if (runs++ >= MAX_RUNS || (runs > REPEATS && performance.now() > endMs)) return undefined;
    const { finding: found, hasWaitedInVain } = await runSteps(pair, candidate, runs > REPEATS ? WAIT_LIMIT_MS : undefined);
    if (found === undefined || (hasWaitedInVain && runs > REPEATS) || shapeOf(candidate[found.stepIndex]!, found.differences) !== shape) return undefined;
    return { steps: candidate.slice(0, found.stepIndex + 1), finding: found };
  };
  let best: Shrunk | undefined;
  for (let repeat = 0; repeat < REPEATS && best === undefined; repeat++) best = await attempt(steps.slice(0, finding.stepIndex + 1));
  if (best === undefined) return undefined;
  best = await cutSteps(best, attempt);
  return cutParts(best, attempt);
}

type Attempt = (steps: readonly Step[]) => Promise<Shrunk | undefined>;

/** Halves first, single steps at last; the step that differs stays, and what others wait for. */
async function cutSteps(from: Shrunk, attempt: Attempt): Promise<Shrunk> {
  let best = from;
  for (let size = Math.max(1, Math.floor(best.steps.length / 2)); ; size = Math.floor(size / 2)) {
    for (let end = best.steps.length - 1; end > 0; end -= size) {
      const start = Math.max(0, end - size);
      const kept = best.steps.slice(start, end).filter(({ wait }) => wait !== undefined);
      if (kept.length < end - start) best = (await attempt([...best.steps.slice(0, start), ...kept, ...best.steps.slice(end)])) ?? best;
      end = Math.min(end, best.steps.length - 1 + size);
    }
    if (size <= 1) return best;
  }
}

async function cutParts(from: Shrunk, attempt: Attempt): Promise<Shrunk> {
  let best = from;
  for (let index = best.steps.length - 1; index >= 0; index--) {
    let simpler = simplerSteps(best.steps[index]!);
    for (let part = 0; part < simpler.length;) {
      const shrunk = await attempt(best.steps.with(index, simpler[part]!));
      if (shrunk === undefined || shrunk.steps.length !== best.steps.length) part++;
      else {
        best = shrunk;
        // What was cut is no longer among the parts: the next one has taken its number.
        simpler = simplerSteps(best.steps[index]!);
      }
    }
  }
  return best;
}

/** The step with one thing less each: a parameter, a header, a change, a part of the body (large parts first). */
function simplerSteps(step: Step): Step[] {
  const { request } = step;
  const simpler: Step[] = [];
  const add = (change: Partial<typeof request>): void => void simpler.push({ ...step, request: { ...request, ...change } });
  const [path, query = ''] = request.path.split('?') as [string, string?];
  const parameters = query === '' ? [] : query.split('&');
  for (const index of parameters.keys()) add({ path: [path, parameters.toSpliced(index, 1).join('&')].filter((part) => part !== '').join('?') });
  for (const name of Object.keys(request.headers ?? {})) {
    if (name !== 'content-type') add({ headers: Object.fromEntries(Object.entries(request.headers!).filter(([other]) => other !== name)) });
  }
  if (request.update) {
    const { of, edits } = request.update;
    for (const index of edits.keys()) add({ update: { of, edits: edits.toSpliced(index, 1) } });
  }
  if (isJsonObject(request.body) || Array.isArray(request.body)) for (const body of smallerBodies(request.body)) add({ body });
  return simpler;
}

/** Bodies with one place less, the outer places first. */
function smallerBodies(body: JsonObject | Json[]): Json[] {
  const places: (string | number)[][] = [];
  const visit = (value: Json, at: (string | number)[]): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.slice(0, 20).entries()) {
        places.push([...at, index]);
        visit(item, [...at, index]);
      }
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value).slice(0, 40)) {
        places.push([...at, key]);
        visit(item!, [...at, key]);
      }
    }
  };
  visit(body, []);
  return places.sort((one, other) => one.length - other.length).map((at) => without(body, at));
}

function without(body: Json, [key, ...rest]: (string | number)[]): Json {
  if (Array.isArray(body)) return rest.length === 0 ? body.toSpliced(key as number, 1) : body.with(key as number, without(body[key as number]!, rest));
  const entries = Object.entries(body as JsonObject).flatMap(([name, value]): [string, Json][] =>
    name !== key ? [[name, value!]] : rest.length === 0 ? [] : [[name, without(value!, rest)]],
  );
  return Object.fromEntries(entries);
}
