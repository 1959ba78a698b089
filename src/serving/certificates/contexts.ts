import { constants } from 'node:crypto';
import { isIP } from 'node:net';
import { type SecureContext, type SecureContextOptions, createSecureContext } from 'node:tls';
import type { KeyPair } from './pem.ts';
import type { Reloadable } from './reload.ts';
import { buildNameTable, findByName, namesOfCertificate } from './sni.ts';

/** The certificates of one listener, all of which may change while it runs. */
export interface ServingCertificates {
  certificate: Reloadable<KeyPair>;
  /** `--tls-sni-cert-key`. Without names, those of the certificate. */
  sni?: readonly { certificate: Reloadable<KeyPair>; names: readonly string[] }[];
  /** PEM bundles. When there are any, clients are asked for a certificate and told these authorities' names; whether to trust what they show is authentication's. */
  clientCas?: readonly Reloadable<string>[];
}

/** The TLS contexts of a listener, made again whenever a certificate changes. */
export interface ServingContexts {
  /** What the default certificate is served with, in the form that tls.Server takes. */
  readonly defaultOptions: SecureContextOptions;
  /** The context for a name that the client asks for. */
  forServerName(name: string): SecureContext;
  /** Options for clients that ask for no name but came to an address that was given as one. */
  forAddress(address: string): SecureContextOptions | undefined;
  readonly addresses: readonly string[];
  onChange(listener: () => void): void;
}

/**
 * Throws when a certificate for a name cannot be used; the default one is tried by the server that is made with it. Later, a change that cannot be used is told
 * to `onError`, and all stays as it was.
 */
export function createContexts(certificates: ServingCertificates, settings: SecureContextOptions, onError: (error: Error) => void): ServingContexts {
  const { certificate, sni = [], clientCas = [] } = certificates;
  const listeners: (() => void)[] = [];
  let state = build(certificates, settings);
  const rebuild = (): void => {
    try {
      const next = build(certificates, settings);
      next.defaultContext();
      state = next;
    } catch (error) {
      return onError(error as Error);
    }
    for (const listener of listeners) listener();
  };
  for (const source of [certificate, ...sni.map((entry) => entry.certificate), ...clientCas]) source.onChange(rebuild);
  return {
    get defaultOptions() {
      return state.defaultOptions;
    },
    forServerName: (name) => findByName(state.byName, name)?.context ?? state.defaultContext(),
    forAddress: (address) => state.byName.get(address)?.options,
    addresses: sni.flatMap(({ names }) => names).filter((name) => isIP(name) !== 0),
    onChange: (listener) => void listeners.push(listener),
  };
}

/** For how long a client may resume its session. What its certificate is worth is verified for every connection, resumed or not (src/authentication/client-certificate.ts). */
const TICKET_LIFETIME_S = 3600;

interface State {
  defaultOptions: SecureContextOptions;
  /** For clients that ask for a name; made when the first one does, since tls.Server makes its own. Throws when the certificate cannot be used. */
  defaultContext(): SecureContext;
  byName: Map<string, { options: SecureContextOptions; context: SecureContext }>;
}

function build({ certificate, sni = [], clientCas = [] }: ServingCertificates, settings: SecureContextOptions): State {
  const shared: SecureContextOptions = {
    ...settings,
    // An empty list, not undefined: that would load the system's roots, milliseconds that nothing here is checked against.
    ca: clientCas.map(({ current }) => current).filter((pem) => pem !== ''),
    honorCipherOrder: true,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // Sessions are resumed by ticket. A change of any certificate makes new contexts, whose keys open no ticket of before.
    sessionIdContext: 'binnacle',
    sessionTimeout: TICKET_LIFETIME_S,
  };
  const withPair = ({ certPem, keyPem }: KeyPair): SecureContextOptions => ({ ...shared, cert: certPem, key: keyPem });
  const defaultOptions = withPair(certificate.current);
  const entries = sni.map(({ certificate: { current }, names }) => ({
    value: { options: withPair(current), context: createSecureContext(withPair(current)) },
    explicitNames: names,
    certificateNames: namesOfCertificate(current),
  }));
  let context: SecureContext | undefined;
  return { defaultOptions, defaultContext: () => (context ??= createSecureContext(defaultOptions)), byName: buildNameTable(entries) };
}
