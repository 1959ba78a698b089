import { aggregateMessage } from '../../api/aggregate-message.ts';
import { ENCRYPTED_PREFIX } from '../unreadable.ts';

/** What a value is: data that is bound to the encrypted bytes, and a name for metrics. */
export interface ValueContext {
  /** Whole, `/registry/secrets/default/token`: a value that was copied to another key can not be read there, where the cipher is authenticated. */
  key: string;
  /** `secrets`, `deployments.apps` */
  resource: string;
}

export interface Opened {
  value: Buffer;
  /** Encrypted otherwise than a new value would be. */
  isStale: boolean;
}

/** Encrypts and decrypts stored values (apiserver/pkg/storage/value). Failures are thrown in upstream's words. */
export interface Transformer {
  /** A promise only where a key service has to be asked. May share memory with `data`. */
  fromStorage(data: Buffer, context: ValueContext): Opened | Promise<Opened>;
  /** A promise only of KMS v1, whose plug-in is asked for every value. */
  toStorage(data: Buffer, context: ValueContext): Buffer | Promise<Buffer>;
}

/** One that has its keys: nobody is asked when values are written. */
export interface ImmediateTransformer extends Transformer {
  toStorage(data: Buffer, context: ValueContext): Buffer;
}

export type TransformationType = 'from_storage' | 'to_storage';

/** Told of every transformation, for metrics. */
export interface TransformObserver {
  transformed(type: TransformationType, context: ValueContext, prefix: string, elapsedSeconds: number, error?: Error): void;
}

/** Plain values, but never a value that is encrypted: that would serve ciphertext as if it were an object. */
export const identityTransformer: ImmediateTransformer = {
  fromStorage(data) {
    if (data.subarray(0, ENCRYPTED_PREFIX.length).equals(ENCRYPTED_PREFIX)) throw new Error('identity transformer tried to read encrypted data');
    return { value: data, isStale: false };
  },
  toStorage: (data) => data,
};

export interface PrefixTransformer {
  prefix: Buffer;
  transformer: Transformer;
}

/** Writes with the first of `choices`; reads with whichever has the value's prefix and can decrypt it. `mismatch` is said where none has the prefix. */
export class PrefixTransformers implements Transformer {
  readonly #choices: readonly PrefixTransformer[];
  readonly #mismatch: string;
  readonly #observer: TransformObserver;

  constructor(choices: readonly PrefixTransformer[], mismatch: string, observer: TransformObserver) {
    this.#choices = choices;
    this.#mismatch = mismatch;
    this.#observer = observer;
  }

  fromStorage(data: Buffer, context: ValueContext): Opened | Promise<Opened> {
    return this.#read(data, context, 0, [], performance.now());
  }

  toStorage(data: Buffer, context: ValueContext): Buffer | Promise<Buffer> {
    const { prefix, transformer } = this.#choices[0]!;
    const startMs = performance.now();
    const succeeded = (sealed: Buffer): Buffer => {
      this.#record('to_storage', context, prefix.toString(), startMs);
      return prefix.length === 0 ? sealed : Buffer.concat([prefix, sealed]);
    };
    const failed = (error: Error): never => {
      this.#record('to_storage', context, prefix.toString(), startMs, error);
      throw error;
    };
    try {
      const sealed = transformer.toStorage(data, context);
      return sealed instanceof Promise ? sealed.then(succeeded, failed) : succeeded(sealed);
    } catch (error) {
      return failed(error as Error);
    }
  }

  /**
   * Providers may share a prefix (two of one kind, while keys are moved from one to the other), and one that stores plainly has none at all:
   * a failure is not the end while another may be able.
   */
  #read(data: Buffer, context: ValueContext, first: number, errors: Error[], startMs: number): Opened | Promise<Opened> {
    for (let index = first; index < this.#choices.length; index++) {
      const { prefix, transformer } = this.#choices[index]!;
      if (!data.subarray(0, prefix.length).equals(prefix)) continue;
      const succeeded = ({ value, isStale }: Opened): Opened => {
        this.#record('from_storage', context, prefix.toString() || 'identity', startMs);
        return { value, isStale: isStale || index !== 0 };
      };
      const failed = (error: Error): void => {
        if (prefix.length === 0) return;
        this.#record('from_storage', context, prefix.toString(), startMs, error);
        errors.push(error);
      };
      try {
        const opened = transformer.fromStorage(data.subarray(prefix.length), context);
        if (!(opened instanceof Promise)) return succeeded(opened);
        return opened.then(succeeded, (error: Error) => {
          failed(error);
          return this.#read(data, context, index + 1, errors, startMs);
        });
      } catch (error) {
        failed(error as Error);
      }
    }
    const error = errors.length > 0 ? aggregated(errors) : new Error(this.#mismatch);
    if (errors.length === 0) this.#record('from_storage', context, 'unknown', startMs, error);
    throw error;
  }

  #record(type: TransformationType, context: ValueContext, prefix: string, startMs: number, error?: Error): void {
    this.#observer.transformed(type, context, prefix, (performance.now() - startMs) / 1000, error);
  }
}

/** Several errors as one, in the form of apimachinery's aggregates. */
export function aggregated(errors: readonly Error[]): Error {
  if (errors.length === 1) return errors[0]!;
  return new Error(aggregateMessage(errors.map(({ message }) => message)));
}
