import type { ReloadObserver } from './encryption.ts';
import type { EncryptionObserver } from './providers.ts';

/** For tests that do not look at metrics. */
export const silentObserver: EncryptionObserver & ReloadObserver = {
  transformed() {},
  called() {},
  keyUsed() {},
  keyIdTold() {},
  invalidKeyIdTold() {},
  dekSourcesCached() {},
  cacheMissed() {},
  dekCacheFilled() {},
  transformationArrived() {},
  dataKeyGenerated() {},
  dataKeyFailed() {},
  loaded() {},
  reloaded() {},
};
