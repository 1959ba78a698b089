import type { TransformationType } from '../transformer.ts';

/** Told of what happens between this server and its key services, for metrics. */
export interface KmsObserver {
  /** A call ended; `method` is gRPC's path. */
  called(provider: string, method: string, elapsedSeconds: number, error?: Error): void;
  keyUsed(type: TransformationType, provider: string, keyId: string): void;
  keyIdTold(provider: string, keyId: string): void;
  invalidKeyIdTold(provider: string, problem: 'empty' | 'too_long'): void;
  dekSourcesCached(provider: string, count: number): void;
  /** A DEK source was not known yet, and the plug-in was asked. */
  cacheMissed(): void;
  dataKeyGenerated(elapsedSeconds: number): void;
}
