/** What the user did, or what the machine lacks: printed as `error: …`, one line a message, with no stack. Each line says what to do. */
export class CommandError extends Error {
  readonly lines: readonly string[];
  constructor(...lines: string[]) {
    super(lines.join('\n'));
    this.name = 'CommandError';
    this.lines = lines;
  }
}

/** What `open` opens; where it fails, the command ends with `what` and the reason. */
export async function orRefuse<T>(what: string, open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new CommandError(`${what}: ${(error as Error).message}`);
  }
}
