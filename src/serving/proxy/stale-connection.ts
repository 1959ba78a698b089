/** A kept connection had ended before the backend took notice of the request: a new one may fare better. */
export class StaleConnection extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message);
    this.cause = cause;
  }
}
