import type { Write } from '../../registry/write.ts';
import { defineResource } from '../define.ts';
import type { ServiceAccount } from '../facts/types/core-v1.ts';

const ENFORCE_MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';

/** Who pods are. */
export const serviceAccounts = defineResource<ServiceAccount>('v1/serviceaccounts', {
  validatesFinalizerNames: true,
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,

  validatesWhole: 'after',

  warnings({ object: { metadata }, old }) {
    const isNew = metadata.annotations?.[ENFORCE_MOUNTABLE_SECRETS] !== undefined && old?.metadata.annotations?.[ENFORCE_MOUNTABLE_SECRETS] === undefined;
    return isNew
      ? [`metadata.annotations[${ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`]
      : [];
  },
});

/** Of a secret, only the name is of use: it is always in the account's own namespace. */
function keepSecretNames({ object: account }: Write<ServiceAccount>): void {
  account.secrets &&= account.secrets.map(({ name }) => (name ? { name } : {}));
}
