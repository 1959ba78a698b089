import { EventEmitter } from 'node:events';

interface Line {
  at: Date;
  text: string;
}

/** A container's log, as kubelets keep and read it. */
export class ContainerLog {
  readonly #lines: Line[] = [];
  readonly #appended = new EventEmitter().setMaxListeners(0);

  append(text: string, at = new Date()): void {
    const line = { at, text };
    this.#lines.push(line);
    this.#appended.emit('line', line);
  }

  get followers(): number {
    return this.#appended.listenerCount('line');
  }

  /** What the query asks for, and with `follow` what comes later until the answer's call. */
  read(query: URLSearchParams, write: (text: string) => void): () => void {
    const show = ({ at, text }: Line): string => `${query.has('timestamps') ? `${at.toISOString()} ` : ''}${text}\n`;
    const since = sinceOf(query);
    let lines = this.#lines.filter(({ at }) => at.getTime() >= since);
    if (query.has('tailLines')) lines = lines.slice(lines.length - Math.min(lines.length, Number(query.get('tailLines'))));
    const limit = Number(query.get('limitBytes') ?? Infinity);
    const text = lines.map(show).join('');
    write(text.slice(0, limit));
    if (!query.has('follow')) return () => {};
    const onLine = (line: Line): void => write(show(line));
    this.#appended.on('line', onLine);
    return () => this.#appended.off('line', onLine);
  }
}

function sinceOf(query: URLSearchParams): number {
  const seconds = query.get('sinceSeconds');
  const time = query.get('sinceTime');
  return seconds !== null ? Date.now() - Number(seconds) * 1000 : time !== null ? Date.parse(time) : 0;
}
