/** Who is asked in a step of admission. */
export interface AskedPlugin {
  plugin: string;
  step: 'mutate' | 'validate';
  /** Of plug-ins that ask others: whom. */
  hook?: AdmissionHook;
}

/** A webhook with its configuration, or a policy with its binding. */
export interface AdmissionHook {
  type: 'webhook' | 'policy';
  name: string;
  from: string;
}

/**
 * Told what each step of a request comes to, for somebody who asks why it is refused. Only requests that are rehearsed have one (`src/server/rehearsal.ts`): whoever
 * tells looks whether it is there, and does nothing else.
 */
export interface StepObserver {
  /** A step of admission begins: what comes before it has let the request pass. */
  enters(step: AskedPlugin['step']): void;
  /** Somebody is about to be asked; what this answers is called with how it ended. `read`: the object, which may be another by then. */
  asks(who: AskedPlugin, read?: () => object | undefined): (error?: unknown) => void;
  /** Somebody was asked. `message`: why it refuses. */
  told(who: AskedPlugin, outcome: { message?: string | undefined; before?: object | undefined; after?: object | undefined }): void;
}
