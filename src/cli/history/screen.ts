import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Output } from '../command.ts';

const STYLES = { time: '33', who: '36', name: '1', added: '32', removed: '31', faint: '2', path: '', plain: '' } as const;

export type Style = keyof typeof STYLES;

/** A part of a line, and how it is shown where there are colours. Where a line is too long, its paths are shortened first: their ends tell most. */
export type Segment = readonly [text: string, style?: Style];

interface ScreenOptions {
  /** What comes is shown as it comes: no pager. */
  isFollowing?: boolean;
  env?: NodeJS.ProcessEnv;
}

/**
 * Lines on a terminal, in colours (unless NO_COLOR is set) and no longer than it is wide, through $PAGER where they are more than fit on it; elsewhere plain
 * lines, whole. As git does it.
 */
export class Screen {
  readonly #output: Output;
  readonly #env: NodeJS.ProcessEnv;
  readonly #hasColors: boolean;
  /** Undefined where no pager will be needed, or it runs. */
  #held: string[] | undefined;
  #pager: ChildProcess | undefined;
  #isClosed = false;

  constructor(output: Output, { isFollowing = false, env = process.env }: ScreenOptions = {}) {
    this.#output = output;
    this.#env = env;
    const isTerminal = output.columns > 0;
    this.#hasColors = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    if (!isTerminal) endWithReader();
    this.#held = isTerminal && !isFollowing && this.#pagerCommand !== '' ? [] : undefined;
  }

  /** The reader has left the pager: nobody sees what else there is. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Cut where the terminal ends. */
  line(...segments: Segment[]): void {
    this.#write(`${this.#painted(fitted(segments, this.#output.columns))}\n`);
  }

  /** As long as it is. */
  raw(text: string): void {
    this.#write(`${text}\n`);
  }

  /** Resolves when the reader has seen it all. */
  async end(): Promise<void> {
    for (const text of this.#held ?? []) this.#output.stdout(text);
    this.#held = undefined;
    const pager = this.#pager;
    if (!pager) return;
    const ended = once(pager, 'close');
    pager.stdin!.end();
    if (pager.exitCode === null) await ended;
  }

  get #pagerCommand(): string {
    const { PAGER: pager = 'less' } = this.#env;
    return pager === 'cat' ? '' : pager;
  }

  #write(text: string): void {
    if (this.#isClosed) return;
    if (this.#pager) return void this.#pager.stdin!.write(text);
    if (!this.#held) return this.#output.stdout(text);
    this.#held.push(text);
    if (this.#held.length < (this.#output.rows ?? Infinity)) return;
    this.#pager = this.#startPager();
    for (const held of this.#held) this.#pager.stdin!.write(held);
    this.#held = undefined;
  }

  #startPager(): ChildProcess {
    const pager = spawn(this.#pagerCommand, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env: { LESS: 'FRX', ...this.#env } });
    pager.once('close', () => (this.#isClosed = true));
    // It is gone when its reader has seen enough.
    pager.stdin!.on('error', () => (this.#isClosed = true));
    return pager;
  }

  #painted(segments: readonly Segment[]): string {
    return segments.map(([text, style = 'plain']) => (this.#hasColors && STYLES[style] !== '' ? `\u001B[${STYLES[style]}m${text}\u001B[0m` : text)).join('');
  }
}

const SHORTEST_PATH = 12;

function fitted(segments: readonly Segment[], columns: number): readonly Segment[] {
  let excess = columns === 0 ? 0 : lengthOf(segments) - columns;
  if (excess <= 0) return segments;
  const shortened = segments.map(([text, style]): Segment => {
    const cut = style === 'path' ? Math.min(excess + 1, text.length - SHORTEST_PATH) : 0;
    if (cut <= 1 || excess <= 0) return [text, style ?? 'plain'];
    excess -= cut - 1;
    return [`…${text.slice(cut)}`, style!];
  });
  return excess <= 0 ? shortened : cutAt(shortened, columns);
}

const lengthOf = (segments: readonly Segment[]): number => segments.reduce((sum, [text]) => sum + text.length, 0);

function cutAt(segments: readonly Segment[], columns: number): readonly Segment[] {
  const cut: Segment[] = [];
  let left = columns - 1;
  for (const [text, style] of segments) {
    if (left <= 0) break;
    cut.push([text.slice(0, left), style ?? 'plain']);
    left -= text.length;
  }
  return [...cut, ['…']];
}

/** Whoever reads a pipe may have seen enough (`| head`): then this ends as a program does that SIGPIPE ends. */
function endWithReader(): void {
  if (process.stdout.listenerCount('error') > 0) return;
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
  });
}
