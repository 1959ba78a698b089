import type { Json } from '../src/encoding/json-types.ts';

/* What a scenario is made of. Everything in it is plain data, decided by the seed alone, so that it can be sent to both servers, cut down and sent again. */

export type User = 'admin' | 'alice' | 'bob' | 'mallory' | '';

/** How a body is written: `raw` is text that is sent as it stands. */
export type Form = 'json' | 'yaml' | 'protobuf' | 'raw';

/** One change of a body: sets the value at a place, or removes it where there is none. */
export interface Edit {
  at: (string | number)[];
  value?: Json;
}

export interface Request {
  method: string;
  /** Path and query; may hold placeholders (placeholders.ts), as may the body's texts. */
  path: string;
  /** Default: admin. '' sends no token. */
  user?: User;
  headers?: Record<string, string>;
  body?: Json;
  /** Default: json. */
  form?: Form;
  /** The body is what the server last said of the object at this path, with these changes; `body` stands in where it has said nothing. */
  update?: { of: string; edits: Edit[] };
}

/** Asked of each server until its answer has the status (or, with `not`, another): what was written has then reached whatever acts on it. */
export interface Wait {
  request: Request;
  status: number;
  not?: boolean;
}

export interface Step {
  request: Request;
  /** The answer is a stream of events, which is read until both servers have sent as many and no more come. */
  isWatch?: boolean;
  wait?: Wait;
  /** What is asked for follows a write sooner or later (discovery, OpenAPI documents, conditions): asked again as long as the answers differ, for some time. */
  settles?: boolean;
}

export interface Scenario {
  area: string;
  seed: number;
  index: number;
  steps: Step[];
}
