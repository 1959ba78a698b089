/** What services take from ranges that all of them share. `src/kube/allocation/` gives it out. */
export type IpFamily = 'IPv4' | 'IPv6';

/** A value cannot be had, for a reason that the client is told. */
export class AllocationError extends Error {}

/** Nothing is left. */
export class RangeFull extends AllocationError {
  constructor() {
    super('range is full');
  }
}

/** Cluster IPs. Two callers never get the same address, whichever servers they ask. */
export interface IpAllocator {
  /** That this cluster has, the default one first. */
  readonly families: readonly IpFamily[];
  /** Reserves `address`, or any free one of the family where it is empty. Throws AllocationError. A dry run reserves nothing. */
  allocate(family: IpFamily, address: string, service: { namespace: string; name: string }, dryRun: boolean): Promise<string>;
  /** One that was not reserved is no error. */
  release(address: string): Promise<void>;
}

/** Node ports. Two callers never get the same port, whichever servers they ask. */
export interface PortAllocator {
  /** A set of changes that all come true, or none. A dry run reserves nothing. */
  begin(dryRun: boolean): PortOperation;
  /** One that was not reserved is no error. */
  release(ports: readonly number[]): Promise<void>;
}

export interface PortOperation {
  /** Throws AllocationError. */
  allocate(port: number): Promise<void>;
  allocateAny(): Promise<number>;
  /** Given back when the operation is committed. */
  releaseLater(port: number): void;
  commit(): Promise<void>;
  /** Does nothing after a commit. */
  revert(): Promise<void>;
}
