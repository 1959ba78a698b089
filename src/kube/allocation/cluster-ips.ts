import { randomBytes } from 'node:crypto';
import type { Client, ResourceClient } from '../../client/client.ts';
import { AllocationError, type IpAllocator, type IpFamily, RangeFull } from '../../registry/allocators.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { type Cidr, addressAt, hostBits, indexIn, parseCidr } from '../../net/cidr.ts';
import { isApiError } from '../../api/errors.ts';
import type { AllocationMetrics, RangeUse } from './allocation-metrics.ts';
import { type IpAddressObject, ipAddressOf } from './ip-address.ts';

interface ServiceCidr extends ApiObject {
  spec: { cidrs?: string[] };
  status?: { conditions?: { type: string; status: string }[] };
}

/**
 * Cluster IPs, each held by an IPAddress object of its name (KEP-1880): who creates the object has the address, so several servers cannot give it out twice.
 * Ranges are the ServiceCIDRs that are ready; until the first one is there, the ranges of the flags.
 */
export class ClusterIps implements IpAllocator {
  readonly families: readonly IpFamily[];
  readonly #configured: readonly Cidr[];
  readonly #client: Client;
  readonly #metrics: AllocationMetrics | undefined;

  constructor(client: Client, ranges: readonly string[], metrics?: AllocationMetrics) {
    this.#metrics = metrics;
    metrics?.showRanges(() => this.#uses());
    this.#configured = ranges.map((range) => parseCidr(range)!);
    this.families = this.#configured.map(familyOf);
    this.#client = client;
  }

  // Looked up when used: the services' store, for which this is made, is opened together with theirs.
  get #addresses(): ResourceClient<IpAddressObject> {
    return this.#client.resource('networking.k8s.io', 'ipaddresses');
  }
  get #ranges(): ResourceClient<ServiceCidr> {
    return this.#client.resource('networking.k8s.io', 'servicecidrs');
  }

  async allocate(family: IpFamily, address: string, service: { namespace: string; name: string }, dryRun: boolean): Promise<string> {
    if (dryRun || !this.#metrics) return this.#allocate(family, address, service, dryRun);
    const startMs = performance.now();
    let isSuccess = false;
    try {
      const allocated = await this.#allocate(family, address, service, dryRun);
      isSuccess = true;
      return allocated;
    } finally {
      const cidr = this.#rangesOf(family)[0]?.text ?? '';
      this.#metrics.ipAllocated(cidr, address === '' ? 'dynamic' : 'static', isSuccess, performance.now() - startMs);
    }
  }

  /** How much of each range is taken: each address by the range that it is in. */
  *#uses(): Iterable<RangeUse> {
    const addresses = this.#addresses.informer.list('').map(({ metadata }) => metadata.name ?? '');
    for (const family of this.families) {
      const ofFamily = addresses.filter((address) => address.includes(':') === (family === 'IPv6'));
      const ranges = this.#rangesOf(family);
      for (const range of ranges) {
        const { first, last } = usableOf(range);
        // Most clusters have one, so that nothing has to be parsed.
        const taken = ranges.length === 1 ? ofFamily.length : ofFamily.filter((address) => indexIn(range, address) !== undefined).length;
        yield { cidr: range.text, size: Number(last - first + 1n), taken };
      }
    }
  }

  async #allocate(family: IpFamily, address: string, service: { namespace: string; name: string }, dryRun: boolean): Promise<string> {
    const ranges = this.#rangesOf(family);
    if (address !== '') return this.#allocateChosen(ranges, family, address, service, dryRun);
    if (dryRun) return addressAt(ranges[0]!, 0);
    for (const range of ranges) {
      const found = await this.#allocateAny(range, family, service);
      if (found !== undefined) return found;
    }
    throw new RangeFull();
  }

  async release(address: string): Promise<void> {
    try {
      await this.#addresses.delete('', address);
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }

  #rangesOf(family: IpFamily): readonly Cidr[] {
    const ready = this.#ranges.informer
      .list('')
      .filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .flatMap(({ spec }) => spec.cidrs ?? [])
      .flatMap((text) => parseCidr(text) ?? []);
    return (ready.length > 0 ? ready : this.#configured).filter((range) => familyOf(range) === family);
  }

  async #allocateChosen(
    ranges: readonly Cidr[],
    family: IpFamily,
    address: string,
    service: { namespace: string; name: string },
    dryRun: boolean,
  ): Promise<string> {
    const range = ranges.find((candidate) => indexIn(candidate, address) !== undefined);
    if (!range) throw new AllocationError('the provided network does not match the current range');
    if (!isUsable(range, indexIn(range, address)))
      throw new AllocationError(`the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.text}`);
    if (!dryRun && !(await this.#claim(family, address, service))) throw new AllocationError('provided IP is already allocated');
    return address;
  }

  /** From a random place on; first above the band that is kept for chosen addresses (KEP-3070), then in it. */
  async #allocateAny(range: Cidr, family: IpFamily, service: { namespace: string; name: string }): Promise<string | undefined> {
    const { first, last } = usableOf(range);
    const band = staticBandOf(last - first + 1n);
    for (const [from, to] of [
      [first + band, last],
      [first, first + band - 1n],
    ] as const) {
      const size = to - from + 1n;
      if (size <= 0n) continue;
      const start = randomBelow(size);
      for (let i = 0n; i < size; i++) {
        const address = addressAt(range, from + ((start + i) % size));
        if (this.#addresses.informer.get('', address)) continue;
        if (await this.#claim(family, address, service)) return address;
      }
    }
    return undefined;
  }

  async #claim(family: IpFamily, address: string, service: { namespace: string; name: string }): Promise<boolean> {
    try {
      await this.#addresses.create('', ipAddressOf(family, address, service));
      return true;
    } catch (error) {
      if (isApiError(error, 'AlreadyExists')) return false;
      throw error;
    }
  }
}

const familyOf = ({ family }: Cidr): IpFamily => (family === 4 ? 'IPv4' : 'IPv6');

/** Without the network's own address, and without the broadcast address that version 4 has. */
function usableOf(range: Cidr): { first: bigint; last: bigint } {
  const size = 1n << BigInt(hostBits(range));
  return { first: 1n, last: range.family === 4 ? size - 2n : size - 1n };
}

function isUsable(range: Cidr, index: bigint | undefined): boolean {
  const { first, last } = usableOf(range);
  return index !== undefined && index >= first && index <= last;
}

/** min(max(16, size / 16), 256), and none in a range too small to share. */
function staticBandOf(size: bigint): bigint {
  if (size < 16n) return 0n;
  const sixteenth = size / 16n;
  return sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth;
}

const randomBelow = (limit: bigint): bigint => BigInt(`0x${randomBytes(16).toString('hex')}`) % limit;
