import { readFileSync, readdirSync } from 'node:fs';
import type { IncomingRequest } from '../server-request.ts';
import { type Frame, PprofProfile } from './pprof-profile.ts';

/** Something that the server is at work on, or waits for. */
export interface Activity {
  /** Innermost first, as a stack is read: what it waits for, then who does. */
  stack: readonly Frame[];
  /** How many there are that are alike. */
  count: number;
  /** Of a request; how long it has been there, and what tells it from others. */
  request?: { ageMs: number; stage: string; line: string } | undefined;
}

/** More requests than this are not told one by one. */
const MAX_LISTED = 10_000;

const COUNT = { type: 'goroutine', unit: 'count' };

/**
 * The nearest thing that JavaScript has to Go's goroutines: every request under way with the stage that it is in, and the timers, sockets and files that the
 * event loop waits for. Names of objects are told with debug=2 alone; values of headers and queries never.
 */
export function activitiesOf(requests: readonly IncomingRequest[], nowMs = performance.now()): Activity[] {
  const ofRequests = requests.map((request) => ({ stack: stackOf(request), count: 1, request: describe(request, nowMs) }));
  const handles = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) handles.set(type, (handles.get(type) ?? 0) + 1);
  const waiting = [...handles].map(([type, count]) => ({ stack: [{ name: type }, { name: '(event loop)' }], count }));
  return [...ofRequests, ...waiting];
}

function stackOf(request: IncomingRequest): Frame[] {
  const { verb, isResourceRequest, apiGroup, apiVersion, resource, subresource } = request.info;
  const target = isResourceRequest ? [apiGroup, apiVersion, resource, subresource].filter(Boolean).join('/') : '(no resource)';
  return [{ name: stageOf(request) }, { name: `${verb || request.exchange.method} ${target}` }, { name: '(request)' }];
}

function stageOf({ exchange, isLongRunning, info, waitsFor, clientName }: IncomingRequest): string {
  if (waitsFor !== undefined) return waitsFor;
  if (exchange.isAnswered) return info.verb === 'watch' ? 'watching' : isLongRunning ? 'streaming' : 'writing the answer';
  return clientName === '' ? 'authentication' : 'handler';
}

function describe(request: IncomingRequest, nowMs: number): Activity['request'] {
  const { exchange, info, user, auditId, receivedAtMs, userAgent } = request;
  const line = [exchange.method, info.path, exchange.httpVersion, `user=${JSON.stringify(user.name)}`, `audit-id=${JSON.stringify(auditId)}`];
  line.push(`client=${JSON.stringify(exchange.remoteAddress)}`, `user-agent=${JSON.stringify(userAgent)}`, `status=${exchange.status}`);
  return { ageMs: nowMs - receivedAtMs, stage: stageOf(request), line: line.join(' ') };
}

export function activityProfile(activities: readonly Activity[], timeMs: number): PprofProfile {
  const profile = new PprofProfile({ sampleTypes: [COUNT], periodType: COUNT, period: 1, timeMs });
  for (const { stack, count } of activities) profile.add(stack, [count]);
  return profile;
}

/** debug=1: those that are alike together, the most frequent first, in Go's form. */
export function groupedText(name: string, activities: readonly Activity[]): string {
  const groups = new Map<string, { frames: readonly Frame[]; count: number }>();
  let total = 0;
  for (const { stack, count } of activities) {
    total += count;
    const key = stack.map((frame) => frame.name).join('\n');
    const group = groups.get(key);
    if (group) group.count += count;
    else groups.set(key, { frames: stack, count });
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const blocks = sorted.map(({ frames, count }) => `${count} @\n${frames.map((frame) => `#\t${frame.name}\n`).join('')}\n`);
  return `${name} profile: total ${total}\n${blocks.join('')}`;
}

/** debug=2: one by one, as Go prints the goroutines of a program that panics: what it waits for, and for how long where that is a minute or more. */
export function separateText(activities: readonly Activity[]): string {
  const blocks = activities.slice(0, MAX_LISTED).map(({ stack, count, request }, index) => {
    if (!request) return `${index + 1} [${count} open]:\n${stack.map((frame) => `${frame.name}\n`).join('')}\n`;
    const { ageMs, stage, line } = request;
    return `${index + 1} [${stage}, ${(ageMs / 1000).toFixed(3)} seconds]:\n${line}\n${stack.map((frame) => `\t${frame.name}\n`).join('')}\n`;
  });
  const left = activities.length - blocks.length;
  return blocks.join('') + (left > 0 ? `${left} more\n` : '');
}

/** Threads of the process by their names (`node`, `libuv-worker`), as Linux has them; elsewhere none are known. */
export function threadActivities(): Activity[] {
  const names = new Map<string, number>();
  try {
    for (const id of readdirSync('/proc/self/task')) {
      const name = readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim();
      names.set(name, (names.get(name) ?? 0) + 1);
    }
  } catch {
    // No Linux, or a thread that ended meanwhile: what was found is told.
  }
  return [...names].map(([name, count]) => ({ stack: [{ name }, { name: '(thread)' }], count }));
}

/** `block` and `mutex`: empty, as Go's are while nobody switches them on. */
export function contentionProfile(timeMs: number): PprofProfile {
  return new PprofProfile({
    sampleTypes: [
      { type: 'contentions', unit: 'count' },
      { type: 'delay', unit: 'nanoseconds' },
    ],
    periodType: { type: 'contentions', unit: 'count' },
    period: 1,
    timeMs,
    comments: ['JavaScript has one thread and no locks: there is nothing to wait for. What holds the event loop is seen in /debug/pprof/profile.'],
  });
}
