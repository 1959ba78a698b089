import { type Seed, builtSeed, plantSeed, withoutRbac } from '../kube/bootstrap/seed.ts';
import type { AccessFiles } from './access.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import type { FlagName } from '../options/flags/options.ts';
import { type StoredValues, openStoredValues } from './stored-values.ts';

/** Flags that say which features and APIs there are, and what becomes of objects on their way into the store. */
const SHAPING_FLAGS: readonly FlagName[] = [
  'feature-gates',
  'runtime-config',
  'emulated-version',
  'admission-control',
  'admission-control-config-file',
  'enable-admission-plugins',
  'disable-admission-plugins',
];

/** Opens what stands in the stores. A fresh store begins with what the build's own first start stored, where it would be the same. Throws CommandError. */
export async function openSeededValues(
  { options, logger, registry, storage, replay, closers, now }: Foundation,
  { isRbacOn }: AccessFiles,
): Promise<StoredValues> {
  const values = await openStoredValues(options, storage, logger, registry);
  closers.add(() => values.close());
  const readSeed = (): Seed => (isRbacOn ? builtSeed() : withoutRbac(builtSeed()));
  // What fails here fails again in the hooks, which say so and try on.
  if (isSeedFit(options) && !replay) await plantSeed(values.storage.engine, `${options.etcdPrefix}/`, readSeed, now()).catch(() => undefined);
  return values;
}

/** Only stores of our own encoding have one. */
const isSeedFit = ({ storageBackend, given }: CompletedOptions): boolean => storageBackend !== 'etcd3' && !SHAPING_FLAGS.some((flag) => given.has(flag));
