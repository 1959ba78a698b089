import type { ConfigMap } from '../apis/facts/types/core-v1.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { keepInEveryNamespace } from './in-every-namespace.ts';

export interface RootCaOptions extends ControllerOptions {
  /** PEM: whom clients inside the cluster trust to sign this server's certificate. Asked once. */
  rootCa(): string;
}

const NAME = 'kube-root-ca.crt';
const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'The certificates by which clients inside the cluster know this API server, at kubernetes.default.svc and the address behind it. For no other use.';

/** What every pod's token volume brings along (pkg/controller/certificates/rootcacertpublisher). */
export const keepRootCa: Controller<RootCaOptions> = (client, options) => {
  const rootCa = options.rootCa();
  return keepInEveryNamespace<ConfigMap>(client, { plural: 'configmaps', name: NAME, make: () => configMap(rootCa), correct: corrected(rootCa) }, options);
};

const configMap = (rootCa: string): ConfigMap => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: NAME, annotations: { [DESCRIPTION_ANNOTATION]: DESCRIPTION } },
  data: { 'ca.crt': rootCa },
});

/** Any description will do, another certificate or key will not. */
const corrected =
  (rootCa: string) =>
  (object: ConfigMap): boolean => {
    const { data = {}, metadata } = object;
    const isRight = Object.keys(data).length === 1 && data['ca.crt'] === rootCa && Boolean(metadata.annotations?.[DESCRIPTION_ANNOTATION]);
    if (isRight) return false;
    object.data = { 'ca.crt': rootCa };
    metadata.annotations = { ...metadata.annotations, [DESCRIPTION_ANNOTATION]: DESCRIPTION };
    return true;
  };
