import type { Exchange } from '../serving/exchange.ts';
import { type FileReloadable, watchBundle, watchKeyPair } from '../serving/certificates/reload.ts';
import type { KeyPair } from '../serving/certificates/pem.ts';
import { type Listener, listen } from '../serving/listener.ts';
import { type ConnectionSource, openPort } from '../serving/port.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { warnOfExpiry } from './certificate-expiry.ts';
import type { Foundation } from './foundation.ts';
import type { Logger } from './logger.ts';

/** The certificates of the options' files, kept current while the server runs. */
export interface ServingFiles {
  certificate: FileReloadable<KeyPair>;
  sni: { certificate: FileReloadable<KeyPair>; names: readonly string[] }[];
  clientCa: FileReloadable<string> | undefined;
  /** Of front proxies. */
  requestHeaderCa: FileReloadable<string> | undefined;
  /** By which aggregated servers know us. */
  proxyClient: FileReloadable<KeyPair> | undefined;
  /** Of the other API servers on the same store. */
  peerCa: FileReloadable<string> | undefined;
  close(): void;
}

/** Throws when a file cannot be read or used. */
export function openServingFiles(options: CompletedOptions, logger: Logger): ServingFiles {
  const onError = (error: Error): void => logger.error('Certificates that changed cannot be used; the old ones stay', { error });
  const certificate = watchKeyPair(options.tlsCertFile, options.tlsPrivateKeyFile, { onError });
  const sni = options.tlsSniCertKey.map(({ certFile, keyFile, names }) => ({ certificate: watchKeyPair(certFile, keyFile, { onError }), names }));
  const clientCa = options.clientCaFile === '' ? undefined : watchBundle(options.clientCaFile, { onError });
  const requestHeaderCa = options.requestheaderClientCaFile === '' ? undefined : watchBundle(options.requestheaderClientCaFile, { onError });
  const peerCa = options.peerCaFile === '' ? undefined : watchBundle(options.peerCaFile, { onError });
  const { proxyClientCertFile, proxyClientKeyFile } = options;
  const proxyClient = proxyClientCertFile === '' || proxyClientKeyFile === '' ? undefined : watchKeyPair(proxyClientCertFile, proxyClientKeyFile, { onError });
  const all = [certificate, ...sni.map((entry) => entry.certificate), clientCa, requestHeaderCa, proxyClient, peerCa].filter((file) => file !== undefined);
  const stopWarning = warnOfExpiry(
    [
      { file: options.tlsCertFile, pem: () => certificate.current.certPem },
      ...sni.map((entry, index) => ({ file: options.tlsSniCertKey[index]!.certFile, pem: () => entry.certificate.current.certPem })),
      ...(proxyClient ? [{ file: proxyClientCertFile, pem: () => proxyClient.current.certPem }] : []),
    ],
    logger,
  );
  const close = (): void => {
    stopWarning();
    all.forEach((file) => file.close());
  };
  return { certificate, sni, clientCa, requestHeaderCa, proxyClient, peerCa, close };
}

/** Listens on the port of the flags. */
export const openSecurePort = (options: CompletedOptions, forOtherProcess = false): Promise<ConnectionSource> =>
  openPort({ host: options.bindAddress, port: options.securePort, permitPortSharing: options.permitPortSharing, forOtherProcess });

interface ServingParts extends Pick<Foundation, 'logger' | 'registry'> {
  files: ServingFiles;
  source: ConnectionSource;
}

export function startServingFrom(
  { files, source, logger, registry }: ServingParts,
  options: CompletedOptions,
  onExchange: (exchange: Exchange) => void,
): Listener {
  const handshakeErrors = registry.family('apiserver_tls_handshake_errors_total').with();
  const { ciphers, ecdhCurve, minVersion } = options.tls;
  const clientCas = [files.clientCa, files.requestHeaderCa].filter((bundle) => bundle !== undefined);
  return listen(
    {
      source,
      certificates: { certificate: files.certificate, sni: files.sni, ...(clientCas.length > 0 && { clientCas }) },
      tls: { minVersion, ...(ciphers !== undefined && { ciphers }), ...(ecdhCurve !== undefined && { ecdhCurve }) },
      disableHttp2: options.disableHttp2Serving,
      limits: options.http2MaxStreamsPerConnection > 0 ? { streamsPerConnection: options.http2MaxStreamsPerConnection } : {},
      onHandshakeError: () => handshakeErrors.inc(),
      onProblem: ({ kind, remoteAddress, message }) => logger.module('server').verbose(3, 'A client was cut off', { kind, remoteAddress, message }),
    },
    onExchange,
  );
}
