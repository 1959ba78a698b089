/** What keys do: a name for each (`/`, `j`, `g p`), and what it is for. Later ones win, so that a view can have keys of its own. */
export interface Shortcut {
  keys: string;
  what: string;
  run(): void;
}

const SEQUENCE_MS = 1_000;

/** One listener for the page; views add their keys while they are shown. */
export class Keyboard {
  readonly #shortcuts: Shortcut[] = [];
  #prefix = '';
  #prefixAt = 0;

  /** Gives back what takes them away again. */
  add(shortcuts: readonly Shortcut[]): () => void {
    this.#shortcuts.push(...shortcuts);
    return () => {
      for (const shortcut of shortcuts) this.#shortcuts.splice(this.#shortcuts.lastIndexOf(shortcut), 1);
    };
  }

  all(): readonly Shortcut[] {
    return this.#shortcuts;
  }

  handle(event: KeyboardEvent, nowMs: number): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event) && event.key !== 'Escape') return;
    const isInSequence = this.#prefix !== '' && nowMs - this.#prefixAt < SEQUENCE_MS;
    const keys = isInSequence ? `${this.#prefix} ${event.key}` : event.key;
    this.#prefix = '';
    const found = this.#shortcuts.findLast((shortcut) => shortcut.keys === keys);
    if (found) {
      event.preventDefault();
      found.run();
    } else if (this.#shortcuts.some((shortcut) => shortcut.keys.startsWith(`${keys} `))) {
      this.#prefix = keys;
      this.#prefixAt = nowMs;
    }
  }
}

/** Letters are text where one can write. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || isTextInput(target);
}

const isTextInput = (target: HTMLElement): boolean => target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'button'].includes(target.type);
