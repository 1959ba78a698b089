import type { Session } from './inspector.ts';

/** What a profile is refused with while another one is taken. */
export class ProfilerBusyError extends Error {}

/** `cpu profiling`, `tracing`: as Go's errors name what is under way. */
type Recording = 'cpu profiling' | 'memory profiling' | 'tracing' | 'heap snapshot';

/** V8's profilers, one at a time: what one of them costs would be in the profile of the other. They cost nothing while nobody asks. */
export class InspectorSessions {
  #current: Recording | undefined;

  /** Runs with a session of its own, which is closed behind it. Throws a ProfilerBusyError where one is open. */
  async use<Result>(recording: Recording, run: (session: Session) => Promise<Result>): Promise<Result> {
    return this.alone(recording, async () => {
      // Loaded when it is asked for: the first request of all must not wait for it.
      const inspector = await import('./inspector.ts');
      const session = new inspector.Session();
      session.connect();
      try {
        return await run(session);
      } finally {
        session.disconnect();
      }
    });
  }

  /** The same, for what needs no session. */
  async alone<Result>(recording: Recording, run: () => Promise<Result>): Promise<Result> {
    if (this.#current !== undefined) throw new ProfilerBusyError(`${this.#current} already in use`);
    this.#current = recording;
    try {
      return await run();
    } finally {
      this.#current = undefined;
    }
  }
}
