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
  /** KMS v1: which part of the cache of keys is in use, from 0 to 1. */
  dekCacheFilled(part: number): void;
  /** KMS v1: a value is encrypted or decrypted, so long after the last one. */
  transformationArrived(type: TransformationType, sinceLastSeconds: number): void;
  dataKeyGenerated(elapsedSeconds: number): void;
  dataKeyFailed(): void;
}
