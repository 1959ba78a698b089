import type { CertificateRecipe } from './test-certificates.ts';

/** A chain to be verified: how its certificates are made, which of them the peer sends, and which are trusted. */
export interface ChainRecipe {
  certificates: Readonly<Record<string, CertificateRecipe>>;
  /** Leaf first; absent: the certificate `leaf` alone. */
  sent?: readonly string[];
  /** Absent: the certificate `root` alone. */
  trusted?: readonly string[];
  /** What a server must be for. Absent: the chain is a client's. */
  host?: string;
}

/** A recipe's certificates are valid around this time. */
export const CHAIN_TIME = new Date('2026-01-02T03:04:05Z');

export const ROOT: CertificateRecipe = { ca: true, keyUsage: 0x06 };
export const CLIENT: CertificateRecipe = { by: 'root', usages: ['client'] };
export const SERVER: CertificateRecipe = { by: 'root', usages: ['server'], names: ['dns:a.example', 'ip:127.0.0.1'] };
export const MIDDLE: CertificateRecipe = { by: 'root', ca: true };

/** The usual chain of a client, with changes. */
export const client = (leaf: CertificateRecipe = {}, root: CertificateRecipe = {}): ChainRecipe => ({
  certificates: { root: { ...ROOT, ...root }, leaf: { ...CLIENT, ...leaf } },
});
export const server = (leaf: CertificateRecipe = {}, root: CertificateRecipe = {}, host = 'a.example'): ChainRecipe => ({
  certificates: { root: { ...ROOT, ...root }, leaf: { ...SERVER, ...leaf } },
  host,
});
/** root → middle → leaf, the middle sent along. */
export const through = (middle: CertificateRecipe, leaf: CertificateRecipe = {}, root: CertificateRecipe = {}): ChainRecipe => ({
  certificates: { root: { ...ROOT, ...root }, middle: { ...MIDDLE, ...middle }, leaf: { ...CLIENT, by: 'middle', ...leaf } },
  sent: ['leaf', 'middle'],
});
export const serverThrough = (middle: CertificateRecipe, leaf: CertificateRecipe = {}, root: CertificateRecipe = {}, host = 'a.example'): ChainRecipe => ({
  certificates: { root: { ...ROOT, ...root }, middle: { ...MIDDLE, ...middle }, leaf: { ...SERVER, by: 'middle', ...leaf } },
  sent: ['leaf', 'middle'],
  host,
});
