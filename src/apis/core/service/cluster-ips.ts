import { AllocationError, type IpAllocator, type IpFamily, RangeFull } from '../../../registry/allocators.ts';
import type { Transaction } from '../../../registry/definition.ts';
import { internalError, invalid, isApiError } from '../../../api/errors.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import type { Service } from '../../facts/types/core-v1.ts';
import { keepsPreference } from './family-choice.ts';
import { EXTERNAL_NAME, NO_IP, needsClusterIp } from './traits.ts';

/** `clusterIP` is the first of `clusterIPs`; clients of either field are understood (pkg/registry/core/service/storage normalizeClusterIPs). */
export function normalizeClusterIps({ spec }: Service, old: Service | undefined): void {
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const before = old.spec;
  if (before.clusterIPs?.length && !spec.clusterIPs?.length && before.clusterIP === spec.clusterIP) spec.clusterIPs = [...before.clusterIPs];
  if ((before.clusterIP ?? '') === (spec.clusterIP ?? '') || !equalJson(spec.clusterIPs ?? [], before.clusterIPs ?? [])) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/** A PUT that leaves out what was allocated means to keep it. */
export function keepClusterIps(service: Service, old: Service): void {
  if (!needsClusterIp(service) || !needsClusterIp(old)) return;
  const { spec } = service;
  if (!spec.clusterIP && old.spec.clusterIP) spec.clusterIP = old.spec.clusterIP;
  if (!spec.clusterIPs?.length && old.spec.clusterIPs?.length) spec.clusterIPs = [...old.spec.clusterIPs];
}

/** Reserves an address for every family that has none of the service's own, and those that the client chose. */
export async function allocateClusterIps(ips: IpAllocator, service: Service, dryRun: boolean): Promise<Transaction> {
  const { spec } = service;
  if (spec.type === EXTERNAL_NAME || spec.clusterIPs?.[0] === NO_IP) return NOTHING;
  return allocate(ips, service, 0, dryRun);
}

/** What changes hands when a service is updated: all addresses when it becomes or ceases to be a mere name, else the second one. */
export async function updateClusterIps(ips: IpAllocator, service: Service, old: Service, dryRun: boolean): Promise<Transaction> {
  if (keepsPreference(service, old)) return NOTHING;
  const [before, after] = [old.spec, service.spec];
  if (before.type === EXTERNAL_NAME) return after.type === EXTERNAL_NAME ? NOTHING : allocateClusterIps(ips, service, dryRun);
  if (before.clusterIPs?.[0] === NO_IP) return NOTHING;
  if (after.type === EXTERNAL_NAME) return releaseLater(ips, before.clusterIPs ?? [], dryRun);
  const [had, has] = [before.ipFamilies?.length ?? 0, after.ipFamilies?.length ?? 0];
  if (had === 1 && has === 2) return allocate(ips, service, 1, dryRun);
  if (had === 2 && has === 1) return releaseLater(ips, (before.clusterIPs ?? []).slice(1), dryRun);
  return NOTHING;
}

export async function releaseClusterIps(ips: IpAllocator, { spec }: Service): Promise<void> {
  if (spec.type === EXTERNAL_NAME || spec.clusterIPs?.[0] === NO_IP) return;
  for (const address of spec.clusterIPs ?? []) await ips.release(address);
}

const NOTHING: Transaction = { commit() {}, revert() {} };

const releaseLater = (ips: IpAllocator, addresses: readonly string[], dryRun: boolean): Transaction => ({
  async commit() {
    // The service is stored without them already: one that stays behind is found by the repair.
    if (!dryRun) for (const address of addresses) await ips.release(address).catch(() => undefined);
  },
  revert() {},
});

async function allocate(ips: IpAllocator, service: Service, from: number, dryRun: boolean): Promise<Transaction> {
  const { spec } = service;
  const owner = { namespace: service.metadata.namespace ?? '', name: service.metadata.name ?? '' };
  const addresses = [...(spec.clusterIPs ?? [])];
  const taken: string[] = [];
  const revert = async (): Promise<void> => {
    if (!dryRun) for (const address of taken.splice(0)) await ips.release(address);
  };
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (index < from) continue;
    const wanted = addresses[index] ?? '';
    try {
      addresses[index] = await ips.allocate(family as IpFamily, wanted, owner, dryRun);
      taken.push(addresses[index]);
    } catch (error) {
      await revert();
      throw refusal(service, wanted, error);
    }
  }
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0]!;
  return { commit() {}, revert };
}

function refusal({ metadata, spec }: Service, wanted: string, error: unknown): unknown {
  // An address that is refused is told as one that is taken: what is allocated before the service is validated may be for one without a name.
  if (!(error instanceof AllocationError) && !isApiError(error)) return error;
  const name = metadata.name ?? '';
  if (wanted === '' && error instanceof RangeFull) return internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: ${error.message}`);
  const errors = new FieldErrors();
  errors.at('spec', 'clusterIPs').invalid(
    (spec.ipFamilies ?? []).map((_, index) => spec.clusterIPs?.[index] ?? ''),
    wanted === '' ? `failed to allocate IP: ${error.message}` : `failed to allocate IP ${wanted}: ${error.message}`,
  );
  return invalid({ group: '', kind: 'Service' }, name, errors.list);
}
