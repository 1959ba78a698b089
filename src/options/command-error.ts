/** What the user did, or what the machine lacks: printed as `error: …`, one line a message, with no stack. Each line says what to do. */
export class CommandError extends Error {
  readonly lines: readonly string[];
  constructor(...lines: string[]) {
    super(lines.join('\n'));
    this.name = 'CommandError';
    this.lines = lines;
  }
}
