/** Ends the command with this code and without a word: another process has said why. */
export class ExitCode extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}
