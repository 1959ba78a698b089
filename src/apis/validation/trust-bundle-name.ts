import { subdomainName } from '../../api/names.ts';

/** A signer's bundles are named for it, `example.com:signer:x`; those of no signer have no colon in their name. */
export function trustBundleNameErrors(signerName: string, name: string, isPrefix: boolean): string[] {
  if (signerName === '') {
    return name.includes(':') ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : subdomainName(name, isPrefix);
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`;
  if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  return subdomainName(name.slice(prefix.length), isPrefix);
}

/** The signer that a bundle's name is for; '' where it is for none. */
export const signerOfTrustBundle = (name: string): string => name.slice(0, Math.max(name.lastIndexOf(':'), 0)).replaceAll(':', '/');
