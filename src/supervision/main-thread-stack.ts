import { type Debugger, type Runtime, Session } from 'node:inspector';
import type { RunningRequest } from '../server/running-request.ts';

/** As many frames as a report shows, and as are searched for the request. */
const MAX_FRAMES = 100;

export interface MainThreadStack {
  /** Innermost frame first: `function (file:line:column)`. */
  stack: string[];
  request: RunningRequest | undefined;
}

/**
 * Called on the variables of a frame's scope, and on its `this`. Answers with the running request, as JSON, where one of them is a request, or holds one as most
 * parameters do (`attributes.context`). Scopes that are whole programs are passed over, and no getter is called.
 */
const FIND_REQUEST = `function () {
  const describe = (value) => value !== null && typeof value === 'object' && typeof value.describeRunning === 'function' ? JSON.stringify(value.describeRunning()) : undefined;
  const valuesOf = (holder) => {
    const keys = Object.keys(holder);
    return keys.length > 100 ? [] : keys.map((key) => Object.getOwnPropertyDescriptor(holder, key).value).filter((value) => value !== null && typeof value === 'object');
  };
  const own = describe(this);
  if (own) return own;
  for (const value of valuesOf(this)) {
    const found = describe(value);
    if (found) return found;
  }
  for (const value of valuesOf(this)) {
    for (const inner of valuesOf(value)) {
      const found = describe(inner);
      if (found) return found;
    }
  }
}`;

/**
 * Where the main thread stands, asked by a worker while the main thread is busy: V8 stops it at its next statement for as long as the frames are read, and lets
 * it go on. Settles late, or never, when the main thread is in native code. Nothing is attached, and nothing costs anything, before and after.
 */
export function readMainThreadStack(): Promise<MainThreadStack> {
  const session = new Session();
  session.connectToMainThread();
  const files = new Map<string, string>();
  return new Promise((resolve, reject) => {
    const fail = (error: Error | null): void => {
      if (!error) return;
      session.disconnect();
      reject(error);
    };
    session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => files.set(scriptId, url.replace(/^file:\/\//, '')));
    session.once('Debugger.paused', ({ params: { callFrames } }) => {
      const frames = callFrames.slice(0, MAX_FRAMES);
      findRequest(session, frames.flatMap(objectsOf), (request) => {
        session.post('Debugger.resume', () => session.disconnect());
        resolve({ stack: frames.map((frame) => formatFrame(frame, files)), request });
      });
    });
    session.post('Debugger.enable', fail);
    session.post('Debugger.pause', fail);
  });
}

const formatFrame = ({ functionName, location }: Debugger.CallFrame, files: ReadonlyMap<string, string>): string =>
  `${functionName || '(anonymous)'} (${files.get(location.scriptId) ?? ''}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`;

const SEARCHED_SCOPES: ReadonlySet<string> = new Set(['local', 'block', 'catch', 'closure']);

/** What a frame can see: its variables by scope, and its `this`. */
const objectsOf = ({ scopeChain, this: self }: Debugger.CallFrame): Runtime.RemoteObject[] => [
  ...scopeChain.filter(({ type }) => SEARCHED_SCOPES.has(type)).map(({ object }) => object),
  self,
];

/** The first object's that has one. One is asked after the other; the session answers through callbacks. */
function findRequest(session: Session, [object, ...others]: readonly Runtime.RemoteObject[], found: (request: RunningRequest | undefined) => void): void {
  if (!object) return found(undefined);
  if (object.objectId === undefined) return findRequest(session, others, found);
  const call = { objectId: object.objectId, functionDeclaration: FIND_REQUEST, returnByValue: true, silent: true };
  session.post('Runtime.callFunctionOn', call, (error, answer?: Runtime.CallFunctionOnReturnType) => {
    const text: unknown = error ? undefined : answer?.result.value;
    if (typeof text === 'string') found(JSON.parse(text) as RunningRequest);
    else findRequest(session, others, found);
  });
}
