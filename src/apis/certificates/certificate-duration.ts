import { X509Certificate } from 'node:crypto';
import { pemBlocks } from '../../encoding/pem.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { copyWith } from '../define.ts';
import type { CertificateSigningRequest } from '../facts/types/certificates-v1.ts';

/** Hears of a certificate that was issued to a request for a certain lifetime; `isHonored`: it has that lifetime. */
export type CertificateListener = (signerName: string, isHonored: boolean) => void;

/** A signer may date a certificate back by this much, and be wrong by a twentieth of the lifetime (pkg/registry/certificates/certificates/storage/metrics.go). */
const BACKDATING_SECONDS = 300;

/** The kind, whose `listener` hears of issued certificates. */
export function tellingDurations(definition: ResourceDefinition, listener: CertificateListener): ResourceDefinition {
  const { status, ...others } = definition.subresources!;
  const afterUpdate = (object: unknown, old: unknown): void => tell(object as CertificateSigningRequest, old as CertificateSigningRequest, listener);
  return copyWith(definition, { subresources: { ...others, status: { ...status!, update: { ...status!.update, afterUpdate } } } });
}

function tell({ status }: CertificateSigningRequest, old: CertificateSigningRequest, listener: CertificateListener): void {
  const { expirationSeconds, signerName } = old.spec;
  if (!status?.certificate || old.status?.certificate || expirationSeconds === undefined) return;
  // Whoever signs chooses the name; only those of Kubernetes are few.
  const label = signerName.startsWith('kubernetes.io/') ? signerName : 'other';
  listener(label, lastsAsAsked(expirationSeconds, Buffer.from(status.certificate, 'base64').toString('latin1')));
}

/** `pem` was validated before it was stored. */
function lastsAsAsked(wantedSeconds: number, pem: string): boolean {
  const [leaf] = pemBlocks(pem);
  const { validFrom, validTo } = new X509Certificate(leaf!.bytes);
  const seconds = (Date.parse(validTo) - Date.parse(validFrom)) / 1000;
  return Math.abs(wantedSeconds - seconds) < BACKDATING_SECONDS + wantedSeconds / 20;
}

export function countDurations(registry: MetricRegistry): CertificateListener {
  const requested = registry.family('apiserver_certificates_registry_csr_requested_duration_total');
  const honored = registry.family('apiserver_certificates_registry_csr_honored_duration_total');
  return (signerName, isHonored) => {
    requested.with(signerName).inc();
    if (isHonored) honored.with(signerName).inc();
  };
}
