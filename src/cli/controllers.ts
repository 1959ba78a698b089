import { readFileSync } from 'node:fs';
import { type ControllersOptions, controllerHooks } from '../controllers/controllers.ts';
import { enabledControllers } from '../controllers/names.ts';
import { parseCertificates } from '../serving/certificates/pem.ts';
import type { CompletedOptions } from './completion.ts';
import type { Logger } from './logger.ts';
import { type CreatedChain, kindSettings } from './server-chain.ts';
import { servedTypes } from './served-types.ts';
import type { ServingFiles } from './serving-files.ts';

/** What --controllers asks for, on a store that others may write to, unless `isAlone`. Without --enable-garbage-collector nothing is marked for the collector, and it does not run. */
export function enabledControllerHooks(options: CompletedOptions, chain: CreatedChain, files: ServingFiles, logger: Logger, isAlone: boolean) {
  const names = enabledControllers(options.controllers).filter((name) => name !== 'garbage-collector-controller' || options.enableGarbageCollector);
  const controllers: ControllersOptions = {
    report: (error) => logger.warn('A controller failed and will try again', { error }),
    now: () => new Date(),
    kindSettings: kindSettings(options),
    rootCa: () => rootCaOf(options, files),
    servedTypes: () => servedTypes([...chain.kube.versions, ...chain.extensions.versions, ...chain.aggregator.versions]),
  };
  const wholeClient = names.length === 0 ? chain.client : chain.aggregation.withRemoteResources(chain.client);
  return controllerHooks({ client: chain.client, wholeClient }, names, controllers, isAlone);
}

/** PEM of whom pods are to trust: --root-ca-file, or the authority of --client-ca-file that has signed the serving certificate, or that certificate itself. */
function rootCaOf({ rootCaFile }: CompletedOptions, { certificate, clientCa }: ServingFiles): string {
  if (rootCaFile !== '') return readFileSync(rootCaFile, 'utf8');
  const { certPem } = certificate.current;
  const last = parseCertificates(certPem).at(-1)!;
  const signer = clientCa && parseCertificates(clientCa.current).find((authority) => last.checkIssued(authority) && last.verify(authority.publicKey));
  return signer ? signer.toString() : certPem;
}
