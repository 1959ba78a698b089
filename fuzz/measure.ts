import { type Check, type FuzzTarget, WrongAnswer } from './target.ts';

/** How a target took one input. */
export interface Outcome {
  /** The class of the error that refused it; `accepted` for none. */
  name: string;
  /** What is wrong with the target, where something is. */
  fault?: string;
  /** Tells one way through the parser from another, as far as its answer does. */
  signature: string;
  durationMs: number;
}

/** Runs the input once. A check is no part of its time. Targets may change what they are given, so they are given a copy. */
export async function measure(target: FuzzTarget, input: Buffer): Promise<Outcome> {
  const copy = Buffer.from(input);
  const startMs = performance.now();
  let error: unknown;
  let check: Check | void = undefined;
  try {
    const running = target.run(copy);
    check = running instanceof Promise ? await running : running;
  } catch (thrown) {
    error = thrown ?? 'nothing';
  }
  const durationMs = performance.now() - startMs;
  try {
    await check?.();
  } catch (thrown) {
    error = thrown ?? 'nothing';
  }
  if (error === undefined) return { name: 'accepted', signature: 'accepted', durationMs };
  return { ...outcomeOf(target, error), durationMs };
}

function outcomeOf({ refusals }: FuzzTarget, error: unknown): Omit<Outcome, 'durationMs'> {
  if (!(error instanceof Error)) return { name: 'crash', signature: 'crash', fault: `threw ${String(error)}` };
  const { name } = error.constructor;
  if (error instanceof WrongAnswer) return { name, signature: name, fault: `wrong answer: ${error.message}` };
  const isFault = error instanceof TypeError || error instanceof RangeError;
  const isRefusal = refusals.some((refusal) => (isFault ? error.constructor === refusal : error instanceof refusal));
  if (!isRefusal) return { name: 'crash', signature: 'crash', fault: `crash: ${error.stack ?? error.message}` };
  return { name, signature: `${name} ${error.message.slice(0, 60).replaceAll(/"[^"]*"?|'[^']*'?|\d+/g, '')}` };
}

/** The least CPU time of several runs: a collection of garbage, the compiler, or another process is not the parser's time. */
export async function leastDuration(target: FuzzTarget, input: Buffer, runs: number, firstMs: number): Promise<number> {
  let leastMs = firstMs;
  for (let run = 0; run < runs; run++) {
    const timer = new CpuTimer(target.isSliced ?? false);
    try {
      await target.run(Buffer.from(input));
    } catch {
      // It was told of when it was run first.
    }
    leastMs = Math.min(leastMs, timer.stop());
  }
  return leastMs;
}

/** CPU time since it was made: all of it, or the most of one turn of the event loop. */
class CpuTimer {
  #before = process.cpuUsage();
  #mostMs = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor(isByTurn: boolean) {
    if (isByTurn) this.#turn = setImmediate(() => this.#endTurn());
  }

  stop(): number {
    if (this.#turn) clearImmediate(this.#turn);
    return Math.max(this.#mostMs, this.#sinceMs());
  }

  #sinceMs(): number {
    const { user, system } = process.cpuUsage(this.#before);
    return (user + system) / 1000;
  }

  #endTurn(): void {
    this.#mostMs = Math.max(this.#mostMs, this.#sinceMs());
    this.#before = process.cpuUsage();
    this.#turn = setImmediate(() => this.#endTurn());
  }
}
